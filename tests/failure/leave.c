/* leave.c: a rank leaves or is ahead: an error to those that still need it, to nobody else. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <stdlib.h>
#include <string.h>

/* Rank 1 leaves; the others call once more. */
static void body_needed(struct failure_rank *f)
{
	const enum failure_call *call = f->test->row;
	int32_t *buf = calloc(LARGE_COUNT, sizeof(*buf));
	struct wring_request *request;
	enum wring_status status;
	struct wring_error error;
	double began;

	if (failure_expect(f, buf != NULL, "calloc") && failure_open(f)) {
		failure_healthy(f);
		if (f->rank != 1) {
			began = seconds_now();
			status = failure_start(f, *call, buf, &request);
			if (status == WRING_OK)
				status = wring_wait(&request);
			if (failure_status(f, failure_call_name(*call), status, WRING_ERR_PEER)) {
				error = failure_error(f, WRING_ERR_PEER);
				(void)failure_expect(f, error.rank == 1, "rank %d is named: %s",
						     error.rank, error.text);
				(void)failure_expect(f, strstr(error.text, "has left") != NULL,
						     "not \"has left\": %s", error.text);
			}
			(void)failure_expect(f, seconds_now() - began < 5, "it took %.1f s",
					     seconds_now() - began);
		}
		failure_close(f);
	}
	free(buf);
}

/* Rank 1 has started what it will never finish, and leaves: its messages stand in the way. */
static void body_in_flight(struct failure_rank *f)
{
	int32_t *buf = calloc(3 * LARGE_COUNT, sizeof(*buf));
	struct wring_request *requests[3];
	enum wring_status status = WRING_OK;
	struct wring_error error;
	double began = seconds_now();
	int i;

	if (failure_expect(f, buf != NULL, "calloc") && failure_open(f)) {
		for (i = 0; i < 3 && status == WRING_OK; i++)
			status = failure_start(
				f, (enum failure_call)(i % 2 ? CALL_BARRIER : CALL_ALLREDUCE_LARGE),
				buf + i * LARGE_COUNT, &requests[i]);
		(void)failure_status(f, "start", status, WRING_OK);
		if (f->rank != 1) {
			nap_s(0.1);
			status = wring_waitall(3, requests);
			if (failure_status(f, "waitall", status, WRING_ERR_PEER)) {
				error = failure_error(f, WRING_ERR_PEER);
				(void)failure_expect(f, error.rank == 1, "rank %d is named: %s",
						     error.rank, error.text);
			}
			(void)failure_expect(f, seconds_now() - began < 5, "it took %.1f s",
					     seconds_now() - began);
		}
		failure_close(f);
	}
	free(buf);
}

/* Its message of the barrier arrives ahead of the credits that the root waits for. */
static void body_message_ahead(struct failure_rank *f)
{
	int32_t *buf = calloc(LARGE_COUNT, sizeof(*buf));
	struct wring_request *requests[2] = {NULL, NULL};
	struct wring_error error;
	enum wring_status status;

	if (failure_expect(f, buf != NULL, "calloc") && failure_open(f)) {
		status = failure_start(f, CALL_BROADCAST_LARGE, buf, &requests[0]);
		if (status == WRING_OK)
			status = failure_start(f, CALL_BARRIER, buf, &requests[1]);
		(void)failure_status(f, "start", status, WRING_OK);
		failure_meet(f);
		if (f->rank == 0) {
			status = wring_waitall(2, requests);
			if (failure_status(f, "waitall", status, WRING_ERR_PEER)) {
				error = failure_error(f, WRING_ERR_PEER);
				(void)failure_expect(f, error.rank == 1, "rank %d is named: %s",
						     error.rank, error.text);
			}
		}
		failure_close(f);
	}
	free(buf);
}

/* Rank 0 leaves as soon as it is done; the others come to the same calls later. */
static void body_not_needed(struct failure_rank *f)
{
	int32_t x[7] = {1, 1, 1, 1, 1, 1, 1};
	int i;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	for (i = 0; i < 20; i++)
		(void)failure_status(f, "allreduce",
				     wring_allreduce(f->comm, x, x, 7, WRING_INT32, WRING_MAX),
				     WRING_OK);
	if (f->rank > 0)
		nap_s(0.1 * f->rank);
	failure_close(f);
	f->before = usage_now();
}

/* Its part of the broadcast is sent: the root leaves long before the others enter. */
static void body_root_leaves(struct failure_rank *f)
{
	int32_t x[7] = {0};
	struct wring_request *request = NULL;
	int i;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 0)
		for (i = 0; i < 7; i++)
			x[i] = 42;
	(void)failure_status(f, "ibroadcast",
			     wring_ibroadcast(f->comm, x, 7, WRING_INT32, 0, &request), WRING_OK);
	if (f->rank == 0)
		nap_s(0.1);
	if (f->rank > 0)
		nap_s(0.5);
	(void)failure_status(f, "wait", wring_wait(&request), WRING_OK);
	(void)failure_expect(f, x[6] == 42, "broadcast gave %d", (int)x[6]);
	failure_close(f);
}

/* The root has credits for half of the slots at least: for these it need not wait for the
 * others. */
static void body_root_ahead(struct failure_rank *f)
{
	enum { CALLS = 4, MOST = 1000 };
	int32_t x[MOST];
	int i, failed = 0;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank > 0)
		failure_meet(f); /* the root has ended its calls */
	for (i = 0; i < CALLS; i++) {
		size_t count = i % 2 ? MOST : 7;

		memset(x, f->rank ? 0 : i + 1, sizeof(x));
		failed += wring_broadcast(f->comm, x, count, WRING_INT32, 0) != WRING_OK;
		failed += x[count - 1] != (i + 1) * 0x01010101;
	}
	if (f->rank == 0)
		failure_meet(f);
	(void)failure_expect(f, failed == 0, "%d calls failed or gave wrong values", failed);
	failure_healthy(f);
	failure_close(f);
}

void failure_leavers(void)
{
	static const enum failure_call calls[] = {CALL_BARRIER, CALL_ALLREDUCE_SMALL,
						  CALL_ALLREDUCE_LARGE, CALL_BROADCAST_LARGE};
	struct failure_test needed = {.ranks = 3, .body = body_needed};
	const struct failure_test others[] = {
		{.name = "leaving_while_asleep_others_need_it",
		 .ranks = 3,
		 .body = body_needed,
		 .settings = "wait=event",
		 .row = &calls[1]},
		{.name = "leaving_with_requests_in_flight_is_an_error_to_the_others",
		 .ranks = 3,
		 .body = body_in_flight,
		 .settings = "slots=2 segment_bytes=4096"},
		{.name = "leaving_with_requests_in_flight_of_two_ranks",
		 .ranks = 2,
		 .body = body_in_flight},
		{.name = "leaving_with_a_later_message_ahead_is_an_error",
		 .ranks = 2,
		 .body = body_message_ahead,
		 .settings = "slots=2 segment_bytes=1024 timeout_ms=8000"},
		{.name = "leaving_early_is_fine_when_nobody_needs_it",
		 .ranks = 4,
		 .body = body_not_needed},
		{.name = "leaving_early_is_fine_for_a_root_that_has_sent",
		 .ranks = 3,
		 .body = body_root_leaves},
		{.name = "a_root_is_ahead_of_the_others",
		 .ranks = 3,
		 .body = body_root_ahead,
		 .settings = "slots=8"},
		{.name = "a_root_is_ahead_in_a_tree_of_ranks",
		 .ranks = 10,
		 .body = body_root_ahead,
		 .settings = "slots=8"},
	};
	static const char *const names[] = {"leaving_before_a_barrier_is_named",
					    "leaving_before_an_allreduce_is_named",
					    "leaving_before_a_large_allreduce_is_named",
					    "leaving_before_a_large_broadcast_is_named"};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		needed.name = names[i];
		needed.row = &calls[i];
		failure_run(&needed);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		failure_run(&others[i]);
}
