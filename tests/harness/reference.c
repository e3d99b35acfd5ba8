/* reference.c: the serial allreduce, written as naively as possible and without the library. */
/* SPDX-License-Identifier: MIT */
#include "tests/harness/reference.h"

#include <math.h>
#include <string.h>

size_t reference_datatype_size(enum wring_datatype datatype)
{
	static const size_t sizes[] = {
		[WRING_INT8] = 1,    [WRING_UINT8] = 1,	  [WRING_INT32] = 4,   [WRING_UINT32] = 4,
		[WRING_INT64] = 8,   [WRING_UINT64] = 8,  [WRING_FLOAT16] = 2, [WRING_BFLOAT16] = 2,
		[WRING_FLOAT32] = 4, [WRING_FLOAT64] = 8,
	};

	return sizes[datatype];
}

/* A float of 16 bits with this many mantissa bits, by its definition. */
static double decode(uint16_t half, int mantissa_bits)
{
	int exponent_max = (1 << (15 - mantissa_bits)) - 1;
	int bias = exponent_max / 2;
	int exponent = (half & 0x7fff) >> mantissa_bits;
	int mantissa = half & ((1 << mantissa_bits) - 1);
	double sign = half & 0x8000 ? -1 : 1;

	if (exponent == exponent_max)
		return mantissa ? (double)NAN : sign * (double)INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
	return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/* The reverse, in units of the last place of the value's own exponent; rint: ties to even. */
static uint16_t encode(double value, int mantissa_bits)
{
	int exponent_max = (1 << (15 - mantissa_bits)) - 1;
	int bias = exponent_max / 2;
	int infinity = exponent_max << mantissa_bits;
	int sign = signbit(value) ? 0x8000 : 0;
	int exponent;
	int units;

	if (isnan(value))
		return (uint16_t)(infinity | 1 << (mantissa_bits - 1));
	if (fabs(value) >= ldexp(1, bias + 1))
		return (uint16_t)(sign | infinity);
	exponent = value == 0 ? 1 - bias : ilogb(value);
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	units = (int)rint(ldexp(fabs(value), mantissa_bits - exponent));
	return (uint16_t)(sign | (((exponent + bias - 1) << mantissa_bits) + units));
}

double reference_from_float16(uint16_t half)
{
	return decode(half, 10);
}

double reference_from_bfloat16(uint16_t half)
{
	return decode(half, 7);
}

uint16_t reference_to_float16(double value)
{
	return encode(value, 10);
}

uint16_t reference_to_bfloat16(double value)
{
	return encode(value, 7);
}

static double load_real(const void *from, enum wring_datatype datatype)
{
	uint16_t half;
	float single;
	double real;

	if (datatype == WRING_FLOAT64) {
		memcpy(&real, from, sizeof(real));
		return real;
	}
	if (datatype == WRING_FLOAT32) {
		memcpy(&single, from, sizeof(single));
		return (double)single;
	}
	memcpy(&half, from, sizeof(half));
	return datatype == WRING_FLOAT16 ? decode(half, 10) : decode(half, 7);
}

static void store_real(void *to, double real, enum wring_datatype datatype)
{
	float single = (float)real;
	uint16_t half = datatype == WRING_FLOAT16 ? encode(real, 10) : encode(real, 7);

	if (isnan(real)) {
		real = (double)NAN;
		single = NAN;
	}
	if (datatype == WRING_FLOAT64)
		memcpy(to, &real, sizeof(real));
	else if (datatype == WRING_FLOAT32)
		memcpy(to, &single, sizeof(single));
	else
		memcpy(to, &half, sizeof(half));
}

/* In double for float64, in float for all others. */
static double combine_real(double acc, double x, bool in_double, enum wring_op op)
{
	if (op == WRING_MIN || op == WRING_MAX) {
		bool x_wins = op == WRING_MIN ? x < acc : x > acc;

		return isnan(x) || x_wins ? x : acc;
	}
	if (op == WRING_PROD)
		return in_double ? acc * x : (double)((float)acc * (float)x);
	return in_double ? acc + x : (double)((float)acc + (float)x);
}

/* Sign-extended if the datatype has a sign. */
static uint64_t load_integer(const void *from, enum wring_datatype datatype)
{
	int8_t small;
	int32_t middle;
	uint64_t bits = 0;

	memcpy(&bits, from, reference_datatype_size(datatype));
	memcpy(&small, from, sizeof(small));
	if (datatype == WRING_INT8)
		return (uint64_t)(int64_t)small;
	if (datatype == WRING_INT32) {
		memcpy(&middle, from, sizeof(middle));
		return (uint64_t)(int64_t)middle;
	}
	return bits;
}

static uint64_t combine_integer(uint64_t acc, uint64_t x, bool has_sign, enum wring_op op)
{
	bool less = has_sign ? (int64_t)x < (int64_t)acc : x < acc;

	if (op == WRING_MIN)
		return less ? x : acc;
	if (op == WRING_MAX)
		return less ? acc : x;
	return op == WRING_PROD ? acc * x : acc + x;
}

static bool is_real(enum wring_datatype datatype)
{
	return datatype >= WRING_FLOAT16;
}

void reference_combine(void *acc, const void *x, enum wring_datatype datatype, enum wring_op op)
{
	bool has_sign =
		datatype == WRING_INT8 || datatype == WRING_INT32 || datatype == WRING_INT64;
	uint64_t bits;

	if (is_real(datatype)) {
		store_real(acc,
			   combine_real(load_real(acc, datatype), load_real(x, datatype),
					datatype == WRING_FLOAT64, op),
			   datatype);
		return;
	}
	/* Truncated to the datatype, little end first. */
	bits = combine_integer(load_integer(acc, datatype), load_integer(x, datatype), has_sign,
			       op);
	memcpy(acc, &bits, reference_datatype_size(datatype));
}

static void divide(void *acc, int size, enum wring_datatype datatype)
{
	double sum = load_real(acc, datatype);
	double quotient =
		datatype == WRING_FLOAT64 ? sum / size : (double)((float)sum / (float)size);

	store_real(acc, quotient, datatype);
}

void reference_allreduce(void *out, const void *const *inputs_in_ring_order, int size, size_t count,
			 enum wring_datatype datatype, enum wring_op op)
{
	size_t len = reference_datatype_size(datatype);
	size_t line = 64 / len;
	size_t chunk = (count + (size_t)size - 1) / (size_t)size;

	chunk = (chunk + line - 1) / line * line;
	for (size_t i = 0; i < count; i++) {
		char *acc = (char *)out + i * len;
		int owner = (int)(i / chunk);
		int position = owner + 1 == size ? 0 : owner + 1;

		memcpy(acc, (const char *)inputs_in_ring_order[position] + i * len, len);
		while (position != owner) {
			position = position + 1 == size ? 0 : position + 1;
			reference_combine(acc,
					  (const char *)inputs_in_ring_order[position] + i * len,
					  datatype, op);
		}
		if (op == WRING_AVG)
			divide(acc, size, datatype);
	}
}

/* Bits that look random, from four numbers (the finaliser of splitmix64). */
static uint64_t mix(uint64_t index, int rank, unsigned seed)
{
	uint64_t bits = index * 0x9e3779b97f4a7c15u + (uint64_t)rank * 0xd1342543de82ef95u + seed;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

/*
 * Sums: -4..4, so that 64 of them stay within 256, the last integer bfloat16 can count to.
 * Products: one rank in eight has a 2, some a -1. MIN and MAX: -128..127.
 */
static int small_integer(size_t index, int rank, unsigned seed, enum wring_op op)
{
	uint64_t bits = mix(index, rank, seed);

	if (op == WRING_MIN || op == WRING_MAX)
		return (int)(bits >> 56) - 128;
	if (op == WRING_SUM || op == WRING_AVG)
		return (int)((bits >> 56) * 9 >> 8) - 4;
	if ((((size_t)rank + index + seed) & 7) == 0)
		return 2;
	return bits >> 62 == 0 ? -1 : 1;
}

/* 1 to 2, times a power of two: of up to 2^16 apart for sums, of 1/2 to 2 for products. */
static double wild_real(size_t index, int rank, unsigned seed, enum wring_op op)
{
	uint64_t bits = mix(index, rank, seed);
	double mantissa = 1 + ldexp((double)(bits >> 12), -52);
	int exponent = op == WRING_PROD ? (int)(bits & 1) - 1 : (int)(bits & 15) - 8;

	return ldexp(bits & 16 ? -mantissa : mantissa, exponent);
}

void reference_fill(void *buf, size_t count, enum wring_datatype datatype, enum wring_op op,
		    int rank, unsigned seed, bool integer_valued)
{
	size_t len = reference_datatype_size(datatype);

	for (size_t i = 0; i < count; i++) {
		char *to = (char *)buf + i * len;
		int small = small_integer(i, rank, seed, op);
		uint64_t bits = integer_valued ? (uint64_t)(int64_t)small : mix(i, rank, seed);

		if (is_real(datatype))
			store_real(to, integer_valued ? small : wild_real(i, rank, seed, op),
				   datatype);
		else
			memcpy(to, &bits, len);
	}
}
