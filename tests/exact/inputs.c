/* inputs.c: every rank knows all ranks' inputs, so each can compute the result by itself. */
#include "tests/exact/exact.h"

#include "tests/harness/reference.h"

#include <stdlib.h>

enum { WIDEST = 8 };

bool exact_is_float(enum wring_datatype datatype)
{
	return datatype >= WRING_FLOAT16;
}

bool exact_exists(enum wring_datatype datatype, enum wring_op op)
{
	return op != WRING_AVG || exact_is_float(datatype);
}

int exact_inputs_open(struct exact_inputs *inputs, int size, size_t count)
{
	*inputs = (struct exact_inputs){.count = count};
	inputs->expected = malloc((count + 1) * WIDEST);
	for (int r = 0; r < size; r++) {
		inputs->of_rank[r] = malloc((count + 1) * WIDEST);
		if (!inputs->of_rank[r] || !inputs->expected) {
			exact_inputs_close(inputs, size);
			return -1;
		}
	}
	return 0;
}

void exact_inputs_close(struct exact_inputs *inputs, int size)
{
	for (int r = 0; r < size; r++)
		free(inputs->of_rank[r]);
	free(inputs->expected);
	*inputs = (struct exact_inputs){0};
}

void exact_inputs_fill(struct exact *x, struct exact_inputs *inputs, size_t count,
		       const struct exact_call *call, bool integer_valued, unsigned int seed)
{
	for (int r = 0; r < x->size; r++)
		reference_fill(inputs->of_rank[r], count, call->datatype, call->op, r, seed,
			       integer_valued);
}

void exact_inputs_expect(struct exact *x, struct exact_inputs *inputs,
			 const struct exact_call *call)
{
	const void *in_ring_order[RANKS_MAX];

	for (int p = 0; p < x->size; p++)
		in_ring_order[p] = inputs->of_rank[x->order[p]];
	reference_allreduce(inputs->expected, in_ring_order, x->size, call->count, call->datatype,
			    call->op);
}
