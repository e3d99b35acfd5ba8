/* chaos.c: random collectives with a fault at a random moment; every seed must end as it should. */
/* SPDX-License-Identifier: MIT */
#include "tests/chaos/chaos.h"

#include "tests/harness/tap.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 50, SEED_S = 30 };

struct options {
	unsigned int from, to;
	const char *transport;
	int ranks;	  /* 0: the seed chooses */
	int half;	  /* of two machines: 0 has the lower ranks; -1: all ranks are here */
	const char *host; /* halves meet at host and port, and at the next port for the next seed */
	int port;
	bool verbose;
};

struct totals {
	unsigned int seeds, failed, hung;
	unsigned int faults[CHAOS_FAULTS];
	unsigned long steps, wrong_values;
};

static struct chaos_board *board;
static struct chaos_plan *plan;

static int usage(const char *program)
{
	fprintf(stderr,
		"usage: %s [--seeds FROM..TO] [--transport shm|verbs|auto] [--ranks N] "
		"[--verbose]\n"
		"          [--half 0|1 --host HOST --port PORT]   on each of two machines\n",
		program);
	return 2;
}

static void show_plan(const struct options *options)
{
	fprintf(stderr,
		"# seed %u: %d ranks, %d steps, %d in flight, %s of rank %d at step %d: %s\n",
		plan->seed, plan->ranks, plan->steps, plan->in_flight,
		chaos_fault_name(plan->fault), plan->victim, plan->at_step, plan->settings);
	(void)options;
}

static void add_up(struct totals *totals, const struct ranks_outcome *outcome)
{
	int rank;

	totals->seeds++;
	totals->hung += outcome->timed_out;
	totals->faults[plan->fault]++;
	for (rank = 0; rank < plan->ranks; rank++) {
		totals->steps += (unsigned long)board->results[rank].steps_done;
		totals->wrong_values += (unsigned long)board->results[rank].wrong_values;
	}
}

/* Ranks of one half are neighbours, so the ring is in rank order whatever the settings. */
static struct ranks_share share_of(const struct options *options, unsigned int seed)
{
	int lower = (plan->ranks + 1) / 2;

	if (options->half < 0)
		return (struct ranks_share){
			.size = plan->ranks,
			.n = plan->ranks,
			.host = "127.0.0.1",
		};
	return (struct ranks_share){
		.size = plan->ranks,
		.first = options->half ? lower : 0,
		.n = options->half ? plan->ranks - lower : lower,
		.host = options->host,
		.port = options->port + (int)(seed - options->from),
	};
}

/* Returns true when all is well. */
static bool run_seed(unsigned int seed, const struct options *options, struct totals *totals)
{
	struct ranks_outcome outcome;
	struct ranks_share share;
	const char *wrong;
	double began = seconds_now();

	chaos_make_plan(plan, seed, options->ranks, options->transport);
	share = share_of(options, seed);
	*board = (struct chaos_board){
		.plan = plan,
		.victim_is_far =
			plan->victim < share.first || plan->victim >= share.first + share.n,
	};
	(void)ranks_run_share(&share, chaos_rank, board, SEED_S, &outcome);
	add_up(totals, &outcome);
	wrong = chaos_judge(plan, board, &outcome);
	if (options->verbose || wrong)
		show_plan(options);
	if (options->verbose)
		fprintf(stderr, "# seed %u took %.3f s\n", seed, seconds_now() - began);
	if (!wrong)
		return true;
	totals->failed++;
	fprintf(stderr, "# seed %u: %s\n", seed, wrong);
	fprintf(stderr, "# again: tests/chaos/chaos --seeds %u..%u --transport %s", seed, seed,
		options->transport);
	if (options->ranks)
		fprintf(stderr, " --ranks %d", options->ranks);
	if (options->half >= 0)
		fprintf(stderr, " --half %d --host %s --port %d, and the other half", options->half,
			options->host, options->port);
	fprintf(stderr, "\n");
	return false;
}

static void run_group(unsigned int from, unsigned int to, const struct options *options,
		      struct totals *totals)
{
	struct usage before = usage_now();
	int files = usage_shared_files();
	unsigned int seed, failed = 0;
	double began = seconds_now();
	char name[96], text[256];

	for (seed = from; seed <= to; seed++)
		failed += !run_seed(seed, options, totals);
	(void)snprintf(name, sizeof(name), "chaos_over_%s_seeds_%u_to_%u", options->transport, from,
		       to);
	if (options->half >= 0)
		(void)snprintf(name, sizeof(name), "chaos_in_half_%d_seeds_%u_to_%u", options->half,
			       from, to);
	if (usage_grew(&before, text, sizeof(text)) || usage_shared_files() > files) {
		fprintf(stderr, "# something is left: %s\n", text);
		failed++;
	}
	tap_result(failed == 0, name, "%u failed, %.1f s", failed, seconds_now() - began);
}

static void report(const struct totals *totals, double seconds)
{
	int fault;

	printf("# %u seeds in %.0f s, %lu steps: %u failed, %u hung, %lu wrong values\n",
	       totals->seeds, seconds, totals->steps, totals->failed, totals->hung,
	       totals->wrong_values);
	printf("# faults:");
	for (fault = 0; fault < CHAOS_FAULTS; fault++)
		printf(" %s %u", chaos_fault_name((enum chaos_fault)fault), totals->faults[fault]);
	printf("\n");
}

static bool options_make_sense(const struct options *options)
{
	if (options->from > options->to)
		return false;
	if (options->ranks != 0 && (options->ranks < 2 || options->ranks > CHAOS_RANKS))
		return false;
	if (options->half >= 0 && (options->half > 1 || !options->host || options->port <= 0))
		return false;
	return strcmp(options->transport, "shm") == 0 || strcmp(options->transport, "verbs") == 0 ||
	       strcmp(options->transport, "auto") == 0;
}

static bool read_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{"seeds", required_argument, NULL, 's'},
		{"transport", required_argument, NULL, 't'},
		{"ranks", required_argument, NULL, 'r'},
		{"verbose", no_argument, NULL, 'v'},
		{"half", required_argument, NULL, 'h'},
		{"host", required_argument, NULL, 'H'},
		{"port", required_argument, NULL, 'P'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 's' && sscanf(optarg, "%u..%u", &options->from, &options->to) != 2)
			return false;
		if (option == 't')
			options->transport = optarg;
		if (option == 'r')
			options->ranks = atoi(optarg);
		if (option == 'v')
			options->verbose = true;
		if (option == 'h')
			options->half = atoi(optarg);
		if (option == 'H')
			options->host = optarg;
		if (option == 'P')
			options->port = atoi(optarg);
		if (option == '?')
			return false;
	}
	return optind == argc && options_make_sense(options);
}

int main(int argc, char **argv)
{
	struct options options = {.from = 1, .to = 300, .transport = "shm", .half = -1};
	struct totals totals = {0};
	double began = seconds_now();
	unsigned int from;

	if (!read_options(argc, argv, &options))
		return usage(argv[0]);
	board = ranks_shared(sizeof(*board));
	plan = ranks_shared(sizeof(*plan));
	for (from = options.from; from <= options.to; from += GROUP)
		run_group(from, options.to - from < GROUP ? options.to : from + GROUP - 1, &options,
			  &totals);
	report(&totals, seconds_now() - began);
	return tap_finish();
}
