/* mismatch.c: ranks that disagree on a call are told so, each by a pair that differs. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum collective { ALLREDUCE, BROADCAST, BARRIER };

/* One call; buffers are large enough for any. */
struct step {
	enum collective collective;
	size_t count;
	enum wring_datatype datatype;
	int op; /* of a broadcast: the root */
};

/* What all ranks but one do, and what that one does. Zero or one more call may follow. */
struct disagreement {
	const char *field; /* as the text names it */
	struct step agreed[2], deviant[2];
	int steps;
};

enum { BIG = 100000 };

static const struct disagreement rows[] = {
	{"collective", {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}}, {{BARRIER, 0, WRING_INT8, 0}}, 1},
	{"collective",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{BROADCAST, 5, WRING_INT32, 0}},
	 1},
	{"collective",
	 {{BROADCAST, 5, WRING_INT32, 0}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 1},
	{"collective", {{BROADCAST, BIG, WRING_INT32, 0}}, {{BARRIER, 0, WRING_INT8, 0}}, 1},
	{"collective", {{BARRIER, 0, WRING_INT8, 0}}, {{BROADCAST, 5, WRING_INT32, 1}}, 1},
	{"collective",
	 {{BARRIER, 0, WRING_INT8, 0}},
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 6, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 0, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, 0, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 1},
	{"count",
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, BIG + 1, WRING_INT32, WRING_SUM}},
	 1},
	{"count", {{BROADCAST, 0, WRING_INT32, 0}}, {{BROADCAST, 1, WRING_INT32, 0}}, 1},
	{"count", {{BROADCAST, BIG, WRING_INT32, 0}}, {{BROADCAST, BIG - 1, WRING_INT32, 0}}, 1},
	{"count", {{BROADCAST, BIG, WRING_INT32, 0}}, {{BROADCAST, 5, WRING_INT32, 0}}, 1},
	{"count", {{BROADCAST, 5, WRING_INT32, 0}}, {{BROADCAST, BIG, WRING_INT32, 0}}, 1},
	{"datatype",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_FLOAT32, WRING_SUM}},
	 1},
	{"datatype",
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, BIG, WRING_UINT32, WRING_SUM}},
	 1},
	{"datatype", {{BROADCAST, 5, WRING_FLOAT16, 0}}, {{BROADCAST, 5, WRING_BFLOAT16, 0}}, 1},
	{"op",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_MAX}},
	 1},
	{"op",
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_MIN}},
	 1},
	{"root", {{BROADCAST, 5, WRING_INT32, 0}}, {{BROADCAST, 5, WRING_INT32, 1}}, 1},
	{"root", {{BROADCAST, 5, WRING_INT32, 1}}, {{BROADCAST, 5, WRING_INT32, 0}}, 1},
	{"root", {{BROADCAST, BIG, WRING_INT32, 0}}, {{BROADCAST, BIG, WRING_INT32, 1}}, 1},
	{"root", {{BROADCAST, 0, WRING_INT32, 1}}, {{BROADCAST, 0, WRING_INT32, 0}}, 1},
	{"collective",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}, {BARRIER, 0, WRING_INT8, 0}},
	 {{BARRIER, 0, WRING_INT8, 0}, {ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 2},
	{"count",
	 {{BROADCAST, 5, WRING_INT32, 0}, {BROADCAST, BIG, WRING_INT32, 0}},
	 {{BROADCAST, BIG, WRING_INT32, 0}, {BROADCAST, 5, WRING_INT32, 0}},
	 2},
	{"count",
	 {{ALLREDUCE, BIG, WRING_INT32, WRING_SUM}, {ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}, {ALLREDUCE, BIG, WRING_INT32, WRING_SUM}},
	 2},
	{"count",
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}, {ALLREDUCE, 5, WRING_INT32, WRING_SUM}},
	 {{ALLREDUCE, 5, WRING_INT32, WRING_SUM}, {ALLREDUCE, 0, WRING_INT32, WRING_SUM}},
	 2},
};

static enum wring_status start(struct failure_rank *f, const struct step *step, void *buf,
			       struct wring_request **request)
{
	switch (step->collective) {
	case ALLREDUCE:
		return wring_iallreduce(f->comm, buf, buf, step->count, step->datatype,
					(enum wring_op)step->op, request);
	case BROADCAST:
		return wring_ibroadcast(f->comm, buf, step->count, step->datatype, step->op,
					request);
	case BARRIER:
	default:
		return wring_ibarrier(f->comm, request);
	}
}

/*
 * All steps in flight at once, and when they have ended a barrier: a rank whose part of the wrong
 * call agreed with its neighbours' learns of it there at the latest. Returns the first failure.
 */
static enum wring_status call_all(struct failure_rank *f, const struct step *steps, int n,
				  void *buf)
{
	struct wring_request *requests[2] = {NULL, NULL};
	enum wring_status status = WRING_OK, waited;
	int i, started = 0;

	for (i = 0; i < n && status == WRING_OK; i++)
		status = start(f, &steps[i], (char *)buf + (size_t)i * (BIG + 1) * 4, &requests[i]);
	started = i;
	waited = wring_waitall((size_t)started, requests);
	for (i = 0; i < started; i++)
		(void)failure_expect(f, !requests[i], "a request was not consumed");
	if (status == WRING_OK)
		status = waited;
	return status != WRING_OK ? status : wring_barrier(f->comm);
}

static void judge_error(struct failure_rank *f, const struct disagreement *row, int deviant)
{
	struct wring_error error = failure_error(f, WRING_ERR_MISMATCH);
	bool named = strstr(error.text, row->field) || strstr(error.text, "the operation");

	(void)failure_expect(f, (error.rank == deviant) != (error.peer == deviant),
			     "rank %d and peer %d do not differ, rank %d does: %s", error.rank,
			     error.peer, deviant, error.text);
	(void)failure_expect(f,
			     error.rank >= 0 && error.rank < f->size && error.peer >= 0 &&
				     error.peer < f->size,
			     "rank %d and peer %d: %s", error.rank, error.peer, error.text);
	(void)failure_expect(
		f,
		text_names_rank(error.text, error.rank) && text_names_rank(error.text, error.peer),
		"the text does not name ranks %d and %d: %s", error.rank, error.peer, error.text);
	(void)failure_expect(f, named, "the text does not name the %s: %s", row->field, error.text);
	(void)failure_expect(f, error.operation >= 2, "operation %llu",
			     (unsigned long long)error.operation);
}

static void disagree(struct failure_rank *f, const struct disagreement *row, int deviant, void *buf)
{
	const struct step *steps = f->rank == deviant ? row->deviant : row->agreed;
	int failed = f->failed;
	enum wring_status status;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	failure_meet(f);
	status = call_all(f, steps, row->steps, buf);
	if (failure_status(f, "the calls that differ", status, WRING_ERR_MISMATCH))
		judge_error(f, row, deviant);
	failure_close(f);
	if (f->failed > failed)
		fprintf(stderr, "# row %d, rank %d deviates\n", (int)(row - rows), deviant);
}

static void body(struct failure_rank *f)
{
	void *buf = calloc(2 * (BIG + 1), 4);
	size_t i;
	int deviant;

	if (!failure_expect(f, buf != NULL, "calloc"))
		return;
	f->before = usage_now();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && !f->failed; i++) {
		if (f->test->row && strcmp(f->test->row, rows[i].field) != 0)
			continue;
		for (deviant = 0; deviant < f->size && !f->failed; deviant++)
			disagree(f, &rows[i], deviant, buf);
	}
	free(buf);
}

/* In wring_alloc memory the ranks reach each other's buffers: other algorithms are in play. */
static void body_with_shared_memory(struct failure_rank *f)
{
	static const int wanted[] = {3, 5, 10, 11, 17, 20, 23, 27};
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !f->failed; i++) {
		const struct disagreement *row = &rows[wanted[i]];
		const struct step *steps = f->rank == 1 ? row->deviant : row->agreed;
		enum wring_status status;
		void *buf = NULL;

		if (!failure_open(f))
			return;
		status = wring_alloc(f->comm, 2 * (BIG + 1) * 4, &buf);
		if (failure_status(f, "alloc", status, WRING_OK)) {
			memset(buf, 0, 2 * (BIG + 1) * 4);
			status = call_all(f, steps, row->steps, buf);
			if (failure_status(f, "calls that differ", status, WRING_ERR_MISMATCH))
				f->board->values[f->rank] += 1;
			wring_free(f->comm, buf);
		}
		failure_close(f);
	}
}

static void run_field(const char *field, int ranks)
{
	struct failure_test test = {.ranks = ranks, .body = body, .row = field, .timeout_s = 120};
	char name[96];

	(void)snprintf(name, sizeof(name), "mismatch_of_%s_is_told_to_all_of_%d_ranks", field,
		       ranks);
	test.name = name;
	failure_run(&test);
}

void failure_mismatches(void)
{
	static const char *const fields[] = {"collective", "count", "datatype", "op", "root"};
	struct failure_test asleep = {
		.name = "mismatch_is_told_to_ranks_that_sleep",
		.ranks = 3,
		.body = body,
		.settings = "wait=event",
		.row = "root",
	};
	struct failure_test two_slots = {
		.name = "mismatch_is_told_with_two_slots",
		.ranks = 3,
		.body = body,
		.settings = "slots=2 segment_bytes=1024 eager_bytes=0",
		.row = "count",
	};
	struct failure_test shared = {
		.name = "mismatch_in_wring_alloc_memory_is_told_to_all",
		.ranks = 3,
		.body = body_with_shared_memory,
	};
	size_t i;
	int ranks;

	for (ranks = 2; ranks <= 4; ranks++)
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			run_field(fields[i], ranks);
	failure_run(&asleep);
	failure_run(&two_slots);
	failure_run(&shared);
}
