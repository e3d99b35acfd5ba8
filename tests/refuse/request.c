/* request.c: bad arguments of test, wait and waitall, which must consume nothing. */
#include "tests/refuse/refuse.h"

#include <stdint.h>

static struct wring_request *start_barrier(struct refuse *r)
{
	struct wring_request *request = NULL;

	(void)refuse_status(r, "start", wring_ibarrier(r->comm, &request), WRING_OK);
	(void)refuse_expect(r, request != NULL, "no request");
	return request;
}

static void test_null(struct refuse *r)
{
	struct wring_request *request = start_barrier(r), *same = request;
	int done = 7;

	(void)refuse_status(r, "test without request", wring_test(NULL, &done), WRING_ERR_INVALID);
	(void)refuse_expect(r, done == 7, "done was written");
	(void)refuse_status(r, "test without done", wring_test(&request, NULL), WRING_ERR_INVALID);
	(void)refuse_expect(r, request == same, "the request was consumed");
	(void)refuse_status(r, "wait", wring_wait(&request), WRING_OK);
	(void)refuse_expect(r, request == NULL, "the request was not consumed");
}

static void wait_null(struct refuse *r)
{
	(void)refuse_status(r, "wait without request", wring_wait(NULL), WRING_ERR_INVALID);
}

static void null_request_is_complete(struct refuse *r)
{
	struct wring_request *none = NULL;
	int done = 7;

	(void)refuse_status(r, "test of none", wring_test(&none, &done), WRING_OK);
	(void)refuse_expect(r, done == 1, "done is %d", done);
	(void)refuse_status(r, "wait for none", wring_wait(&none), WRING_OK);
	(void)refuse_expect(r, none == NULL, "the request was written");
}

static void waitall_null(struct refuse *r)
{
	struct wring_request *requests[3] = {NULL, start_barrier(r), NULL};

	(void)refuse_status(r, "waitall of 3 at NULL", wring_waitall(3, NULL), WRING_ERR_INVALID);
	(void)refuse_status(r, "waitall of 0 at NULL", wring_waitall(0, NULL), WRING_OK);
	(void)refuse_status(r, "waitall with holes", wring_waitall(3, requests), WRING_OK);
	(void)refuse_expect(r, requests[1] == NULL, "the request was not consumed");
}

/* Requests of two communicators, given in another order than they were started. */
static void waitall_of_two_comms(struct refuse *r)
{
	struct wring_comm *other = refuse_open(r, r->context->bootstrap);
	struct wring_request *requests[4] = {NULL, NULL, NULL, NULL};
	int32_t x[2] = {1, 2};

	if (!other)
		return;
	for (int i = 0; i < 2; i++) {
		(void)refuse_status(r, "start", wring_ibarrier(r->comm, &requests[3 - i]),
				    WRING_OK);
		(void)refuse_status(r, "start",
				    wring_iallreduce(other, &x[i], &x[i], 1, WRING_INT32, WRING_SUM,
						     &requests[i]),
				    WRING_OK);
	}
	(void)refuse_status(r, "waitall", wring_waitall(4, requests), WRING_OK);
	(void)refuse_expect(r, x[0] == r->size && x[1] == 2 * r->size, "wrong sums");
	wring_comm_destroy(other);
}

void refuse_requests(void)
{
	static const struct refusal tests[] = {
		{.name = "test_refuses_null_request_and_null_done", .body = test_null},
		{.name = "wait_refuses_null", .body = wait_null},
		{.name = "a_null_request_is_complete", .body = null_request_is_complete},
		{.name = "waitall_refuses_null", .body = waitall_null},
		{.name = "waitall_ends_requests_of_two_communicators",
		 .body = waitall_of_two_comms},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		refuse_run(&tests[i]);
}
