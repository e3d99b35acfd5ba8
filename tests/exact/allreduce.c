/* allreduce.c: all-reduce at every small count, every combination, and pairwise above. */
#include "tests/exact/exact.h"

#include <stdlib.h>

enum { SMALL = 4096, SEEDS_APART = 1000 };

/* Float32 sum at count, in place or not, in one kind of buffer. */
static void sum_float32(struct exact *x, const struct exact_buffers *buffers, size_t count,
			bool in_place, float *input, float *expected)
{
	unsigned int salt = x->test->seed + (unsigned int)count;
	struct exact_call call = {
		.datatype = WRING_FLOAT32,
		.op = WRING_SUM,
		.count = count,
		.in_place = in_place,
		.kind = (enum exact_kind)((count + in_place) % EXACT_KINDS),
		.variant = (unsigned int)count,
	};

	exact_pattern_fill(input, WRING_FLOAT32, 0, count, x->rank, salt);
	exact_pattern_sum(expected, WRING_FLOAT32, 0, count, x->size, salt);
	exact_allreduce(x, buffers, &call, input, expected);
}

void exact_counts(struct exact *x)
{
	float *input = malloc((SMALL + 1) * sizeof(float));
	float *expected = malloc((SMALL + 1) * sizeof(float));
	size_t step = x->test->quick ? 3 : 1;
	struct exact_buffers buffers;

	if (input && expected && exact_buffers_open(x, &buffers, SMALL * sizeof(float)) == 0) {
		for (size_t count = 0; count <= SMALL && !x->broken; count += step) {
			sum_float32(x, &buffers, count, true, input, expected);
			if (!x->broken)
				sum_float32(x, &buffers, count, false, input, expected);
		}
		exact_buffers_close(x, &buffers);
	}
	free(input);
	free(expected);
}

/* Both places and all kinds for what call says already. */
static void all_places_and_kinds(struct exact *x, const struct exact_buffers *buffers,
				 const struct exact_inputs *inputs, struct exact_call call)
{
	for (int k = 0; k < EXACT_KINDS && !x->broken; k++) {
		call.kind = (enum exact_kind)k;
		for (int in_place = 0; in_place < 2 && !x->broken; in_place++) {
			call.in_place = in_place;
			call.variant++;
			exact_allreduce(x, buffers, &call, inputs->of_rank[x->rank],
					inputs->expected);
		}
	}
}

static void one_product(struct exact *x, const struct exact_buffers *buffers,
			struct exact_inputs *inputs, struct exact_call call)
{
	static const size_t counts[] = {0,    1,    2,	  3,	7,    8,    15,	  16,	17,
					31,   32,   33,	  63,	64,   65,   100,  127,	128,
					129,  255,  256,  257,	511,  513,  777,  999,	1000,
					1023, 1024, 1025, 2047, 2049, 3000, 3333, 4095, 4096};
	size_t n = sizeof(counts) / sizeof(counts[0]);
	size_t step = x->test->quick ? 4 : 1;

	exact_inputs_fill(x, inputs, SMALL, &call, true, x->test->seed);
	for (size_t i = (size_t)call.op % step; i < n && !x->broken; i += step) {
		call.count = counts[i];
		call.variant = (unsigned int)i;
		exact_inputs_expect(x, inputs, &call);
		all_places_and_kinds(x, buffers, inputs, call);
	}
}

void exact_product(struct exact *x)
{
	struct exact_inputs inputs;
	struct exact_buffers buffers;

	if (exact_inputs_open(&inputs, x->size, SMALL)) {
		exact_complain(x, "no memory for inputs");
		return;
	}
	if (exact_buffers_open(x, &buffers, SMALL * sizeof(double)) == 0) {
		for (int i = 0; i < EXACT_DATATYPES * EXACT_OPS && !x->broken; i++) {
			struct exact_call call = {
				.datatype = (enum wring_datatype)(i / EXACT_OPS),
				.op = (enum wring_op)(i % EXACT_OPS),
			};

			if (exact_exists(call.datatype, call.op))
				one_product(x, &buffers, &inputs, call);
		}
		exact_buffers_close(x, &buffers);
	}
	exact_inputs_close(&inputs, x->size);
}

/* The factors of the pairwise suite: any two levels of any two factors meet in some call. */
enum { DATATYPE, OP, COUNT, PLACE, KIND, FACTORS };
enum { LEVELS = 10, TRIES = 40 };

static const int levels[FACTORS] = {EXACT_DATATYPES, EXACT_OPS, LEVELS, 2, EXACT_KINDS};

struct covered {
	bool pair[FACTORS][FACTORS][LEVELS][LEVELS];
	int missing;
};

static bool row_exists(const int row[FACTORS])
{
	return exact_exists((enum wring_datatype)row[DATATYPE], (enum wring_op)row[OP]);
}

static void begin_cover(struct covered *covered)
{
	*covered = (struct covered){0};
	for (int a = 0; a < FACTORS; a++) {
		for (int b = a + 1; b < FACTORS; b++)
			covered->missing += levels[a] * levels[b];
	}
	for (int datatype = 0; datatype < EXACT_DATATYPES; datatype++) {
		if (exact_exists((enum wring_datatype)datatype, WRING_AVG))
			continue;
		covered->pair[DATATYPE][OP][datatype][WRING_AVG] = true;
		covered->missing--;
	}
}

static int count_new_pairs(const struct covered *covered, const int row[FACTORS])
{
	int n = 0;

	for (int a = 0; a < FACTORS; a++) {
		for (int b = a + 1; b < FACTORS; b++)
			n += !covered->pair[a][b][row[a]][row[b]];
	}
	return n;
}

static void cover(struct covered *covered, const int row[FACTORS])
{
	covered->missing -= count_new_pairs(covered, row);
	for (int a = 0; a < FACTORS; a++) {
		for (int b = a + 1; b < FACTORS; b++)
			covered->pair[a][b][row[a]][row[b]] = true;
	}
}

/* The best of some random rows; the same on every rank. */
static void choose_row(const struct covered *covered, struct exact_random *random,
		       int best[FACTORS])
{
	int most = -1;

	for (int i = 0; i < TRIES; i++) {
		int row[FACTORS], n;

		for (int f = 0; f < FACTORS; f++)
			row[f] = (int)exact_random_below(random, (uint32_t)levels[f]);
		n = row_exists(row) ? count_new_pairs(covered, row) : -1;
		if (n <= most)
			continue;
		most = n;
		for (int f = 0; f < FACTORS; f++)
			best[f] = row[f];
	}
}

static void run_row(struct exact *x, const struct exact_buffers *buffers,
		    struct exact_inputs *inputs, const int row[FACTORS], const size_t *counts)
{
	unsigned int seed = x->test->seed + SEEDS_APART;
	struct exact_call call = {
		.datatype = (enum wring_datatype)row[DATATYPE],
		.op = (enum wring_op)row[OP],
		.count = counts[row[COUNT]],
		.in_place = row[PLACE] == 1,
		.kind = (enum exact_kind)row[KIND],
		.variant = (unsigned int)(row[DATATYPE] + row[COUNT]),
	};

	exact_inputs_fill(x, inputs, call.count, &call, true, seed + (unsigned int)row[COUNT]);
	exact_inputs_expect(x, inputs, &call);
	exact_allreduce(x, buffers, &call, inputs->of_rank[x->rank], inputs->expected);
}

void exact_pairwise(struct exact *x)
{
	static const size_t full[LEVELS] = {4097,  5003,   8191,   16384,   32769,
					    65537, 131071, 262145, 1048577, 4194301};
	static const size_t quick[LEVELS] = {4097,  4999,  5003,  8191,	 8193,
					     12345, 16384, 16385, 32769, 65537};
	const size_t *counts = x->test->quick ? quick : full;
	size_t most = counts[LEVELS - 1];
	struct exact_random random = {x->test->seed};
	struct exact_inputs inputs;
	struct exact_buffers buffers;
	struct covered covered;
	int row[FACTORS] = {0};

	if (exact_inputs_open(&inputs, x->size, most)) {
		exact_complain(x, "no memory for inputs");
		return;
	}
	if (exact_buffers_open(x, &buffers, most * sizeof(double)) == 0) {
		for (begin_cover(&covered); covered.missing > 0 && !x->broken;) {
			choose_row(&covered, &random, row);
			if (count_new_pairs(&covered, row) == 0)
				continue;
			cover(&covered, row);
			run_row(x, &buffers, &inputs, row, counts);
		}
		exact_buffers_close(x, &buffers);
	}
	exact_inputs_close(&inputs, x->size);
}
