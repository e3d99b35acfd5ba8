/* broken.c: what remains after abort, and destroy in the middle of things. */
#include "tests/refuse/refuse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 50000 };

static const double destroy_seconds = 1.0;

static bool ended(enum wring_status status, enum wring_status cause)
{
	return status == WRING_ERR_STATE || status == cause;
}

/* Every new use is refused, everything that gives back is not. */
static void use_after(struct refuse *r, void *allocated, void *registered, enum wring_status cause)
{
	struct wring_request *request = NULL;
	int32_t x[4] = {0};
	void *buf = NULL;

	(void)refuse_expect(r, ended(wring_barrier(r->comm), cause), "barrier");
	(void)refuse_expect(r,
			    ended(wring_allreduce(r->comm, x, x, 4, WRING_INT32, WRING_SUM), cause),
			    "allreduce");
	(void)refuse_expect(r, ended(wring_broadcast(r->comm, x, 4, WRING_INT32, 0), cause),
			    "broadcast");
	(void)refuse_expect(r, ended(wring_ibarrier(r->comm, &request), cause), "ibarrier");
	(void)refuse_expect(r, request == NULL, "request was written");
	(void)refuse_status(r, "alloc", wring_alloc(r->comm, 100, &buf), WRING_ERR_STATE);
	(void)refuse_expect(r, buf == NULL, "buf was written");
	(void)refuse_status(r, "register", wring_register(r->comm, x, sizeof(x)), WRING_ERR_STATE);
	(void)refuse_status(r, "abort", wring_comm_abort(r->comm, "again"), WRING_ERR_STATE);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, registered), WRING_OK);
	memset(allocated, 1, 100);
	wring_free(r->comm, allocated);
	(void)refuse_expect(r, wring_comm_size(r->comm) == r->size, "size is gone");
}

static void destroy_in_time(struct refuse *r)
{
	double began = refuse_seconds();

	wring_comm_destroy(r->comm);
	r->comm = NULL;
	(void)refuse_expect(r, refuse_seconds() - began < destroy_seconds, "destroy took %.3f s",
			    refuse_seconds() - began);
}

static void expect_cause(struct refuse *r, enum wring_status cause, const char *text)
{
	struct wring_error error = {.status = WRING_OK};

	wring_comm_error(r->comm, &error);
	refuse_error(r, "comm_error", &error, cause, text);
}

/* Rank 0 aborts while the others wait for it in a barrier. */
static void abort_ends_all(struct refuse *r)
{
	static int32_t registered[16];
	void *allocated = NULL;

	r->broken = true;
	(void)refuse_status(r, "alloc", wring_alloc(r->comm, 100, &allocated), WRING_OK);
	(void)refuse_status(r, "register", wring_register(r->comm, registered, sizeof(registered)),
			    WRING_OK);
	if (r->rank == 0)
		(void)refuse_status(r, "abort", wring_comm_abort(r->comm, "loss is\nnot a number"),
				    WRING_OK);
	else
		(void)refuse_status(r, "barrier", wring_barrier(r->comm), WRING_ERR_ABORTED);
	expect_cause(r, WRING_ERR_ABORTED, "not a number");
	use_after(r, allocated, registered, WRING_ERR_ABORTED);
	expect_cause(r, WRING_ERR_ABORTED, "not a number");
	destroy_in_time(r);
}

/* Rank 1 aborts; it and rank 0 have requests in flight that the last rank never joins. */
static void abort_ends_requests(struct refuse *r)
{
	struct wring_request *requests[3] = {NULL, NULL, NULL};
	int32_t *x = calloc(3 * (size_t)COUNT, sizeof(*x));
	int done = 0;

	r->broken = true;
	for (int i = 0; i < 3 && r->rank < 2; i++) {
		int32_t *part = x + (size_t)i * COUNT;

		(void)refuse_status(r, "start",
				    wring_iallreduce(r->comm, part, part, COUNT, WRING_INT32,
						     WRING_SUM, &requests[i]),
				    WRING_OK);
	}
	(void)ranks_meet(r->context);
	if (r->rank == 1)
		(void)refuse_status(r, "abort", wring_comm_abort(r->comm, "enough"), WRING_OK);
	(void)ranks_meet(r->context);
	if (r->rank < 2) {
		(void)refuse_status(r, "wait", wring_wait(&requests[0]), WRING_ERR_ABORTED);
		(void)refuse_status(r, "test", wring_test(&requests[1], &done), WRING_ERR_ABORTED);
		(void)refuse_expect(r, done == 1, "done is %d", done);
		(void)refuse_status(r, "waitall", wring_waitall(3, requests), WRING_ERR_ABORTED);
	} else {
		(void)refuse_status(r, "allreduce",
				    wring_allreduce(r->comm, x, x, COUNT, WRING_INT32, WRING_SUM),
				    WRING_ERR_ABORTED);
	}
	for (int i = 0; i < 3; i++)
		(void)refuse_expect(r, requests[i] == NULL, "request %d was not consumed", i);
	expect_cause(r, WRING_ERR_ABORTED, "enough");
	destroy_in_time(r);
	free(x);
}

static void start_some(struct refuse *r, int32_t *x, struct wring_request *requests[8])
{
	for (int i = 0; i < 8; i++) {
		int32_t *part = x + (size_t)i * COUNT;

		(void)refuse_status(r, "start",
				    wring_iallreduce(r->comm, part, part, COUNT, WRING_INT32,
						     WRING_SUM, &requests[i]),
				    WRING_OK);
	}
}

static void destroy_in_flight(struct refuse *r)
{
	struct wring_request *requests[8];
	int32_t *x = calloc(8 * (size_t)COUNT, sizeof(*x));

	r->broken = true;
	start_some(r, x, requests);
	destroy_in_time(r);
	free(x);
}

/* Memory outlives the communicator, so that gradients can still be saved. */
static void memory_outlives(struct refuse *r)
{
	struct wring_comm *comm = r->comm;
	unsigned char *bytes;
	void *buf[3] = {NULL, NULL, NULL};

	r->broken = true;
	for (int i = 0; i < 3; i++)
		(void)refuse_status(r, "alloc", wring_alloc(comm, COUNT, &buf[i]), WRING_OK);
	memset(buf[0], 7, COUNT);
	wring_free(comm, buf[1]);
	destroy_in_time(r);
	bytes = buf[0];
	(void)refuse_expect(r, bytes[0] == 7 && bytes[COUNT - 1] == 7, "memory has changed");
	memset(buf[2], 8, COUNT);
	wring_free(comm, buf[0]);
	wring_free(comm, buf[2]);
}

/* Rank 1 leaves although rank 0 still needs it. */
static void leaving_early(struct refuse *r)
{
	struct wring_error error = {.status = WRING_OK};
	double began = refuse_seconds();

	r->broken = true;
	if (r->rank == 1) {
		destroy_in_time(r);
		return;
	}
	refuse_call(r, "barrier without rank 1", wring_barrier(r->comm), WRING_ERR_PEER, "rank 1");
	wring_comm_error(r->comm, &error);
	(void)refuse_expect(r, error.rank == 1, "the culprit is rank %d", error.rank);
	(void)refuse_expect(r, refuse_seconds() - began < 4, "the error took %.3f s",
			    refuse_seconds() - began);
	destroy_in_time(r);
}

void refuse_broken(void)
{
	static const struct refusal tests[] = {
		{.name = "abort_ends_every_rank_and_refuses_all_later_use",
		 .ranks = 3,
		 .body = abort_ends_all},
		{.name = "abort_ends_requests_in_flight", .ranks = 3, .body = abort_ends_requests},
		{.name = "destroy_drops_requests_in_flight", .ranks = 3, .body = destroy_in_flight},
		{.name = "memory_outlives_its_communicator", .body = memory_outlives},
		{.name = "barrier_refuses_to_wait_for_a_rank_that_left", .body = leaving_early},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		refuse_run(&tests[i]);
}
