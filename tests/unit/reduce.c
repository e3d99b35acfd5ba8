/* reduce.c: proves the reduction kernels and the 16-bit floats against the reference. */
/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "coll/ring.h"
#include "coll/reduce/float16.h"
#include "coll/reduce/reduce.h"
#include "tests/harness/reference.h"

#define DATATYPES (WRING_FLOAT64 + 1)
#define OPS	  (WRING_AVG + 1)

/* More elements than the longest vector has, several times over, and an odd rest. */
#define COUNT_MAX 130
#define LEN_MAX	  (COUNT_MAX * 8)

/* Room for a misaligned vector, and bytes on both sides that nobody may write. */
struct room {
	unsigned char bytes[LEN_MAX + 64];
};

/* Any bits at all: of 16-bit floats many, of all floats the first ones, are NaN or infinite. */
static void fill_any_bits(void *buf, size_t count, enum wring_datatype datatype, int rank)
{
	static const float special[] = {0.0f, -0.0f, NAN, -NAN, INFINITY, -INFINITY, 1e-40f};
	size_t len = reference_datatype_size(datatype);

	reference_fill(buf, count * len, WRING_UINT8, WRING_SUM, rank, 7, false);
	for (size_t i = 0; i < count && datatype >= WRING_FLOAT32; i++) {
		float single = special[(i * 3 + (size_t)rank * 5) / 2 % 7];
		double real = (double)single;

		if (i & 1)
			memcpy((char *)buf + i * len,
			       len == sizeof(single) ? (void *)&single : (void *)&real, len);
	}
}

static void expect(void *out, const void *acc, const void *x, size_t count,
		   enum wring_datatype datatype, enum wring_op op)
{
	size_t len = reference_datatype_size(datatype);

	memcpy(out, acc, count * len);
	for (size_t i = 0; i < count; i++)
		reference_combine((char *)out + i * len, (const char *)x + i * len, datatype, op);
}

static void for_each_kernel(void (*check)(enum wring_datatype datatype, enum wring_op op))
{
	for (int datatype = 0; datatype < DATATYPES; datatype++)
		for (int op = 0; op < OPS; op++)
			check((enum wring_datatype)datatype, (enum wring_op)op);
}

/* Every buffer begins at another byte. */
static void check_misaligned(enum wring_datatype datatype, enum wring_op op)
{
	struct room dst, acc, x, wanted;

	for (size_t count = 0; count <= COUNT_MAX; count++) {
		size_t shift = count & 15;
		size_t len = count * reference_datatype_size(datatype);

		fill_any_bits(acc.bytes + shift, count, datatype, 0);
		fill_any_bits(x.bytes + shift + 1, count, datatype, 1);
		memset(&dst, 0xa5, sizeof(dst));
		memset(&wanted, 0xa5, sizeof(wanted));
		expect(wanted.bytes + 7, acc.bytes + shift, x.bytes + shift + 1, count, datatype,
		       op);
		reduce(dst.bytes + 7, acc.bytes + shift, x.bytes + shift + 1, count, datatype, op);
		assert_memory_equal(&dst, &wanted, 7 + len + 32);
	}
}

static void every_kernel_equals_the_reference_at_every_count_and_alignment(void **state)
{
	(void)state;
	for_each_kernel(check_misaligned);
}

static void check_in_place(enum wring_datatype datatype, enum wring_op op)
{
	struct room acc, x, same, wanted;

	for (size_t count = 0; count <= COUNT_MAX; count++) {
		size_t len = count * reference_datatype_size(datatype);

		fill_any_bits(&acc, count, datatype, 2);
		fill_any_bits(&x, count, datatype, 3);
		expect(&wanted, &acc, &x, count, datatype, op);

		memcpy(&same, &acc, sizeof(same));
		reduce(&same, &same, &x, count, datatype, op);
		assert_memory_equal(&same, &wanted, len);
		memcpy(&same, &x, sizeof(same));
		reduce(&same, &acc, &same, count, datatype, op);
		assert_memory_equal(&same, &wanted, len);
	}
}

static void reduce_may_write_over_either_input(void **state)
{
	(void)state;
	for_each_kernel(check_in_place);
}

/* Into two other buffers, over the inputs, and over the inputs the other way around. */
static void check_two(enum wring_datatype datatype, enum wring_op op)
{
	enum { COUNT = 5001 };
	static uint64_t acc[COUNT], x[COUNT], out[2][COUNT], wanted[COUNT];
	size_t len = COUNT * reference_datatype_size(datatype);

	fill_any_bits(acc, COUNT, datatype, 4);
	fill_any_bits(x, COUNT, datatype, 5);
	expect(wanted, acc, x, COUNT, datatype, op);
	for (int in_place = 0; in_place < 3; in_place++) {
		const void *left = in_place ? out[0] : acc;
		const void *right = in_place ? out[1] : x;
		void *dst = in_place == 2 ? out[1] : out[0];
		void *dst2 = in_place == 2 ? out[0] : out[1];

		memcpy(out[0], acc, len);
		memcpy(out[1], x, len);
		reduce_two(dst, dst2, left, right, COUNT, datatype, op);
		assert_memory_equal(out[0], wanted, len);
		assert_memory_equal(out[1], wanted, len);
	}
}

static void reduce_two_writes_both_destinations_and_may_write_over_inputs(void **state)
{
	(void)state;
	for_each_kernel(check_two);
}

static void reduce_of_nothing_touches_nothing(void **state)
{
	(void)state;
	reduce(NULL, NULL, NULL, 0, WRING_FLOAT32, WRING_SUM);
	reduce_two(NULL, NULL, NULL, NULL, 0, WRING_INT8, WRING_MAX);
	reduce_scale(NULL, 0, WRING_FLOAT16, 3);
}

/* Spread over a whole vector, so that the vectorised and the single elements both must obey. */
static void check_float32(float acc, float x, enum wring_op op, uint32_t wanted)
{
	float left[37], right[37];
	uint32_t bits[37];

	for (size_t i = 0; i < 37; i++) {
		left[i] = acc;
		right[i] = x;
	}
	reduce(bits, left, right, 37, WRING_FLOAT32, op);
	for (size_t i = 0; i < 37; i++)
		assert_int_equal(bits[i], wanted);
}

static void a_nan_on_either_side_gives_the_one_nan(void **state)
{
	const uint32_t nan = 0x7fc00000;
	float signalling = float_from_bits(0xff812345);
	float quiet = float_from_bits(0xffc54321);

	(void)state;
	for (int op = 0; op < OPS; op++) {
		check_float32(signalling, 1.0f, (enum wring_op)op, nan);
		check_float32(1.0f, signalling, (enum wring_op)op, nan);
		check_float32(quiet, signalling, (enum wring_op)op, nan);
		check_float32(signalling, quiet, (enum wring_op)op, nan);
	}
	check_float32(INFINITY, -INFINITY, WRING_SUM, nan);
	check_float32(INFINITY, 0.0f, WRING_PROD, nan);
}

static void min_and_max_of_zeros_keep_the_accumulator(void **state)
{
	(void)state;
	check_float32(0.0f, -0.0f, WRING_MIN, 0x00000000);
	check_float32(-0.0f, 0.0f, WRING_MIN, 0x80000000);
	check_float32(0.0f, -0.0f, WRING_MAX, 0x00000000);
	check_float32(-0.0f, 0.0f, WRING_MAX, 0x80000000);
}

static void signed_integers_wrap_around(void **state)
{
	int8_t small = INT8_MAX, small_wanted = INT8_MIN;
	int32_t middle = INT32_MAX, middle_wanted = 1;
	int64_t large = INT64_MIN, large_wanted = INT64_MAX;
	const int64_t minus_one = -1;
	const int8_t one = 1;

	(void)state;
	reduce(&small, &small, &one, 1, WRING_INT8, WRING_SUM);
	assert_int_equal(small, small_wanted);
	reduce(&middle, &middle, &middle, 1, WRING_INT32, WRING_PROD);
	assert_int_equal(middle, middle_wanted);
	reduce(&large, &large, &minus_one, 1, WRING_INT64, WRING_SUM);
	assert_true(large == large_wanted);
}

static void integers_compare_with_their_own_sign(void **state)
{
	const int32_t minus_one = -1, one = 1;
	int32_t result;

	(void)state;
	reduce(&result, &minus_one, &one, 1, WRING_INT32, WRING_MIN);
	assert_int_equal(result, -1);
	reduce(&result, &minus_one, &one, 1, WRING_UINT32, WRING_MIN);
	assert_int_equal(result, 1);
}

static void every_16_bit_pattern_converts_to_its_value_and_back(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits <= 0xffff; bits++) {
		uint16_t half = (uint16_t)bits;
		double value = reference_from_float16(half);
		double brain = reference_from_bfloat16(half);

		if (isnan(value)) {
			assert_true(isnan(float_from_float16(half)));
			half = 0x7e00;
		} else {
			assert_true((double)float_from_float16(half) == value);
		}
		assert_int_equal(float16_from_float(float_from_float16((uint16_t)bits)), half);

		half = (uint16_t)bits;
		if (isnan(brain)) {
			assert_true(isnan(float_from_bfloat16(half)));
			half = 0x7fc0;
		} else {
			assert_true((double)float_from_bfloat16(half) == brain);
		}
		assert_int_equal(bfloat16_from_float(float_from_bfloat16((uint16_t)bits)), half);
	}
}

/* Halfway between a 16-bit float and the next, and one float to either side of halfway. */
static void check_rounding(uint32_t halfway)
{
	for (uint32_t bits = halfway - 1; bits <= halfway + 1; bits++) {
		float value = float_from_bits(bits);

		assert_int_equal(float16_from_float(value), reference_to_float16((double)value));
		assert_int_equal(float16_from_float(-value), reference_to_float16((double)-value));
		assert_int_equal(bfloat16_from_float(value), reference_to_bfloat16((double)value));
	}
}

static void rounding_goes_to_nearest_and_ties_go_to_even(void **state)
{
	(void)state;
	for (uint32_t half = 0; half < 0x7c00; half++) {
		float low = float_from_float16((uint16_t)half);
		float high = half == 0x7bff ? 65536.0f : float_from_float16((uint16_t)(half + 1));

		check_rounding(bits_from_float((low + high) / 2));
	}
	for (uint32_t brain = 0; brain < 0x7f80; brain++)
		check_rounding(brain << 16 | 0x8000);
	assert_int_equal(float16_from_float(65519.0f), 0x7bff);
	assert_int_equal(float16_from_float(65520.0f), 0x7c00);
	assert_int_equal(float16_from_float(float_from_bits(1)), 0);
	assert_int_equal(bfloat16_from_float(1.00390625f), 0x3f80);
	assert_int_equal(bfloat16_from_float(1.01171875f), 0x3f82);
}

static void check_all_patterns(enum wring_datatype datatype, enum wring_op op)
{
	static const uint16_t partners[] = {0x0000, 0x8001, 0x03ff, 0x1400, 0x3c01, 0xbc00,
					    0x7bff, 0xfc00, 0x7c01, 0x7f80, 0x3f81, 0x0080};
	static uint16_t acc[65536], x[65536], dst[65536], wanted[65536];

	for (size_t partner = 0; partner < sizeof(partners) / sizeof(partners[0]); partner++) {
		for (size_t i = 0; i < 65536; i++) {
			acc[i] = (uint16_t)i;
			x[i] = partners[partner];
		}
		expect(wanted, acc, x, 65536, datatype, op);
		reduce(dst, acc, x, 65536, datatype, op);
		assert_memory_equal(dst, wanted, sizeof(dst));
		expect(wanted, x, acc, 65536, datatype, op);
		reduce(dst, x, acc, 65536, datatype, op);
		assert_memory_equal(dst, wanted, sizeof(dst));
	}
}

static void every_16_bit_pattern_reduces_as_the_reference_does(void **state)
{
	(void)state;
	for (int op = 0; op < OPS; op++) {
		check_all_patterns(WRING_FLOAT16, (enum wring_op)op);
		check_all_patterns(WRING_BFLOAT16, (enum wring_op)op);
	}
}

/* The reference divides only after a sum: of the vector and zeros, so -0 is left out. */
static void check_scale(enum wring_datatype datatype, int size)
{
	struct room values, zeros, out;
	const void *inputs[64];

	memset(&zeros, 0, sizeof(zeros));
	reference_fill(&values, COUNT_MAX, datatype, WRING_AVG, 6, 1, false);
	for (int position = 0; position < size; position++)
		inputs[position] = position == 0 ? &values : &zeros;
	reference_allreduce(&out, inputs, size, COUNT_MAX, datatype, WRING_AVG);
	reduce_scale(&values, COUNT_MAX, datatype, size);
	assert_memory_equal(&values, &out, COUNT_MAX * reference_datatype_size(datatype));
}

static void scale_divides_as_the_reference_does(void **state)
{
	(void)state;
	for (int size = 1; size <= 64; size++) {
		check_scale(WRING_FLOAT16, size);
		check_scale(WRING_BFLOAT16, size);
		check_scale(WRING_FLOAT32, size);
		check_scale(WRING_FLOAT64, size);
	}
}

static void scale_leaves_integers_alone(void **state)
{
	struct room values, same;

	(void)state;
	fill_any_bits(&values, sizeof(values), WRING_UINT8, 10);
	same = values;
	for (int datatype = 0; datatype < WRING_FLOAT16; datatype++)
		reduce_scale(&values, COUNT_MAX, (enum wring_datatype)datatype, 3);
	assert_memory_equal(&values, &same, sizeof(values));
}

/* Reducing chunk by chunk, in the order of the header, with the kernels. */
static void check_allreduce(enum wring_datatype datatype, enum wring_op op)
{
	enum { SIZE = 5, COUNT = 333 };
	static uint64_t inputs[SIZE][COUNT], out[COUNT], wanted[COUNT];
	const void *in_order[SIZE];
	size_t len = reference_datatype_size(datatype);

	for (int rank = 0; rank < SIZE; rank++) {
		reference_fill(inputs[rank], COUNT, datatype, op, rank, 3, false);
		in_order[rank] = inputs[rank];
	}
	reference_allreduce(wanted, in_order, SIZE, COUNT, datatype, op);
	for (int owner = 0; owner < SIZE; owner++) {
		struct slice chunk = chunk_slice(COUNT, len, SIZE, owner);
		int from = ring_next(owner, SIZE);
		char *acc = (char *)out + chunk.offset * len;

		memcpy(acc, (char *)inputs[from] + chunk.offset * len, chunk.count * len);
		while (from != owner) {
			from = ring_next(from, SIZE);
			reduce(acc, acc, (char *)inputs[from] + chunk.offset * len, chunk.count,
			       datatype, op);
		}
		if (op == WRING_AVG)
			reduce_scale(acc, chunk.count, datatype, SIZE);
	}
	assert_memory_equal(out, wanted, COUNT * len);
}

static void chunks_reduced_in_ring_order_equal_the_reference_allreduce(void **state)
{
	(void)state;
	for (int datatype = 0; datatype < DATATYPES; datatype++)
		for (int op = 0; op < OPS; op++)
			if (op != WRING_AVG || datatype >= WRING_FLOAT16)
				check_allreduce((enum wring_datatype)datatype, (enum wring_op)op);
}

/* Whatever is chosen, the bits are the same. */
static void plain_kernels_equal_the_reference_as_well(void **state)
{
	reduce_use_plain(true);
	for_each_kernel(check_misaligned);
	a_nan_on_either_side_gives_the_one_nan(state);
	min_and_max_of_zeros_keep_the_accumulator(state);
	scale_divides_as_the_reference_does(state);
	reduce_use_plain(false);
}

static void the_kernels_that_are_chosen_equal_the_reference(void **state)
{
	(void)state;
	reduce_choose();
	for_each_kernel(check_misaligned);
	reduce_use_plain(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_equals_the_reference_at_every_count_and_alignment),
		cmocka_unit_test(reduce_may_write_over_either_input),
		cmocka_unit_test(reduce_two_writes_both_destinations_and_may_write_over_inputs),
		cmocka_unit_test(reduce_of_nothing_touches_nothing),
		cmocka_unit_test(a_nan_on_either_side_gives_the_one_nan),
		cmocka_unit_test(min_and_max_of_zeros_keep_the_accumulator),
		cmocka_unit_test(signed_integers_wrap_around),
		cmocka_unit_test(integers_compare_with_their_own_sign),
		cmocka_unit_test(every_16_bit_pattern_converts_to_its_value_and_back),
		cmocka_unit_test(rounding_goes_to_nearest_and_ties_go_to_even),
		cmocka_unit_test(every_16_bit_pattern_reduces_as_the_reference_does),
		cmocka_unit_test(scale_divides_as_the_reference_does),
		cmocka_unit_test(scale_leaves_integers_alone),
		cmocka_unit_test(chunks_reduced_in_ring_order_equal_the_reference_allreduce),
		cmocka_unit_test(plain_kernels_equal_the_reference_as_well),
		cmocka_unit_test(the_kernels_that_are_chosen_equal_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
