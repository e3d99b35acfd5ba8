/* random.c: inputs of widely different magnitudes: the order of the sum shows in the bits. */
#include "tests/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200001 };

static void compare_with_reference(struct exact *x, const struct exact_buffers *buffers,
				   struct exact_inputs *inputs, const struct exact_call *call)
{
	exact_inputs_fill(x, inputs, call->count, call, false,
			  x->test->seed + (unsigned int)call->count);
	exact_inputs_expect(x, inputs, call);
	exact_allreduce(x, buffers, call, inputs->of_rank[x->rank], inputs->expected);
}

static struct exact_call make_call(unsigned int i, enum wring_datatype datatype, enum wring_op op,
				   size_t count)
{
	return (struct exact_call){
		.datatype = datatype,
		.op = op,
		.count = count,
		.in_place = i & 1,
		.kind = (enum exact_kind)(i / 2 % EXACT_KINDS),
		.variant = i,
	};
}

/* Every datatype with every op at a few counts. */
void exact_random_inputs(struct exact *x)
{
	static const size_t counts[] = {1, 17, 64, 1000, 4099, 33333, MOST};
	size_t n = sizeof(counts) / sizeof(counts[0]) - (x->test->quick ? 1 : 0);
	struct exact_inputs inputs;
	struct exact_buffers buffers;
	unsigned int i = 0;

	if (exact_inputs_open(&inputs, x->size, MOST)) {
		exact_complain(x, "no memory for inputs");
		return;
	}
	if (exact_buffers_open(x, &buffers, MOST * sizeof(double)) == 0) {
		for (; i < n * EXACT_DATATYPES * EXACT_OPS && !x->broken; i++) {
			enum wring_op op = (enum wring_op)(i % EXACT_OPS);
			enum wring_datatype datatype =
				(enum wring_datatype)(i / EXACT_OPS % EXACT_DATATYPES);
			size_t count = counts[i / (EXACT_DATATYPES * EXACT_OPS)];
			struct exact_call call = make_call(i + i / EXACT_OPS, datatype, op, count);

			if (exact_exists(datatype, op))
				compare_with_reference(x, &buffers, &inputs, &call);
		}
		exact_buffers_close(x, &buffers);
	}
	exact_inputs_close(&inputs, x->size);
}

static void few_calls(struct exact *x, unsigned int turn)
{
	static const size_t counts[] = {5, 500, 4099, 33333};
	const size_t n = sizeof(counts) / sizeof(counts[0]);
	struct exact_inputs inputs;
	struct exact_buffers buffers;

	if (exact_inputs_open(&inputs, x->size, counts[n - 1])) {
		exact_complain(x, "no memory for inputs");
		return;
	}
	if (exact_buffers_open(x, &buffers, counts[n - 1] * sizeof(double)) == 0) {
		for (unsigned int i = 0; i < 2 * n && !x->broken; i++) {
			unsigned int t = turn + i;
			enum wring_datatype datatype = (enum wring_datatype)(WRING_FLOAT16 + t % 4);
			enum wring_op op = t % 3 ? WRING_SUM : (enum wring_op)(t / 3 % EXACT_OPS);
			struct exact_call call = make_call(t, datatype, op, counts[i / 2]);

			compare_with_reference(x, &buffers, &inputs, &call);
		}
		exact_buffers_close(x, &buffers);
	}
	exact_inputs_close(&inputs, x->size);
}

/* The same bits whatever the segments, slots, eager limit and ring: one communicator for each. */
void exact_random_settings(struct exact *x)
{
	static const char *const segments[] = {"1024", "4096", "65536", "1048576"};
	static const char *const slots[] = {"2", "4", "8", "16"};
	static const char *const eager[] = {"0", "-1", "65536"};
	static const char *const rings[] = {"host", "rank"};
	const unsigned int total = 4 * 4 * 3 * 2;

	for (unsigned int i = 0; i < total && !x->broken; i += x->test->quick ? 7 : 1) {
		struct exact_settings settings = x->test->settings;

		exact_set(&settings, "segment_bytes", segments[i % 4]);
		exact_set(&settings, "slots", slots[i / 4 % 4]);
		exact_set(&settings, "eager_bytes", eager[i / 16 % 3]);
		exact_set(&settings, "ring", rings[i / 48 % 2]);
		if (exact_open(x, &settings))
			return;
		few_calls(x, i);
		if (x->broken)
			fprintf(stderr, "# segment_bytes %s slots %s eager_bytes %s ring %s\n",
				segments[i % 4], slots[i / 4 % 4], eager[i / 16 % 3],
				rings[i / 48 % 2]);
		exact_close(x);
	}
}
