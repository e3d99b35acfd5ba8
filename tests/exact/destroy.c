/* destroy.c: all ranks leave at once right after their last operation, again and again. */
#include "tests/exact/exact.h"

#include <stdlib.h>

enum { TIMES = 1000, QUICK_TIMES = 60, MANY_TIMES = 3, COUNT = 3000 };

static void last_allreduce(struct exact *x, unsigned int turn)
{
	static const size_t counts[] = {0, 1, 100, COUNT};
	struct exact_call call = {.datatype = WRING_FLOAT32, .count = counts[turn / 3 % 4]};
	float got[COUNT], expected[COUNT];
	enum wring_status status;

	exact_pattern_fill(got, WRING_FLOAT32, 0, call.count, x->rank, turn);
	exact_pattern_sum(expected, WRING_FLOAT32, 0, call.count, x->size, turn);
	status = wring_allreduce(x->comm, got, got, call.count, WRING_FLOAT32, WRING_SUM);
	if (exact_ok(x, status, "allreduce before destroy %u", turn))
		exact_compare(x, &call, got, expected, 0, call.count);
}

static void last_broadcast(struct exact *x, unsigned int turn)
{
	int root = (int)(turn / 3) % x->size;
	struct exact_call call = {.datatype = WRING_INT8, .count = turn % COUNT, .root = root};
	unsigned char got[COUNT] = {0}, expected[COUNT];
	enum wring_status status;

	exact_pattern_bytes(expected, call.count, turn);
	if (x->rank == root)
		exact_pattern_bytes(got, call.count, turn);
	status = wring_broadcast(x->comm, got, call.count, WRING_INT8, root);
	if (exact_ok(x, status, "broadcast before destroy %u", turn))
		exact_compare(x, &call, got, expected, 0, call.count);
}

static void leave_after_one(struct exact *x, unsigned int turn)
{
	if (exact_open(x, &x->test->settings))
		return;
	if (turn % 3 == 0)
		last_allreduce(x, turn);
	else if (turn % 3 == 1)
		last_broadcast(x, turn);
	else
		(void)exact_ok(x, wring_barrier(x->comm), "barrier before destroy %u", turn);
	x->report.operations++;
	exact_close(x);
}

void exact_destroy(struct exact *x)
{
	unsigned int times = x->test->quick ? QUICK_TIMES : TIMES;

	if (x->size > 8)
		times = MANY_TIMES;
	for (unsigned int turn = 0; turn < times && !x->broken; turn++)
		leave_after_one(x, turn);
	if (x->warnings > 0)
		exact_complain(x, "%d warnings in a healthy run", x->warnings);
}
