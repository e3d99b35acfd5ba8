/* deadline.c: timeout_ms is kept however a rank waits; a stopped rank is late, not dead. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETTLE_MS = 60 }; /* to hear of the others' errors, and to tell ours */

struct deadline {
	int timeout_ms;
	enum failure_wait how;
	enum failure_call call;
};

static unsigned long long waited_by(const struct wring_error *error)
{
	unsigned long long ms = 0;
	const char *at = strstr(error->text, " waited ");

	return at && sscanf(at, " waited %llu ms", &ms) == 1 ? ms : 0;
}

/* What the processor was denied us is not the library's fault. */
static void judge_deadline(struct failure_rank *f, const struct deadline *d, double took,
			   double kept)
{
	struct wring_error error = failure_error(f, WRING_ERR_TIMEOUT);
	double limit = d->timeout_ms * 1.1 + kept * 1000;
	unsigned long long waited = waited_by(&error);

	(void)failure_expect(f, error.rank == 1 && text_names_rank(error.text, 1),
			     "rank %d is named: %s", error.rank, error.text);
	(void)failure_expect(f, waited >= (unsigned)d->timeout_ms && (double)waited <= limit + 1,
			     "decided after %llu ms of %d (kept waiting for %.0f ms)", waited,
			     d->timeout_ms, kept * 1000);
	(void)failure_expect(f, took * 1000 >= d->timeout_ms && took * 1000 <= limit + SETTLE_MS,
			     "%.0f ms passed, timeout_ms is %d (kept waiting for %.0f ms)",
			     took * 1000, d->timeout_ms, kept * 1000);
}

/* Rank 1 comes too late; what rank 0 had sent may still be enough for its first call. */
static void be_late(struct failure_rank *f, const struct deadline *d, int32_t *buf)
{
	struct wring_request *request;
	enum wring_status status;

	nap_s(d->timeout_ms * 2e-3 + 0.5);
	status = failure_start(f, d->call, buf, &request);
	if (status == WRING_OK)
		status = wring_wait(&request);
	while (status == WRING_OK)
		status = wring_barrier(f->comm);
	(void)failure_status(f, "the late barrier", status, WRING_ERR_TIMEOUT);
}

static void wait_in_vain(struct failure_rank *f, const struct deadline *d, int32_t *buf)
{
	struct wring_request *request = NULL;
	double began = seconds_now(), kept = seconds_kept_waiting();
	enum wring_status status = failure_start(f, d->call, buf, &request);

	if (status == WRING_OK)
		status = failure_wait(&request, d->how);
	if (failure_status(f, failure_call_name(d->call), status, WRING_ERR_TIMEOUT))
		judge_deadline(f, d, seconds_now() - began, seconds_kept_waiting() - kept);
}

static void body(struct failure_rank *f)
{
	const struct deadline *d = f->test->row;
	int32_t *buf = calloc(LARGE_COUNT, sizeof(*buf));
	char settings[128];

	(void)snprintf(settings, sizeof(settings), "timeout_ms=%d %s", d->timeout_ms,
		       f->test->settings ? f->test->settings : "");
	if (failure_expect(f, buf != NULL, "calloc") && failure_open_with(f, settings)) {
		failure_healthy(f);
		if (f->rank == 0)
			wait_in_vain(f, d, buf);
		else
			be_late(f, d, buf);
		failure_close(f);
	}
	free(buf);
}

static void run_deadline(const char *how, const char *settings, struct deadline d)
{
	struct failure_test test = {.ranks = 2, .body = body, .settings = settings, .row = &d};
	char name[128];

	(void)snprintf(name, sizeof(name), "timeout_of_%d_ms_is_kept_%s_in_%s", d.timeout_ms, how,
		       failure_call_name(d.call));
	test.name = name;
	failure_run(&test);
}

/* --- late, not dead ----------------------------------------------------------------------- */

struct stalls {
	int self;
	int lines;
	bool names_rank, no_newline;
	int for_nobody; /* lines of one who waits for no rank */
};

static void note_line(void *ctx, const char *line)
{
	struct stalls *stalls = ctx;

	if (!strstr(line, "waiting for"))
		return;
	stalls->lines++;
	stalls->for_nobody += strstr(line, "waiting for its peers") != NULL;
	/* Stopped between its messages of one all-reduce, to 2 and then to 0, rank 1 keeps rank 0
	 * waiting, and rank 0 in the next one rank 2. */
	stalls->names_rank =
		text_names_rank(line, 1) || (stalls->self == 2 && text_names_rank(line, 0));
	stalls->no_newline = !strchr(line, '\n');
}

/* In a process of its own, since all ranks are in a call. */
static void stop_for_a_while(const struct rank_context *context, int rank, double seconds)
{
	if (fork() != 0)
		return;
	nap_s(0.2);
	(void)ranks_stop(context, rank);
	nap_s(seconds);
	(void)ranks_continue(context, rank);
	_exit(0);
}

static void body_stopped(struct failure_rank *f)
{
	const double *seconds = f->test->row;
	struct stalls stalls = {.self = f->rank};
	enum wring_status status = WRING_OK;
	int32_t x[7] = {1, 1, 1, 1, 1, 1, 1};
	double until;

	f->log = note_line;
	f->log_ctx = &stalls;
	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 0)
		stop_for_a_while(f->context, 1, *seconds);
	until = seconds_now() + *seconds + 1;
	while (status == WRING_OK && x[0]) {
		x[0] = seconds_now() < until;
		status = wring_allreduce(f->comm, x, x, 7, WRING_INT32, WRING_MIN);
	}
	(void)failure_status(f, "allreduce", status, WRING_OK);
	(void)failure_expect(f, x[1] == 1 && x[6] == 1, "wrong values");
	if (f->rank != 1) {
		(void)failure_expect(f, stalls.lines == 1, "%d lines of stalls", stalls.lines);
		(void)failure_expect(f, stalls.names_rank && stalls.no_newline,
				     "the line is not in order");
	}
	failure_close(f);
	while (wait(NULL) > 0)
		;
}

/* Much to reduce, in many turns, between which nothing comes from anybody. More ranks than CPUs:
 * they sleep soon. */
static void body_at_work(struct failure_rank *f)
{
	enum { COUNT = 1 << 24 };
	struct stalls stalls = {.self = f->rank};
	int32_t *x = NULL;
	size_t i, wrong = 0;

	f->log = note_line;
	f->log_ctx = &stalls;
	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (failure_status(f, "alloc", wring_alloc(f->comm, COUNT * sizeof(*x), (void **)&x),
			   WRING_OK)) {
		for (i = 0; i < COUNT; i++)
			x[i] = (int32_t)i;
		(void)failure_status(f, "allreduce",
				     wring_allreduce(f->comm, x, x, COUNT, WRING_INT32, WRING_SUM),
				     WRING_OK);
		for (i = 0; i < COUNT; i++)
			wrong += x[i] != (int32_t)i * f->size;
		(void)failure_expect(f, wrong == 0, "%zu wrong values", wrong);
		(void)failure_expect(f, stalls.for_nobody == 0, "it waited for nobody");
		wring_free(f->comm, x);
	}
	failure_close(f);
}

void failure_deadlines(void)
{
	const struct failure_test at_work = {.name = "a_rank_that_has_work_does_not_sleep",
					     .ranks = 4,
					     .body = body_at_work,
					     .settings = "wait=event stall_ms=200"};
	static const double three = 3;
	const struct failure_test stopped[] = {
		{.name = "stopped_rank_is_late_not_dead",
		 .ranks = 3,
		 .body = body_stopped,
		 .settings = "stall_ms=500",
		 .row = &three},
		{.name = "stopped_rank_is_late_not_dead_to_those_that_sleep",
		 .ranks = 3,
		 .body = body_stopped,
		 .settings = "stall_ms=500 wait=event",
		 .row = &three},
	};
	size_t i;

	run_deadline("yielding", "wait=yield",
		     (struct deadline){1000, BY_WAIT, CALL_ALLREDUCE_SMALL});
	run_deadline("spinning", "wait=spin", (struct deadline){1000, BY_WAIT, CALL_BARRIER});
	run_deadline("asleep", "wait=event", (struct deadline){1000, BY_WAIT, CALL_BARRIER});
	run_deadline("asleep", "wait=event", (struct deadline){250, BY_WAIT, CALL_BROADCAST_LARGE});
	run_deadline("testing", NULL, (struct deadline){1000, BY_TEST, CALL_ALLREDUCE_LARGE});
	run_deadline("with a thread", "progress=thread",
		     (struct deadline){1000, BY_WAIT, CALL_ALLREDUCE_LARGE});
	run_deadline("testing", "wait=event", (struct deadline){500, BY_TEST, CALL_BARRIER});
	for (i = 0; i < sizeof(stopped) / sizeof(stopped[0]); i++)
		failure_run(&stopped[i]);
	failure_run(&at_work);
}
