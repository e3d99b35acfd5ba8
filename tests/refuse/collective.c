/* collective.c: bad arguments of the collectives, in their blocking and i-forms. */
#include "tests/refuse/refuse.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 16 };

enum collective { ALLREDUCE, BROADCAST, BARRIER };

enum fault { VALUE, NULL_COMM, NULL_SENDBUF, NULL_RECVBUF, NULL_REQUEST, OVERLAP_UP, OVERLAP_DOWN };

/* One bad call, made by the last of two ranks. */
struct bad_call {
	const char *name;
	enum collective collective;
	enum fault fault;
	enum wring_status status;
	const char *text;
	size_t count;
	int datatype, op, root;
};

static const struct bad_call calls[] = {
	{"null_comm", ALLREDUCE, NULL_COMM, WRING_ERR_INVALID, NULL, COUNT, WRING_INT32, 0, 0},
	{"null_sendbuf", ALLREDUCE, NULL_SENDBUF, WRING_ERR_INVALID, "sendbuf", COUNT, WRING_INT32,
	 0, 0},
	{"null_recvbuf", ALLREDUCE, NULL_RECVBUF, WRING_ERR_INVALID, "recvbuf", COUNT, WRING_INT32,
	 0, 0},
	{"recvbuf_overlapping_above", ALLREDUCE, OVERLAP_UP, WRING_ERR_INVALID, "overlap", COUNT,
	 WRING_INT32, 0, 0},
	{"recvbuf_overlapping_below", ALLREDUCE, OVERLAP_DOWN, WRING_ERR_INVALID, "overlap", COUNT,
	 WRING_INT32, 0, 0},
	{"datatype_above_the_last", ALLREDUCE, VALUE, WRING_ERR_INVALID, "10", COUNT, 10, 0, 0},
	{"negative_datatype", ALLREDUCE, VALUE, WRING_ERR_INVALID, "-7", COUNT, -7, 0, 0},
	{"unknown_datatype_of_no_elements", ALLREDUCE, VALUE, WRING_ERR_INVALID, "99", 0, 99, 0, 0},
	{"op_above_the_last", ALLREDUCE, VALUE, WRING_ERR_INVALID, "5", COUNT, WRING_INT32, 5, 0},
	{"negative_op", ALLREDUCE, VALUE, WRING_ERR_INVALID, "-3", COUNT, WRING_INT32, -3, 0},
	{"unknown_op_of_no_elements", ALLREDUCE, VALUE, WRING_ERR_INVALID, "77", 0, WRING_INT32, 77,
	 0},
	{"count_of_more_bytes_than_exist", ALLREDUCE, VALUE, WRING_ERR_INVALID,
	 "18446744073709551615", SIZE_MAX, WRING_INT32, 0, 0},
	{"count_just_above_the_largest", ALLREDUCE, VALUE, WRING_ERR_INVALID, "2305843009213693952",
	 SIZE_MAX / 8 + 1, WRING_FLOAT64, 0, 0},
	{"avg_of_int8", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "int8", COUNT, WRING_INT8,
	 WRING_AVG, 0},
	{"avg_of_uint8", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "uint8", COUNT, WRING_UINT8,
	 WRING_AVG, 0},
	{"avg_of_int32", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "int32", COUNT, WRING_INT32,
	 WRING_AVG, 0},
	{"avg_of_uint32", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "uint32", COUNT, WRING_UINT32,
	 WRING_AVG, 0},
	{"avg_of_int64", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "int64", COUNT, WRING_INT64,
	 WRING_AVG, 0},
	{"avg_of_uint64", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "uint64", COUNT, WRING_UINT64,
	 WRING_AVG, 0},
	{"avg_of_no_integers", ALLREDUCE, VALUE, WRING_ERR_UNSUPPORTED, "int32", 0, WRING_INT32,
	 WRING_AVG, 0},
	{"null_request", ALLREDUCE, NULL_REQUEST, WRING_ERR_INVALID, "request", COUNT, WRING_INT32,
	 0, 0},

	{"null_comm", BROADCAST, NULL_COMM, WRING_ERR_INVALID, NULL, COUNT, WRING_INT32, 0, 0},
	{"null_buf", BROADCAST, NULL_RECVBUF, WRING_ERR_INVALID, "buf", COUNT, WRING_INT32, 0, 0},
	{"datatype_above_the_last", BROADCAST, VALUE, WRING_ERR_INVALID, "10", COUNT, 10, 0, 0},
	{"negative_datatype", BROADCAST, VALUE, WRING_ERR_INVALID, "-7", COUNT, -7, 0, 0},
	{"root_out_of_range", BROADCAST, VALUE, WRING_ERR_INVALID, "2", COUNT, WRING_INT32, 0, 2},
	{"root_far_out_of_range", BROADCAST, VALUE, WRING_ERR_INVALID, "2147483647", COUNT,
	 WRING_INT32, 0, 2147483647},
	{"negative_root", BROADCAST, VALUE, WRING_ERR_INVALID, "-1", COUNT, WRING_INT32, 0, -1},
	{"root_out_of_range_of_no_elements", BROADCAST, VALUE, WRING_ERR_INVALID, "5", 0,
	 WRING_INT32, 0, 5},
	{"count_of_more_bytes_than_exist", BROADCAST, VALUE, WRING_ERR_INVALID,
	 "18446744073709551615", SIZE_MAX, WRING_INT32, 0, 0},
	{"count_just_above_the_largest", BROADCAST, VALUE, WRING_ERR_INVALID, "2305843009213693952",
	 SIZE_MAX / 8 + 1, WRING_FLOAT64, 0, 0},
	{"null_request", BROADCAST, NULL_REQUEST, WRING_ERR_INVALID, "request", COUNT, WRING_INT32,
	 0, 0},

	{"null_comm", BARRIER, NULL_COMM, WRING_ERR_INVALID, NULL, 0, 0, 0, 0},
	{"null_request", BARRIER, NULL_REQUEST, WRING_ERR_INVALID, "request", 0, 0, 0, 0},
};

static const char *const collective_names[] = {"allreduce", "broadcast", "barrier"};

/* What the call is given; all of it must look the same afterwards. */
struct arguments {
	struct wring_comm *comm;
	unsigned char *send, *recv;
	struct wring_request **request;
};

static struct arguments spoil(const struct bad_call *bad, struct arguments good)
{
	struct arguments a = good;

	if (bad->fault == NULL_COMM)
		a.comm = NULL;
	if (bad->fault == NULL_SENDBUF)
		a.send = NULL;
	if (bad->fault == NULL_RECVBUF)
		a.recv = NULL;
	if (bad->fault == NULL_REQUEST)
		a.request = NULL;
	if (bad->fault == OVERLAP_UP)
		a.recv = a.send + sizeof(int32_t);
	if (bad->fault == OVERLAP_DOWN)
		a.send = a.recv + (COUNT - 1) * sizeof(int32_t);
	return a;
}

static enum wring_status call(const struct bad_call *bad, const struct arguments *a)
{
	enum wring_datatype datatype = (enum wring_datatype)bad->datatype;

	if (bad->collective == BARRIER)
		return wring_barrier(a->comm);
	if (bad->collective == BROADCAST)
		return wring_broadcast(a->comm, a->recv, bad->count, datatype, bad->root);
	return wring_allreduce(a->comm, a->send, a->recv, bad->count, datatype,
			       (enum wring_op)bad->op);
}

static enum wring_status start(const struct bad_call *bad, const struct arguments *a)
{
	enum wring_datatype datatype = (enum wring_datatype)bad->datatype;

	if (bad->collective == BARRIER)
		return wring_ibarrier(a->comm, a->request);
	if (bad->collective == BROADCAST)
		return wring_ibroadcast(a->comm, a->recv, bad->count, datatype, bad->root,
					a->request);
	return wring_iallreduce(a->comm, a->send, a->recv, bad->count, datatype,
				(enum wring_op)bad->op, a->request);
}

/* Only the last rank errs; the others go on to the next operation, and so does it afterwards. */
static void err_on_last_rank(struct refuse *r)
{
	static int32_t marker;
	const struct bad_call *bad = r->test->row;
	struct wring_request *untouched = (struct wring_request *)(void *)&marker;
	struct wring_request *request = untouched;
	unsigned char send[COUNT * 16], recv[COUNT * 16], copy[COUNT * 16];
	struct arguments a;
	enum wring_status status;

	if (r->rank != r->size - 1)
		return;
	memset(send, 0x11, sizeof(send));
	memset(recv, 0x11, sizeof(recv));
	memset(copy, 0x11, sizeof(copy));
	a = spoil(bad, (struct arguments){r->comm, send, recv, &request});
	status = r->test->nonblocking ? start(bad, &a) : call(bad, &a);
	if (bad->fault == NULL_COMM)
		(void)refuse_status(r, "the call", status, bad->status);
	else
		refuse_call(r, "the call", status, bad->status, bad->text);
	(void)refuse_expect(r, request == untouched, "request was written");
	(void)refuse_expect(r, memcmp(recv, copy, sizeof(copy)) == 0, "recvbuf was written");
	(void)refuse_expect(r, memcmp(send, copy, sizeof(copy)) == 0, "sendbuf was written");
}

void refuse_collectives(void)
{
	const size_t n = sizeof(calls) / sizeof(calls[0]);

	for (size_t i = 0; i < 2 * n; i++) {
		const struct bad_call *bad = &calls[i % n];
		struct refusal test = {
			.body = err_on_last_rank,
			.row = bad,
			.nonblocking = i >= n,
		};

		if (bad->fault == NULL_REQUEST && !test.nonblocking)
			continue;
		(void)snprintf(test.name, sizeof(test.name), "%s%s_refuses_%s",
			       test.nonblocking ? "i" : "", collective_names[bad->collective],
			       bad->name);
		refuse_run(&test);
	}
}
