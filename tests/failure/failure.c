/* failure.c: every call ends, with the right numbers or with an error that names rank and cause. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include "tests/harness/tap.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* peer_timeout_ms plus the second that the promise allows is what the tests of deaths wait. */
#define QUICK "peer_timeout_ms=500 timeout_ms=20000 stall_ms=10000 "

enum { TIMEOUT_S = 60 };

static const char *selected = "";
static struct board *board;

bool failure_selected(const char *name)
{
	return strstr(name, selected) != NULL;
}

bool failure_over_verbs(void)
{
	const char *transport = getenv("WRING_TRANSPORT");

	return transport && strcmp(transport, "verbs") == 0;
}

bool failure_expect(struct failure_rank *f, bool good, const char *what, ...)
{
	char line[1024];
	va_list args;

	if (good)
		return true;
	f->failed++;
	va_start(args, what);
	(void)vsnprintf(line, sizeof(line), what, args);
	va_end(args);
	fprintf(stderr, "# %s: rank %d: %s\n", f->test->name, f->rank, line);
	return false;
}

static void ignore_line(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

bool failure_open_with(struct failure_rank *f, const char *settings)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config;
	enum wring_status status;
	char words[256];

	(void)snprintf(words, sizeof(words), QUICK "%s", settings ? settings : "");
	status = settings_parse(&config, words, &error);
	config.log = f->log ? f->log : ignore_line;
	config.log_ctx = f->log_ctx;
	if (status == WRING_OK)
		status = wring_comm_create(f->context->bootstrap, &config, &f->comm, &error);
	return failure_expect(f, status == WRING_OK, "create (%s): %s: %s", words,
			      wring_strerror(status), error.text);
}

bool failure_open(struct failure_rank *f)
{
	return failure_open_with(f, f->test->settings);
}

void failure_close(struct failure_rank *f)
{
	double began = seconds_now(), kept = seconds_kept_waiting(), took;
	char text[256];

	wring_comm_destroy(f->comm);
	f->comm = NULL;
	took = seconds_now() - began;
	kept = seconds_kept_waiting() - kept;
	(void)failure_expect(f, took - kept < DESTROY_MS * 1e-3, "destroy took %.3f s", took);
	if (usage_grew(&f->before, text, sizeof(text)))
		(void)failure_expect(f, false, "left behind: %s", text);
}

void failure_meet(struct failure_rank *f)
{
	(void)failure_expect(f, ranks_meet(f->context) == 0, "the ranks could not meet");
}

bool failure_status(struct failure_rank *f, const char *call, enum wring_status got,
		    enum wring_status wanted)
{
	struct wring_error error = {.status = WRING_OK};

	if (got == wanted)
		return true;
	wring_comm_error(f->comm, &error);
	return failure_expect(f, false, "%s gave %s, not %s: %s", call, wring_strerror(got),
			      wring_strerror(wanted), error.text);
}

struct wring_error failure_error(struct failure_rank *f, enum wring_status wanted)
{
	struct wring_error error = {.status = WRING_OK};

	wring_comm_error(f->comm, &error);
	(void)failure_expect(f, error.status == wanted, "the error says %s, not %s: %s",
			     wring_strerror(error.status), wring_strerror(wanted), error.text);
	(void)failure_expect(f, text_is_one_line(error.text), "not one line: \"%s\"", error.text);
	f->board->errors[f->rank] = error;
	return error;
}

const char *failure_call_name(enum failure_call call)
{
	static const char *const names[FAILURE_CALLS] = {
		"barrier", "allreduce", "large allreduce", "broadcast", "large broadcast",
	};

	return names[call];
}

enum wring_status failure_start(struct failure_rank *f, enum failure_call call, int32_t *buf,
				struct wring_request **request)
{
	switch (call) {
	case CALL_ALLREDUCE_SMALL:
		return wring_iallreduce(f->comm, buf, buf, 7, WRING_INT32, WRING_SUM, request);
	case CALL_ALLREDUCE_LARGE:
		return wring_iallreduce(f->comm, buf, buf, LARGE_COUNT, WRING_INT32, WRING_SUM,
					request);
	case CALL_BROADCAST_SMALL:
		return wring_ibroadcast(f->comm, buf, 7, WRING_INT32, 0, request);
	case CALL_BROADCAST_LARGE:
		return wring_ibroadcast(f->comm, buf, LARGE_COUNT, WRING_INT32, 0, request);
	case CALL_BARRIER:
	case FAILURE_CALLS:
	default:
		return wring_ibarrier(f->comm, request);
	}
}

enum wring_status failure_wait(struct wring_request **request, enum failure_wait how)
{
	enum wring_status status = WRING_OK;
	int done = 0;

	if (how == BY_WAIT)
		return wring_wait(request);
	while (!done && status == WRING_OK)
		status = wring_test(request, &done);
	return status;
}

void failure_healthy(struct failure_rank *f)
{
	int32_t x[3] = {1, f->rank, -1};
	int32_t sum = f->size * (f->size - 1) / 2;
	enum wring_status status = wring_allreduce(f->comm, x, x, 3, WRING_INT32, WRING_SUM);

	if (failure_status(f, "a healthy allreduce", status, WRING_OK))
		(void)failure_expect(f, x[0] == f->size && x[1] == sum && x[2] == -f->size,
				     "a wrong sum");
}

static int run_rank(const struct rank_context *context)
{
	struct failure_rank f = {
		.test = context->arg,
		.context = context,
		.board = board,
		.rank = context->rank,
		.size = context->size,
		.before = usage_now(),
	};

	f.test->body(&f);
	if (f.comm)
		failure_close(&f);
	return f.failed ? 1 : 0;
}

static bool ended_as_meant(const struct failure_test *test, const struct ranks_outcome *outcome)
{
	bool good = true;
	int r;

	for (r = 0; r < test->ranks; r++) {
		int wanted = test->killed >> r & 1 ? -SIGKILL : 0;

		if (outcome->status[r] == wanted)
			continue;
		good = false;
		fprintf(stderr, "# %s: rank %d ended with %d, not %d%s\n", test->name, r,
			outcome->status[r], wanted,
			outcome->status[r] == RANKS_TIMED_OUT ? " (it hung)" : "");
	}
	return good;
}

void failure_run(const struct failure_test *test)
{
	struct failure_test copy = *test;
	struct ranks_outcome outcome;
	int files = usage_shared_files();
	const char *wrong = NULL;
	double began = seconds_now();
	bool good;

	if (!failure_selected(test->name))
		return;
	*board = (struct board){0};
	(void)ranks_run_outcome(test->ranks, run_rank, &copy,
				test->timeout_s ? test->timeout_s : TIMEOUT_S, &outcome);
	good = ended_as_meant(test, &outcome);
	if (good && test->judge)
		wrong = test->judge(test, board);
	if (wrong)
		fprintf(stderr, "# %s: %s\n", test->name, wrong);
	if (usage_shared_files() > files)
		fprintf(stderr, "# %s: files are left in /dev/shm\n", test->name);
	tap_result(good && !wrong && usage_shared_files() <= files, test->name, "%.1f s",
		   seconds_now() - began);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		fprintf(stderr, "usage: %s [PART_OF_A_NAME]\n", argv[0]);
		return 2;
	}
	if (argc == 2)
		selected = argv[1];
	board = ranks_shared(sizeof(*board));
	failure_mismatches();
	failure_deaths();
	failure_leavers();
	failure_creations();
	failure_aborts();
	failure_deadlines();
	failure_waits();
	failure_processes();
	failure_limits();
	failure_cgroups();
	return tap_finish();
}
