/* link.c: operations for some seconds over a network that may fail; one line says how it ended. */
/* Good ends: all results right, or an error that names rank, device and port, in time. */
#include "tests/harness/usage.h"
#include "tests/harness/tcp_bootstrap.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 18, BOOTSTRAP_MS = 60000, HANG_S = 60, VALUES = 251 };

/* A second is promised beyond peer_timeout_ms; emulation on a busy machine gets two more. */
enum { GRACE_MS = 1000, EMULATION_MS = 2000 };

static const char usage[] = "usage: vm_link --rank R --size N --host HOST --port PORT\n"
			    "               [--seconds S] [--while FILE] [--most ELEMENTS]\n"
			    "--while FILE: rank 0 stops earlier, when there is no such file\n";

struct options {
	int rank, size, port, seconds, most;
	const char *host, *file;
};

struct run {
	const struct options *options;
	struct wring_comm *comm;
	float *buffers[2]; /* from wring_alloc, from malloc */
	int turn;
	double called_at; /* the call that is under way */
	char path[96];	  /* "rxe0 port 1" */
	int failed;
};

static int complain(struct run *run, const char *what, const char *text)
{
	run->failed = 1;
	printf("rank %d: WRONG: turn %d: %s: %s\n", run->options->rank, run->turn, what, text);
	return 1;
}

/* ---- operations ------------------------------------------------------------------------------ */

static float value_of(int rank, int turn, size_t i)
{
	return (float)((i * 7 + (size_t)rank * 13 + (size_t)turn * 101) % VALUES);
}

/* From nothing to the most, and not in order. */
static size_t count_of(const struct run *run)
{
	uint32_t mixed = (uint32_t)run->turn * 2654435761u;
	uint32_t most = (uint32_t)run->options->most >> (mixed >> 28);

	return (mixed >> 4) % (most + 1);
}

static enum wring_status reduce(struct run *run)
{
	size_t count = count_of(run);
	float *data = run->buffers[run->turn % 2];
	enum wring_status status;

	for (size_t i = 0; i < count; i++)
		data[i] = value_of(run->options->rank, run->turn, i);
	run->called_at = seconds_now();
	status = wring_allreduce(run->comm, data, data, count, WRING_FLOAT32, WRING_SUM);
	for (size_t i = 0; status == WRING_OK && i < count; i++) {
		float sum = 0;

		for (int rank = 0; rank < run->options->size; rank++)
			sum += value_of(rank, run->turn, i);
		if (data[i] != sum) {
			(void)complain(run, "allreduce", "wrong value");
			break;
		}
	}
	return status;
}

static enum wring_status spread(struct run *run)
{
	int root = run->turn % run->options->size;
	size_t count = count_of(run);
	float *data = run->buffers[run->turn / 2 % 2];
	enum wring_status status;

	for (size_t i = 0; i < count; i++)
		data[i] = run->options->rank == root ? value_of(root, run->turn, i) : -1;
	run->called_at = seconds_now();
	status = wring_broadcast(run->comm, data, count, WRING_FLOAT32, root);
	for (size_t i = 0; status == WRING_OK && i < count; i++) {
		if (data[i] != value_of(root, run->turn, i)) {
			(void)complain(run, "broadcast", "wrong value");
			break;
		}
	}
	return status;
}

/* Rank 0 decides for all whether there is another turn. */
static enum wring_status ask_for_more(struct run *run, double until, bool *more)
{
	const char *file = run->options->file;
	uint8_t answer = seconds_now() < until && (!file || access(file, F_OK) == 0);
	enum wring_status status;

	run->called_at = seconds_now();
	status = wring_broadcast(run->comm, &answer, 1, WRING_UINT8, 0);
	*more = answer;
	return status;
}

static enum wring_status operate(struct run *run)
{
	double until = seconds_now() + run->options->seconds;
	enum wring_status status;
	bool more = true;

	for (;; run->turn++) {
		status = ask_for_more(run, until, &more);
		if (status != WRING_OK || !more)
			return status;
		status = reduce(run);
		if (status == WRING_OK)
			status = spread(run);
		run->called_at = run->turn % 4 ? run->called_at : seconds_now();
		if (status == WRING_OK && run->turn % 4 == 0)
			status = wring_barrier(run->comm);
		if (status != WRING_OK || run->failed)
			return status;
		if (run->turn == 0)
			printf("rank %d: running\n", run->options->rank);
	}
}

/* ---- how it ends ----------------------------------------------------------------------------- */

static int judge(struct run *run, enum wring_status status)
{
	const char *peer_timeout = getenv("WRING_PEER_TIMEOUT_MS");
	int most_ms = (peer_timeout ? atoi(peer_timeout) : 2000) + GRACE_MS + EMULATION_MS;
	int ms = (int)((seconds_now() - run->called_at) * 1000);
	struct wring_error error = {.status = WRING_OK};

	if (run->failed)
		return 1;
	if (status == WRING_OK) {
		printf("rank %d: right after %d turns\n", run->options->rank, run->turn);
		return 0;
	}
	wring_comm_error(run->comm, &error);
	printf("rank %d: %s, rank %d, after %d ms: %s\n", run->options->rank,
	       wring_strerror(status), error.rank, ms, error.text);
	if (status != WRING_ERR_PEER && status != WRING_ERR_TRANSPORT)
		return complain(run, "another error than of peer or transport", error.text);
	if (error.rank < 0 || error.rank >= run->options->size ||
	    !text_names_rank(error.text, error.rank))
		return complain(run, "no rank is named", error.text);
	if (!strstr(error.text, run->path))
		return complain(run, "device and port are not named", error.text);
	if (!text_is_one_line(error.text))
		return complain(run, "not one line", error.text);
	if (ms > most_ms)
		return complain(run, "too late", error.text);
	return 0;
}

static void print_line(void *ctx, const char *line)
{
	const struct run *run = ctx;

	printf("rank %d: log: %s\n", run->options->rank, line);
}

/* The device and port by which the others are reached. */
static void find_path(struct run *run)
{
	struct wring_peer_info info;

	for (int peer = 0; peer < run->options->size; peer++) {
		if (wring_comm_peer(run->comm, peer, &info, sizeof(info)) == WRING_OK &&
		    peer != run->options->rank && info.transport == WRING_TRANSPORT_VERBS)
			(void)snprintf(run->path, sizeof(run->path), "%s port %d", info.device,
				       info.port);
	}
}

static int open_run(struct run *run, const struct wring_bootstrap *bootstrap)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config;
	enum wring_status status = wring_config_init(&config, sizeof(config), &error);
	void *memory = NULL;

	config.log = print_line;
	config.log_ctx = run;
	if (status == WRING_OK)
		status = wring_comm_create(bootstrap, &config, &run->comm, &error);
	if (status != WRING_OK)
		return complain(run, "create", error.text);
	find_path(run);
	if (!run->path[0])
		return complain(run, "create", "no peer is reached by verbs");
	if (wring_alloc(run->comm, MOST * sizeof(float), &memory) != WRING_OK)
		return complain(run, "create", "no memory");
	run->buffers[0] = memory;
	run->buffers[1] = malloc(MOST * sizeof(float));
	return run->buffers[1] ? 0 : complain(run, "create", "no memory");
}

static void close_run(struct run *run)
{
	double began = seconds_now();

	double freed;
	char text[64];

	if (run->comm)
		wring_free(run->comm, run->buffers[0]);
	freed = seconds_now();
	wring_comm_destroy(run->comm);
	(void)snprintf(text, sizeof(text), "free took %.3f s, destroy %.3f s", freed - began,
		       seconds_now() - freed);
	if (seconds_now() - began > 1 + EMULATION_MS * 1e-3)
		(void)complain(run, "too late", text);
	free(run->buffers[1]);
}

static int run_rank(const struct options *options)
{
	struct run run = {.options = options};
	struct tcp_bootstrap *tcp;
	struct usage before;
	char text[192];

	if (tcp_bootstrap_open(&tcp, options->host, options->port, options->rank, options->size,
			       BOOTSTRAP_MS))
		return 1;
	before = usage_now();
	if (open_run(&run, &tcp->bootstrap) == 0)
		(void)judge(&run, operate(&run));
	close_run(&run);
	if (usage_grew(&before, text, sizeof(text)))
		(void)complain(&run, "left behind", text);
	tcp_bootstrap_close(tcp);
	return run.failed;
}

/* ---- options --------------------------------------------------------------------------------- */

static int refuse(const char *what)
{
	fprintf(stderr, "vm_link: %s\n%s", what, usage);
	return 2;
}

static const struct option long_options[] = {
	{"rank", required_argument, NULL, 'R'},	   {"size", required_argument, NULL, 'N'},
	{"host", required_argument, NULL, 'H'},	   {"port", required_argument, NULL, 'P'},
	{"seconds", required_argument, NULL, 's'}, {"while", required_argument, NULL, 'w'},
	{"most", required_argument, NULL, 'm'},	   {NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	struct options options = {.rank = -1, .seconds = HANG_S / 2, .most = MOST};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		int *number = option == 'R'   ? &options.rank
			      : option == 'N' ? &options.size
			      : option == 'P' ? &options.port
			      : option == 's' ? &options.seconds
			      : option == 'm' ? &options.most
					      : NULL;

		if (option == 'H')
			options.host = optarg;
		else if (option == 'w')
			options.file = optarg;
		else if (number)
			*number = atoi(optarg);
		else
			return refuse("unknown option");
	}
	if (optind < argc || options.rank < 0 || options.rank >= options.size || !options.host ||
	    options.port <= 0 || options.seconds < 1 || options.seconds > HANG_S / 2 ||
	    options.most < 1 || options.most > MOST)
		return refuse("an option is missing or out of range");
	(void)alarm(HANG_S);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	return run_rank(&options);
}
