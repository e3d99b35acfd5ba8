/* large.c: vectors too large to be kept twice: filled and verified block by block. */
#include "tests/exact/exact.h"

#include <stdlib.h>

enum { BLOCK = 65536 };

static const size_t large_count = (size_t)64 << 20;
static const size_t huge_count = ((size_t)1 << 31) + 12345;

static void verify(struct exact *x, const struct exact_call *call, const unsigned char *got)
{
	size_t size = wring_datatype_size(call->datatype);
	unsigned char *expected = malloc(BLOCK * size);

	if (!expected) {
		exact_complain(x, "no memory to verify");
		return;
	}
	for (size_t first = 0; first < call->count; first += BLOCK) {
		size_t left = call->count - first;
		size_t n = left < BLOCK ? left : BLOCK;

		exact_pattern_sum(expected, call->datatype, first, n, x->size, x->test->seed);
		exact_compare(x, call, got + first * size, expected, first, n);
	}
	free(expected);
}

/* In place, in memory that the peers reach: what a training step does with its gradients. */
static void sum_in_place(struct exact *x, const struct exact_call *call)
{
	size_t bytes = call->count * wring_datatype_size(call->datatype);
	struct exact_buffer buffer;
	unsigned char *data;
	enum wring_status status;

	if (exact_buffer_open(x, &buffer, call->kind, bytes))
		return;
	data = buffer.base + EXACT_GUARD;
	exact_guard(data, bytes);
	exact_pattern_fill(data, call->datatype, 0, call->count, x->rank, x->test->seed);
	status = wring_allreduce(x->comm, data, data, call->count, call->datatype, call->op);
	x->report.operations++;
	if (exact_ok(x, status, "allreduce of %zu %s", call->count,
		     wring_datatype_name(call->datatype))) {
		verify(x, call, data);
		if (!exact_guarded(data, bytes))
			exact_complain(x, "bytes around the buffer were changed");
	}
	exact_buffer_close(x, &buffer);
}

static void sum_large(struct exact *x, enum wring_datatype datatype, size_t count,
		      enum exact_kind kind)
{
	struct exact_call call = {
		.datatype = datatype,
		.op = WRING_SUM,
		.count = count,
		.in_place = true,
		.kind = kind,
	};

	if (!x->broken)
		sum_in_place(x, &call);
}

void exact_large_float32(struct exact *x)
{
	sum_large(x, WRING_FLOAT32, large_count, EXACT_ALLOC);
	sum_large(x, WRING_FLOAT32, large_count, EXACT_MALLOC);
}

void exact_large_float64(struct exact *x)
{
	sum_large(x, WRING_FLOAT64, large_count, EXACT_ALLOC);
}

void exact_huge(struct exact *x)
{
	sum_large(x, WRING_INT8, huge_count, EXACT_ALLOC);
}
