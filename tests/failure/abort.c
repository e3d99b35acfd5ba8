/* abort.c: abort reaches every rank; what remains legal on a broken communicator. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char reason[] = "the disk is full";

/* What the others are about when rank 1 aborts. */
enum activity { IN_WAIT, IN_TEST, OUTSIDE };

static void judge_abort(struct failure_rank *f, enum wring_status status, double began)
{
	struct wring_error error;

	if (!failure_status(f, "barrier", status, WRING_ERR_ABORTED))
		return;
	error = failure_error(f, WRING_ERR_ABORTED);
	(void)failure_expect(f, strstr(error.text, reason) != NULL, "the reason is missing: %s",
			     error.text);
	(void)failure_expect(f, error.rank == 1, "rank %d is named", error.rank);
	(void)failure_expect(f, seconds_now() - began < 2, "it took %.1f s", seconds_now() - began);
}

static void body(struct failure_rank *f)
{
	const enum activity *activity = f->test->row;
	struct wring_request *request = NULL;
	enum wring_status status;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 1) {
		nap_s(*activity == OUTSIDE ? 0 : 0.2);
		f->board->fault_at = seconds_now();
		status = wring_comm_abort(f->comm, reason);
		(void)failure_status(f, "abort", status, WRING_OK);
		status = wring_comm_abort(f->comm, "again");
		(void)failure_expect(f, status == WRING_ERR_STATE, "a second abort gave %d",
				     (int)status);
		judge_abort(f, wring_barrier(f->comm), f->board->fault_at);
	} else {
		if (*activity == OUTSIDE)
			nap_s(0.3);
		status = wring_ibarrier(f->comm, &request);
		if (status == WRING_OK)
			status = failure_wait(&request, *activity == IN_TEST ? BY_TEST : BY_WAIT);
		judge_abort(f, status, f->board->fault_at + 0.3);
	}
	failure_close(f);
}

/* --- after a failure ---------------------------------------------------------------------- */

struct holdings {
	int32_t *owned, *noted;
	struct wring_request *by_wait, *by_test;
};

static void take_holdings(struct failure_rank *f, struct holdings *h)
{
	enum wring_status status;

	h->noted = calloc(1000, sizeof(*h->noted));
	if (!failure_expect(f, h->noted != NULL, "calloc"))
		return;
	status = wring_alloc(f->comm, 1000 * sizeof(*h->owned), (void **)&h->owned);
	(void)failure_status(f, "alloc", status, WRING_OK);
	status = wring_register(f->comm, h->noted, 1000 * sizeof(*h->noted));
	(void)failure_status(f, "register", status, WRING_OK);
	h->owned[999] = 4711 + f->rank;
	status = wring_iallreduce(f->comm, h->noted, h->noted, 1000, WRING_INT32, WRING_SUM,
				  &h->by_wait);
	(void)failure_status(f, "iallreduce", status, WRING_OK);
	status = wring_ibarrier(f->comm, &h->by_test);
	(void)failure_status(f, "ibarrier", status, WRING_OK);
}

static void check_calls(struct failure_rank *f, struct holdings *h, enum wring_status wanted)
{
	struct wring_error first, now;
	enum wring_status status;
	int done = 0;
	void *more = NULL;

	first = failure_error(f, wanted);
	status = wring_test(&h->by_test, &done);
	(void)failure_status(f, "test", status, wanted);
	(void)failure_expect(f, done && !h->by_test, "the request was not consumed");
	(void)failure_expect(f, wring_wait(&h->by_test) == WRING_OK, "wait for NULL");
	status = wring_alloc(f->comm, 100, &more);
	(void)failure_expect(f, status == WRING_ERR_STATE && !more, "alloc gave %d", (int)status);
	status = wring_register(f->comm, &now, sizeof(now));
	(void)failure_expect(f, status == WRING_ERR_STATE, "register gave %d", (int)status);
	(void)failure_status(f, "barrier", wring_barrier(f->comm), wanted);
	(void)failure_status(
		f, "allreduce",
		wring_allreduce(f->comm, h->noted, h->noted, 3, WRING_INT32, WRING_SUM), wanted);
	wring_comm_error(f->comm, &now);
	(void)failure_expect(f,
			     now.status == first.status && now.rank == first.rank &&
				     strcmp(now.text, first.text) == 0,
			     "the first cause has changed from \"%s\" to \"%s\"", first.text,
			     now.text);
	(void)failure_status(f, "deregister", wring_deregister(f->comm, h->noted), WRING_OK);
}

/* Destroyed, its memory can still be read, and saved. */
static void check_destroyed(struct failure_rank *f, struct holdings *h)
{
	double began = seconds_now(), took;
	struct wring_comm *comm = f->comm;
	char text[256];

	wring_comm_destroy(comm);
	took = seconds_now() - began;
	(void)failure_expect(f, took < 1, "destroy took %.3f s", took);
	(void)failure_expect(f, h->owned[999] == 4711 + f->rank, "memory was lost");
	h->owned[0] = 1;
	wring_free(comm, h->owned);
	f->comm = NULL;
	if (usage_grew(&f->before, text, sizeof(text)))
		(void)failure_expect(f, false, "left behind: %s", text);
}

static void body_after(struct failure_rank *f)
{
	const enum wring_status *wanted = f->test->row;
	struct holdings h = {NULL, NULL, NULL, NULL};

	if (!failure_open(f))
		return;
	if (f->rank == 1) {
		failure_healthy(f);
		nap_s(0.3); /* the others have started their requests by then */
		if (*wanted == WRING_ERR_PEER)
			(void)raise(SIGKILL);
		else if (*wanted == WRING_ERR_ABORTED)
			(void)failure_status(f, "abort", wring_comm_abort(f->comm, reason),
					     WRING_OK);
		else if (*wanted == WRING_ERR_MISMATCH)
			(void)failure_status(f, "barrier", wring_barrier(f->comm), *wanted);
		else
			nap_s(2);
		failure_close(f);
		return;
	}
	failure_healthy(f);
	take_holdings(f, &h);
	if (!f->failed) {
		(void)failure_status(f, "wait", wring_wait(&h.by_wait), *wanted);
		(void)failure_expect(f, !h.by_wait, "the request was not consumed");
		check_calls(f, &h, *wanted);
		check_destroyed(f, &h);
	}
	free(h.noted);
}

/* Destroy is the first call after the death: it must not wait for the dead. */
static void body_destroy_first(struct failure_rank *f)
{
	struct wring_request *request = NULL;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 1)
		(void)raise(SIGKILL);
	(void)failure_status(f, "ibarrier", wring_ibarrier(f->comm, &request), WRING_OK);
	nap_s(0.2);
	failure_close(f);
}

static void run_after(const char *name, enum wring_status status)
{
	const struct failure_test test = {
		.name = name,
		.ranks = 3,
		.body = body_after,
		.row = &status,
		.settings = status == WRING_ERR_TIMEOUT ? "timeout_ms=600" : NULL,
		.killed = status == WRING_ERR_PEER ? 1 << 1 : 0,
	};

	failure_run(&test);
}

void failure_aborts(void)
{
	static const enum activity in_wait = IN_WAIT, in_test = IN_TEST, outside = OUTSIDE;
	const struct failure_test tests[] = {
		{.name = "abort_ends_wait_with_its_text",
		 .ranks = 4,
		 .body = body,
		 .row = &in_wait},
		{.name = "abort_ends_sleep_with_its_text",
		 .ranks = 4,
		 .body = body,
		 .settings = "wait=event",
		 .row = &in_wait},
		{.name = "abort_ends_spinning_with_its_text",
		 .ranks = 3,
		 .body = body,
		 .settings = "wait=spin",
		 .row = &in_wait},
		{.name = "abort_ends_test_with_its_text",
		 .ranks = 3,
		 .body = body,
		 .row = &in_test},
		{.name = "abort_ends_later_calls_with_its_text",
		 .ranks = 3,
		 .body = body,
		 .row = &outside},
		{.name = "destroy_does_not_wait_for_the_dead",
		 .ranks = 3,
		 .body = body_destroy_first,
		 .killed = 1 << 1},
	};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failure_run(&tests[i]);
	run_after("calls_after_an_abort_are_as_promised", WRING_ERR_ABORTED);
	run_after("calls_after_a_death_are_as_promised", WRING_ERR_PEER);
	run_after("calls_after_a_mismatch_are_as_promised", WRING_ERR_MISMATCH);
	run_after("calls_after_a_timeout_are_as_promised", WRING_ERR_TIMEOUT);
}
