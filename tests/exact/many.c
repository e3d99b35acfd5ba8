/* many.c: a little of everything for so many ranks that a full spread would take too long. */
#include "tests/exact/exact.h"

#include <stdlib.h>

enum { MOST = 100003 };

static void reduce_some(struct exact *x, const struct exact_buffers *buffers,
			struct exact_inputs *inputs, size_t count, unsigned int turn)
{
	for (unsigned int i = turn; i < turn + 3 && !x->broken; i++) {
		struct exact_call call = {
			.datatype = (enum wring_datatype)(i * 3 % EXACT_DATATYPES),
			.op = (enum wring_op)(i % 4),
			.count = count,
			.in_place = i & 1,
			.kind = (enum exact_kind)(i % EXACT_KINDS),
			.variant = i,
		};

		exact_inputs_fill(x, inputs, count, &call, true, x->test->seed + i);
		exact_inputs_expect(x, inputs, &call);
		exact_allreduce(x, buffers, &call, inputs->of_rank[x->rank], inputs->expected);
	}
}

static void broadcast_some(struct exact *x, const struct exact_buffers *buffers,
			   unsigned char *bytes, size_t count, unsigned int turn)
{
	struct exact_call call = {
		.datatype = WRING_INT8,
		.count = count,
		.root = (int)(turn * 5) % x->size,
		.kind = (enum exact_kind)(turn % EXACT_KINDS),
		.variant = turn,
	};

	if (x->broken)
		return;
	exact_pattern_bytes(bytes, count, x->test->seed + turn);
	exact_broadcast(x, buffers, &call, bytes);
	if (!x->broken)
		(void)exact_ok(x, wring_barrier(x->comm), "barrier %u", turn);
}

void exact_many(struct exact *x)
{
	static const size_t counts[] = {0, 1, 5, 63, 64, 1000, 1025, 4096, 9973, 30000, MOST};
	const unsigned int n = sizeof(counts) / sizeof(counts[0]);
	unsigned char *bytes = malloc(MOST);
	struct exact_inputs inputs;
	struct exact_buffers buffers;

	if (!bytes || exact_inputs_open(&inputs, x->size, MOST)) {
		exact_complain(x, "no memory for inputs");
		free(bytes);
		return;
	}
	if (exact_buffers_open(x, &buffers, MOST * sizeof(double)) == 0) {
		for (unsigned int i = 0; i < n && !x->broken; i++) {
			reduce_some(x, &buffers, &inputs, counts[i], i * 3);
			broadcast_some(x, &buffers, bytes, counts[i], i);
		}
		exact_buffers_close(x, &buffers);
	}
	exact_inputs_close(&inputs, x->size);
	free(bytes);
}
