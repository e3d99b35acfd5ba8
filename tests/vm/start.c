/* start.c: start alone, before any wait, posts what credits allow: read from the trace. */
#include "tests/harness/ranks.h"
#include "tests/harness/tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* With four credits a rank starts three segments of its own; the last credit is for forwarding. */
enum { RANKS = 2, SLOTS = 4, OWN_SEGMENTS = SLOTS - 1, PAUSE_MS = 300, TIMEOUT_S = 60 };
enum { COUNT = 1 << 16 };

static const char usage[] = "usage: vm_start [FILE]\n"
			    "FILE: a counter of sent packets, which then has to grow as well\n";

struct trial {
	char trace[256];     /* each rank's has its number before the dot */
	const char *counter; /* or NULL */
	int *at_once;	     /* shared, by rank: messages sent by start */
	int *later;	     /* and by wait */
};

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&pause, NULL);
}

static uint64_t read_counter(const char *name)
{
	FILE *file = name ? fopen(name, "r") : NULL;
	uint64_t value = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &value) != 1)
		value = 0;
	(void)fclose(file);
	return value;
}

/* Messages sent from..until, by the trace of this rank. */
static int count_sent(const struct trial *trial, int rank, double from, double until)
{
	char path[300], line[512];
	FILE *file;
	int n = 0;

	(void)snprintf(path, sizeof(path), "%s.%d.json", trial->trace, rank);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		const char *ts = strstr(line, "\"ts\":");
		double at = ts ? strtod(ts + strlen("\"ts\":"), NULL) : 0;

		n += strstr(line, "\"cat\":\"message\",\"name\":\"sent\"") && at >= from &&
		     at <= until;
	}
	if (file)
		(void)fclose(file);
	return n;
}

static int complain(const struct rank_context *context, const char *what, const char *text)
{
	fprintf(stderr, "# vm_start: rank %d: %s: %s\n", context->rank, what, text);
	return 1;
}

static int open_comm(const struct rank_context *context, struct wring_comm **comm)
{
	const struct trial *trial = context->arg;
	struct wring_config config;
	struct wring_error error;
	char trace[300];

	(void)snprintf(trace, sizeof(trace), "%s.json", trial->trace);
	if (wring_config_init(&config, sizeof(config), &error) ||
	    wring_config_set(&config, "trace", trace, &error) ||
	    wring_config_set(&config, "slots", "4", &error) ||
	    wring_config_set(&config, "segment_bytes", "4096", &error) ||
	    wring_comm_create(context->bootstrap, &config, comm, &error))
		return complain(context, "create", error.text);
	return 0;
}

/* Both ranks start; then both sleep, so that nothing moves that start has not posted. */
static int start_and_wait(const struct rank_context *context, struct wring_comm *comm, float *data,
			  double *begun, double *started)
{
	const struct trial *trial = context->arg;
	struct wring_request *request;
	struct wring_error error;
	uint64_t sent;

	if (wring_barrier(comm) || ranks_meet(context))
		return complain(context, "barrier", "failed");
	sleep_ms(PAUSE_MS);
	sent = read_counter(trial->counter);
	if (ranks_meet(context))
		return complain(context, "meeting", "failed");
	*begun = now_us();
	if (wring_iallreduce(comm, data, data, COUNT, WRING_FLOAT32, WRING_SUM, &request)) {
		wring_comm_error(comm, &error);
		return complain(context, "iallreduce", error.text);
	}
	*started = now_us();
	sleep_ms(PAUSE_MS);
	if (trial->counter && read_counter(trial->counter) <= sent)
		return complain(context, trial->counter, "the device has sent nothing");
	if (ranks_meet(context))
		return complain(context, "meeting", "failed");
	if (wring_wait(&request)) {
		wring_comm_error(comm, &error);
		return complain(context, "wait", error.text);
	}
	return 0;
}

static int body(const struct rank_context *context)
{
	const struct trial *trial = context->arg;
	float *data = calloc(COUNT, sizeof(*data));
	struct wring_comm *comm = NULL;
	double begun = 0, started = 0;
	int failed = 1;

	if (data && open_comm(context, &comm) == 0)
		failed = start_and_wait(context, comm, data, &begun, &started);
	wring_comm_destroy(comm);
	free(data);
	if (failed)
		return 1;
	trial->at_once[context->rank] = count_sent(trial, context->rank, begun, started);
	trial->later[context->rank] = count_sent(trial, context->rank, started, now_us());
	return 0;
}

int main(int argc, char **argv)
{
	const char *directory = getenv("TMPDIR");
	struct trial trial = {.counter = argc > 1 ? argv[1] : NULL};
	int failed;

	if (argc > 2 || (argc > 1 && (argv[1][0] == '-' || read_counter(argv[1]) == 0))) {
		fputs(usage, stderr);
		return 2;
	}
	(void)snprintf(trial.trace, sizeof(trial.trace), "%s/vm_start.%ld",
		       directory ? directory : "/tmp", (long)getpid());
	trial.at_once = ranks_shared(2 * RANKS * sizeof(int));
	trial.later = trial.at_once + RANKS;
	failed = ranks_run(RANKS, body, &trial, TIMEOUT_S);
	for (int r = 0; r < RANKS; r++) {
		char path[300];

		failed += trial.at_once[r] < OWN_SEGMENTS || trial.later[r] == 0;
		(void)snprintf(path, sizeof(path), "%s.%d.json", trial.trace, r);
		(void)remove(path);
	}
	tap_result(failed == 0, "start_posts_what_credits_allow_before_any_wait",
		   "messages by start %d %d, later %d %d", trial.at_once[0], trial.at_once[1],
		   trial.later[0], trial.later[1]);
	return tap_finish();
}
