/* creation.c: a rank dies, or fails, while the communicator is being created. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 4 };

/* Dies, or has enough, before or after a round of wring_comm_create. */
struct creation_fault {
	int victim;
	int round;  /* from 1 */
	bool after; /* the round was made */
	bool kill;  /* otherwise its bootstrap fails from there on */
};

/* A bootstrap around another, with a fault in it. */
struct faulty {
	const struct wring_bootstrap *inner;
	const struct creation_fault *fault; /* NULL: none on this rank */
	int round;
};

static int fail_here(const struct faulty *faulty, bool after)
{
	const struct creation_fault *fault = faulty->fault;

	if (!fault || fault->round > faulty->round || fault->after != after)
		return 0;
	if (fault->kill)
		(void)raise(SIGKILL);
	return 77;
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	struct faulty *faulty = ctx;
	int code;

	faulty->round++;
	code = fail_here(faulty, false);
	if (!code)
		code = faulty->inner->allgather(faulty->inner->ctx, in, out, len);
	return code ? code : fail_here(faulty, true);
}

static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	struct faulty *faulty = ctx;
	int code;

	faulty->round++;
	code = fail_here(faulty, false);
	if (!code)
		code = faulty->inner->alltoall(faulty->inner->ctx, in, out, len);
	return code ? code : fail_here(faulty, true);
}

static enum wring_status create(struct failure_rank *f, struct wring_error *error)
{
	const struct creation_fault *fault = f->test->row;
	struct faulty faulty = {
		.inner = f->context->bootstrap,
		.fault = f->rank == fault->victim ? fault : NULL,
	};
	struct wring_bootstrap bootstrap = *f->context->bootstrap;
	struct wring_config config;
	enum wring_status status = settings_parse(&config, "peer_timeout_ms=500", error);

	bootstrap.allgather = allgather;
	bootstrap.alltoall = alltoall;
	bootstrap.ctx = &faulty;
	return status ? status : wring_comm_create(&bootstrap, &config, &f->comm, error);
}

/* After the last round it is a rank of the communicator that has died. */
static void judge_success(struct failure_rank *f, int victim)
{
	enum wring_status status = WRING_OK;
	struct wring_error error;

	while (status == WRING_OK)
		status = wring_barrier(f->comm);
	if (failure_status(f, "barrier", status, WRING_ERR_PEER)) {
		error = failure_error(f, WRING_ERR_PEER);
		(void)failure_expect(f, error.rank == victim, "rank %d is named: %s", error.rank,
				     error.text);
	}
	failure_close(f);
}

static void body(struct failure_rank *f)
{
	const struct creation_fault *fault = f->test->row;
	struct wring_error error = {.status = WRING_OK};
	double began = seconds_now(), took;
	enum wring_status status = create(f, &error);
	char text[256];

	took = seconds_now() - began;
	(void)failure_expect(f, took < 5, "create took %.1f s", took);
	if (fault->round == ROUNDS && fault->after && fault->kill && status == WRING_OK) {
		judge_success(f, fault->victim);
		return;
	}
	(void)failure_expect(f, status == WRING_ERR_BOOTSTRAP || status == WRING_ERR_PEER,
			     "create gave %s: %s", wring_strerror(status), error.text);
	(void)failure_expect(f, error.status == status && text_is_one_line(error.text),
			     "status %d, text \"%s\"", (int)error.status, error.text);
	(void)failure_expect(f, f->comm == NULL, "a communicator was given");
	if (usage_grew(&f->before, text, sizeof(text)))
		(void)failure_expect(f, false, "left behind: %s", text);
}

static void run_round(int round, int victim, bool after)
{
	struct creation_fault fault = {
		.victim = victim, .round = round, .after = after, .kill = true};
	char name[128];
	struct failure_test test = {
		.name = name,
		.ranks = 3,
		.body = body,
		.row = &fault,
		.killed = 1 << victim,
		.timeout_s = 40,
	};

	(void)snprintf(name, sizeof(name), "death_of_rank_%d_%s_round_%d_of_creation_ends_it",
		       victim, after ? "after" : "before", round);
	failure_run(&test);
}

/* The failing rank returns, and ends: only then do the others see that it is gone. */
static void run_failing_bootstrap(int round)
{
	struct creation_fault fault = {.victim = 1, .round = round};
	char name[128];
	struct failure_test test = {
		.name = name,
		.ranks = 3,
		.body = body,
		.row = &fault,
		.timeout_s = 40,
	};

	(void)snprintf(name, sizeof(name), "bootstrap_that_fails_in_round_%d_ends_creation", round);
	failure_run(&test);
}

void failure_creations(void)
{
	int round;

	for (round = 1; round <= ROUNDS; round++) {
		run_round(round, round % 3, false);
		run_round(round, (round + 1) % 3, true);
		run_failing_bootstrap(round);
	}
}
