/* exact.c: the exactness suites: every element on every rank, compared bit by bit. */
#include "tests/exact/exact.h"

#include "tests/harness/tap.h"
#include "tests/harness/tcp_bootstrap.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, BOOTSTRAP_MS = 60000 };

struct suite {
	const char *name, *title;
	void (*body)(struct exact *x);
	int timeout_s;
	size_t mib_per_rank;
	bool without_comm, threads_too;
};

static const struct suite suites[] = {
	{"counts", "allreduce_float32_sum_is_exact_at_every_count_to_4096", exact_counts, 120, 1,
	 false, true},
	{"product", "allreduce_is_exact_for_datatype_x_op_x_place_x_kind", exact_product, 180, 1,
	 false, true},
	{"pairwise", "allreduce_is_exact_above_4096_pairwise", exact_pairwise, 300, 512, false,
	 true},
	{"large", "allreduce_of_64Mi_float32_is_exact", exact_large_float32, 300, 300, false,
	 false},
	{"large", "allreduce_of_64Mi_float64_is_exact", exact_large_float64, 300, 560, false,
	 false},
	{"huge", "allreduce_of_more_than_2G_elements_is_exact", exact_huge, 400, 2200, false,
	 false},
	{"random", "allreduce_of_random_values_equals_the_reference", exact_random_inputs, 180, 32,
	 false, true},
	{"random", "allreduce_gives_the_same_bits_for_all_settings", exact_random_settings, 300, 64,
	 true, true},
	{"broadcast", "broadcast_of_small_counts_is_exact_from_every_root", exact_broadcast_small,
	 120, 1, false, true},
	{"broadcast", "broadcast_to_4_MiB_is_exact_from_every_root", exact_broadcast_large, 120, 32,
	 false, true},
	{"mixed", "random_collectives_in_flight_are_exact", exact_mixed, 180, 16, false, true},
	{"destroy", "leaving_at_once_after_the_last_operation_is_no_error", exact_destroy, 300, 16,
	 true, true},
	{"many", "a_little_of_everything_is_exact", exact_many, 240, 16, false, true},
};

enum { SUITES = sizeof(suites) / sizeof(suites[0]) };

struct options {
	const char *ranks, *suites, *host;
	int rank, size, port, timeout_s;
	unsigned int seed;
	bool quick, threads, from_env;
	struct exact_settings settings;
};

static const char usage[] =
	"usage: exact [--ranks 1,2,3] [--suite counts,product,pairwise,large,huge,random,\n"
	"             broadcast,mixed,destroy,many] [--transport shm] [--segment BYTES]\n"
	"             [--set NAME=VALUE]... [--seed N] [--timeout SECONDS] [--quick] [--threads]\n"
	"or one process per rank:\n"
	"       exact (--rank R --size N | --from-env) --host HOST --port PORT [the others]\n"
	"       --from-env: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE; rank 0 runs on HOST\n";

static void refuse(const char *what, const char *value)
{
	fprintf(stderr, "exact: %s: %s\n%s", what, value ? value : "(not set)", usage);
	exit(2);
}

static long parse_number(const char *name, const char *text, long least, long most)
{
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;

	if (!text || end == text || *end != '\0' || n < least || n > most)
		refuse(name, text);
	return n;
}

static void set_pair(struct exact_settings *settings, const char *pair)
{
	const char *equals = strchr(pair, '=');
	char name[24];

	if (!equals || (size_t)(equals - pair) >= sizeof(name))
		refuse("--set wants NAME=VALUE", pair);
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - pair), pair);
	exact_set(settings, name, equals + 1);
}

static const struct option long_options[] = {
	{"ranks", required_argument, NULL, 'r'},
	{"suite", required_argument, NULL, 's'},
	{"transport", required_argument, NULL, 't'},
	{"segment", required_argument, NULL, 'g'},
	{"set", required_argument, NULL, 'S'},
	{"seed", required_argument, NULL, 'e'},
	{"timeout", required_argument, NULL, 'T'},
	{"quick", no_argument, NULL, 'q'},
	{"threads", no_argument, NULL, 'h'},
	{"rank", required_argument, NULL, 'R'},
	{"size", required_argument, NULL, 'N'},
	{"host", required_argument, NULL, 'H'},
	{"port", required_argument, NULL, 'P'},
	{"from-env", no_argument, NULL, 'E'},
	{NULL, 0, NULL, 0},
};

static void take_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case 'r':
		options->ranks = value;
		break;
	case 's':
		options->suites = value;
		break;
	case 't':
		exact_set(&options->settings, "transport", value);
		break;
	case 'g':
		exact_set(&options->settings, "segment_bytes", value);
		break;
	case 'S':
		set_pair(&options->settings, value);
		break;
	case 'e':
		options->seed = (unsigned int)parse_number("--seed", value, 0, 1000000000);
		break;
	case 'T':
		options->timeout_s = (int)parse_number("--timeout", value, 1, 86400);
		break;
	case 'R':
		options->rank = (int)parse_number("--rank", value, 0, RANKS_MAX - 1);
		break;
	case 'N':
		options->size = (int)parse_number("--size", value, 1, RANKS_MAX);
		break;
	case 'H':
		options->host = value;
		break;
	case 'P':
		options->port = (int)parse_number("--port", value, 1, 65535);
		break;
	default:
		refuse("unknown option", "see usage");
	}
}

static void parse(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'q')
			options->quick = true;
		else if (option == 'h')
			options->threads = true;
		else if (option == 'E')
			options->from_env = true;
		else
			take_option(options, option, optarg);
	}
	if (optind < argc)
		refuse("unknown argument", argv[optind]);
	if (options->from_env) {
		options->rank = (int)parse_number("OMPI_COMM_WORLD_RANK",
						  getenv("OMPI_COMM_WORLD_RANK"), 0, RANKS_MAX - 1);
		options->size = (int)parse_number("OMPI_COMM_WORLD_SIZE",
						  getenv("OMPI_COMM_WORLD_SIZE"), 1, RANKS_MAX);
	}
	if (options->size > 0 && (!options->host || options->port == 0))
		refuse("a rank by itself needs --host and --port", options->host);
	if (options->rank >= 0 && options->rank >= options->size)
		refuse("--rank needs --size above it", argv[0]);
}

/* Whether name is one of the comma-separated list. */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

static void check_suite_names(const char *list)
{
	char name[32];

	for (const char *p = list; p; p = strchr(p, ',')) {
		bool known = false;

		p += *p == ',';
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ","), p);
		for (int i = 0; i < SUITES; i++)
			known = known || strcmp(suites[i].name, name) == 0;
		if (!known)
			refuse("unknown suite", name);
	}
}

static size_t available_mib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	size_t kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1)
			break;
	}
	if (file)
		(void)fclose(file);
	return kib / 1024;
}

static void make_case(struct exact_case *test, const struct suite *suite,
		      const struct options *options, int ranks)
{
	*test = (struct exact_case){
		.ranks = ranks,
		.timeout_s = options->timeout_s ? options->timeout_s : suite->timeout_s,
		.seed = options->seed,
		.quick = options->quick,
		.without_comm = suite->without_comm,
		.memory_bytes = suite->mib_per_rank * (size_t)ranks * MIB,
		.body = suite->body,
		.settings = options->settings,
	};
	(void)snprintf(test->name, sizeof(test->name), "%s_on_%d_ranks%s", suite->title, ranks,
		       options->threads ? "_as_threads" : "");
}

static void print_result(const struct exact_case *test, bool passed)
{
	const struct exact_report *report = test->report;

	tap_result(passed, test->name, "seed %u: %llu operations, %llu elements, %llu wrong",
		   test->seed, (unsigned long long)report->operations,
		   (unsigned long long)report->elements, (unsigned long long)report->wrong);
}

static void run_forked(const struct suite *suite, const struct options *options, int ranks)
{
	struct exact_case test;
	int failed;

	make_case(&test, suite, options, ranks);
	if (test.memory_bytes / MIB > available_mib()) {
		tap_skip(test.name, "not enough memory");
		return;
	}
	test.report = ranks_shared(sizeof(*test.report));
	if (options->threads)
		failed = ranks_run_threads(ranks, exact_rank, &test, test.timeout_s);
	else
		failed = ranks_run(ranks, exact_rank, &test, test.timeout_s);
	print_result(&test, failed == 0);
	ranks_shared_free(test.report, sizeof(*test.report));
}

static int run_all_forked(const struct options *options)
{
	char *list = strdup(options->ranks), *rest = list, *word;

	while (list && (word = strsep(&rest, ",")) != NULL) {
		int ranks = (int)parse_number("--ranks", word, 1, RANKS_MAX);

		for (int i = 0; i < SUITES; i++) {
			if (listed(options->suites, suites[i].name) &&
			    (suites[i].threads_too || !options->threads))
				run_forked(&suites[i], options, ranks);
		}
	}
	free(list);
	return tap_finish();
}

/* This process is one rank; SIGALRM ends it if a suite takes too long. */
static int run_alone(const struct options *options)
{
	struct rank_context context = {.rank = options->rank, .size = options->size};
	struct exact_report report;
	struct tcp_bootstrap *tcp;
	struct exact_case test;
	int failures = 0;

	if (tcp_bootstrap_open(&tcp, options->host, options->port, context.rank, context.size,
			       BOOTSTRAP_MS))
		return 1;
	context.bootstrap = &tcp->bootstrap;
	context.arg = &test;
	for (int i = 0; i < SUITES; i++) {
		bool failed;

		if (!listed(options->suites, suites[i].name))
			continue;
		make_case(&test, &suites[i], options, options->size);
		report = (struct exact_report){0};
		test.report = &report;
		(void)alarm((unsigned int)test.timeout_s);
		failed = exact_rank(&context) != 0;
		failures += failed;
		if (context.rank == 0)
			print_result(&test, !failed);
	}
	tcp_bootstrap_close(tcp);
	if (context.rank == 0)
		return tap_finish();
	return failures > 0;
}

int main(int argc, char **argv)
{
	struct options options = {
		.ranks = "1,2,3,4,5",
		.suites = "counts,product,pairwise,random,broadcast,mixed,destroy",
		.rank = -1,
		.seed = 1,
	};

	parse(&options, argc, argv);
	check_suite_names(options.suites);
	return options.size > 0 ? run_alone(&options) : run_all_forked(&options);
}
