/* bootstrap.c: the tests' own tools: the TCP bootstrap and the launcher never hang. */
#include "tests/refuse/refuse.h"

#include "tests/harness/tap.h"
#include "tests/harness/tcp_bootstrap.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SHORT_S = 2, TIMEOUT_S = 20, WAIT_MS = 300 };

static void exchange_is_right(struct refuse *r)
{
	const struct wring_bootstrap *b = r->context->bootstrap;
	int in[RANKS_MAX], out[RANKS_MAX];

	for (int i = 0; i < r->size; i++)
		in[i] = r->rank * 100 + i;
	(void)refuse_expect(r, b->alltoall(b->ctx, in, out, sizeof(int)) == 0, "alltoall");
	for (int i = 0; i < r->size; i++)
		(void)refuse_expect(r, out[i] == i * 100 + r->rank, "alltoall from %d", i);
	(void)refuse_expect(r, b->allgather(b->ctx, &in[r->rank], out, sizeof(int)) == 0,
			    "allgather");
	for (int i = 0; i < r->size; i++)
		(void)refuse_expect(r, out[i] == i * 101, "allgather from %d", i);
}

static void differing_lengths(struct refuse *r)
{
	const struct wring_bootstrap *b = r->context->bootstrap;
	char in[8] = "", out[8 * RANKS_MAX];

	(void)refuse_expect(r, b->allgather(b->ctx, in, out, r->rank == 2 ? 8 : 4) != 0,
			    "lengths 4 and 8 were accepted");
	(void)refuse_expect(r, b->allgather(b->ctx, in, out, 4) != 0,
			    "a broken bootstrap was used again");
}

static void differing_calls(struct refuse *r)
{
	const struct wring_bootstrap *b = r->context->bootstrap;
	char in[8 * RANKS_MAX] = "", out[8 * RANKS_MAX];
	int rc = r->rank == 1 ? b->alltoall(b->ctx, in, out, 4) : b->allgather(b->ctx, in, out, 4);

	(void)refuse_expect(r, rc != 0, "allgather and alltoall were mixed");
}

/* Every other rank gets its error at once, not at the deadline. */
static void peer_that_dies(struct refuse *r)
{
	const struct wring_bootstrap *b = r->context->bootstrap;
	double began = refuse_seconds();
	char in = 0, out[RANKS_MAX];

	if (r->rank == *(const int *)r->test->row)
		return;
	(void)refuse_expect(r, b->allgather(b->ctx, &in, out, 1) != 0, "a rank is missing");
	(void)refuse_expect(r, refuse_seconds() - began < SHORT_S, "it took %.3f s",
			    refuse_seconds() - began);
}

static int hang(const struct rank_context *context)
{
	if (context->rank == 1)
		(void)pause();
	return 0;
}

static void launcher_kills(void)
{
	const char *name = "ranks_kills_and_reaps_a_rank_that_hangs";
	struct ranks_outcome outcome;
	int failed;

	if (!refuse_selected(name))
		return;
	failed = ranks_run_outcome(3, hang, NULL, 1, &outcome);
	tap_result(failed == 1 && outcome.timed_out && outcome.status[1] == RANKS_TIMED_OUT, name,
		   NULL);
}

static int die_or_fail(const struct rank_context *context)
{
	if (context->rank == 0)
		(void)ranks_kill(context, 2);
	if (context->rank == 2)
		(void)pause();
	return context->rank == 1 ? 7 : 0;
}

static void launcher_reports(void)
{
	const char *name = "ranks_reports_exit_codes_and_signals";
	struct ranks_outcome outcome;
	int failed;

	if (!refuse_selected(name))
		return;
	failed = ranks_run_outcome(3, die_or_fail, NULL, TIMEOUT_S, &outcome);
	tap_result(failed == 2 && outcome.status[0] == 0 && outcome.status[1] == 7 &&
			   outcome.status[2] == -SIGKILL,
		   name, NULL);
}

/* Nobody comes; the wait ends at its deadline. */
static void open_ends(void)
{
	const char *name = "tcp_bootstrap_open_ends_when_ranks_are_missing";
	struct tcp_bootstrap *none = NULL;
	double began = refuse_seconds();
	int port, listener, rc;

	if (!refuse_selected(name))
		return;
	listener = tcp_bootstrap_listen("127.0.0.1", 0, &port);
	rc = tcp_bootstrap_accept(&none, listener, 2, WAIT_MS);
	(void)close(listener);
	rc = rc && tcp_bootstrap_open(&none, "127.0.0.1", port, 1, 2, WAIT_MS);
	tap_result(rc && !none && refuse_seconds() - began < SHORT_S, name, NULL);
}

void refuse_bootstraps(void)
{
	static const int first = 0, last = 2;
	static const struct refusal tests[] = {
		{"tcp_bootstrap_exchanges", 5, true, exchange_is_right, NULL, false},
		{"tcp_bootstrap_refuses_differing_lengths", 3, true, differing_lengths, NULL,
		 false},
		{"tcp_bootstrap_refuses_differing_calls", 3, true, differing_calls, NULL, false},
		{"tcp_bootstrap_reports_that_rank_0_left", 3, true, peer_that_dies, &first, false},
		{"tcp_bootstrap_reports_that_rank_2_left", 3, true, peer_that_dies, &last, false},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		refuse_run(&tests[i]);
	launcher_kills();
	launcher_reports();
	open_ends();
}
