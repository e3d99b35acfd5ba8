/* floating.c: the kernels of float and double. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "coll/reduce/kernels.h"

/*
 * Of two NaNs a processor returns the first, but which operand comes first is the compiler's
 * choice, and inf - inf has a sign on some. So that every rank has the same bits, all are made
 * the same NaN: two instructions in loops that wait for memory.
 */

struct packed_float32 {
	float value;
} REDUCE_PACKED;

REDUCE_INLINE float only_nan_float32(float value)
{
	return isnan(value) ? NAN : value;
}

REDUCE_INLINE float combine_float32(float acc, float x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return only_nan_float32(acc + x);
	case WRING_PROD:
		return only_nan_float32(acc * x);
	case WRING_MIN:
		return isunordered(acc, x) ? NAN : x < acc ? x : acc;
	case WRING_MAX:
		return isunordered(acc, x) ? NAN : x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE void each_float32(void *dst, const void *acc, const void *x, size_t count,
				enum wring_op op)
{
	struct packed_float32 *to = dst;
	const struct packed_float32 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_float32(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_float32(void *dst, const void *acc, const void *x, size_t count)
{
	each_float32(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_float32(void *dst, const void *acc, const void *x, size_t count)
{
	each_float32(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_float32(void *dst, const void *acc, const void *x, size_t count)
{
	each_float32(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_float32(void *dst, const void *acc, const void *x, size_t count)
{
	each_float32(dst, acc, x, count, WRING_MAX);
}

REDUCE_CLONES static void scale_float32(void *dst, size_t count, int size)
{
	struct packed_float32 *to = dst;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = to[i].value / (float)size;
}

struct packed_float64 {
	double value;
} REDUCE_PACKED;

REDUCE_INLINE double only_nan_float64(double value)
{
	return isnan(value) ? (double)NAN : value;
}

REDUCE_INLINE double combine_float64(double acc, double x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return only_nan_float64(acc + x);
	case WRING_PROD:
		return only_nan_float64(acc * x);
	case WRING_MIN:
		return isunordered(acc, x) ? (double)NAN : x < acc ? x : acc;
	case WRING_MAX:
		return isunordered(acc, x) ? (double)NAN : x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE void each_float64(void *dst, const void *acc, const void *x, size_t count,
				enum wring_op op)
{
	struct packed_float64 *to = dst;
	const struct packed_float64 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_float64(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_float64(void *dst, const void *acc, const void *x, size_t count)
{
	each_float64(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_float64(void *dst, const void *acc, const void *x, size_t count)
{
	each_float64(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_float64(void *dst, const void *acc, const void *x, size_t count)
{
	each_float64(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_float64(void *dst, const void *acc, const void *x, size_t count)
{
	each_float64(dst, acc, x, count, WRING_MAX);
}

REDUCE_CLONES static void scale_float64(void *dst, size_t count, int size)
{
	struct packed_float64 *to = dst;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = to[i].value / (double)size;
}

const struct reduce_kernels reduce_float32 = {
	.op =
		{
			[WRING_SUM] = sum_float32,
			[WRING_PROD] = prod_float32,
			[WRING_MIN] = min_float32,
			[WRING_MAX] = max_float32,
			[WRING_AVG] = sum_float32,
		},
	.scale = scale_float32,
};

const struct reduce_kernels reduce_float64 = {
	.op =
		{
			[WRING_SUM] = sum_float64,
			[WRING_PROD] = prod_float64,
			[WRING_MIN] = min_float64,
			[WRING_MAX] = max_float64,
			[WRING_AVG] = sum_float64,
		},
	.scale = scale_float64,
};
