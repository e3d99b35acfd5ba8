/* half.c: the kernels of the 16-bit floats. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "coll/reduce/float16.h"
#include "coll/reduce/f16c.h"
#include "coll/reduce/kernels.h"

/* Before rounding, which makes all NaNs the same one. */
REDUCE_INLINE float combine_float(float acc, float x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return acc + x;
	case WRING_PROD:
		return acc * x;
	case WRING_MIN:
		return isunordered(acc, x) ? NAN : x < acc ? x : acc;
	case WRING_MAX:
		return isunordered(acc, x) ? NAN : x > acc ? x : acc;
	}
	return acc;
}

struct packed_float16 {
	uint16_t value;
} REDUCE_PACKED;

REDUCE_INLINE uint16_t combine_float16(uint16_t acc, uint16_t x, enum wring_op op)
{
	return float16_from_float(
		combine_float(float_from_float16(acc), float_from_float16(x), op));
}

REDUCE_INLINE void each_float16(void *dst, const void *acc, const void *x, size_t count,
				enum wring_op op)
{
	size_t done = f16c_reduce(dst, acc, x, count, op);
	struct packed_float16 *to = dst;
	const struct packed_float16 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = done; i < count; i++)
		to[i].value = combine_float16(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_float16(void *dst, const void *acc, const void *x, size_t count)
{
	each_float16(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_float16(void *dst, const void *acc, const void *x, size_t count)
{
	each_float16(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_float16(void *dst, const void *acc, const void *x, size_t count)
{
	each_float16(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_float16(void *dst, const void *acc, const void *x, size_t count)
{
	each_float16(dst, acc, x, count, WRING_MAX);
}

REDUCE_CLONES static void scale_float16(void *dst, size_t count, int size)
{
	size_t done = f16c_scale(dst, count, size);
	struct packed_float16 *to = dst;

	REDUCE_INDEPENDENT
	for (size_t i = done; i < count; i++)
		to[i].value = float16_from_float(float_from_float16(to[i].value) / (float)size);
}

struct packed_bfloat16 {
	uint16_t value;
} REDUCE_PACKED;

REDUCE_INLINE uint16_t combine_bfloat16(uint16_t acc, uint16_t x, enum wring_op op)
{
	return bfloat16_from_float(
		combine_float(float_from_bfloat16(acc), float_from_bfloat16(x), op));
}

REDUCE_INLINE void each_bfloat16(void *dst, const void *acc, const void *x, size_t count,
				 enum wring_op op)
{
	struct packed_bfloat16 *to = dst;
	const struct packed_bfloat16 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_bfloat16(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_bfloat16(void *dst, const void *acc, const void *x, size_t count)
{
	each_bfloat16(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_bfloat16(void *dst, const void *acc, const void *x, size_t count)
{
	each_bfloat16(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_bfloat16(void *dst, const void *acc, const void *x, size_t count)
{
	each_bfloat16(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_bfloat16(void *dst, const void *acc, const void *x, size_t count)
{
	each_bfloat16(dst, acc, x, count, WRING_MAX);
}

REDUCE_CLONES static void scale_bfloat16(void *dst, size_t count, int size)
{
	struct packed_bfloat16 *to = dst;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = bfloat16_from_float(float_from_bfloat16(to[i].value) / (float)size);
}

const struct reduce_kernels reduce_float16 = {
	.op =
		{
			[WRING_SUM] = sum_float16,
			[WRING_PROD] = prod_float16,
			[WRING_MIN] = min_float16,
			[WRING_MAX] = max_float16,
			[WRING_AVG] = sum_float16,
		},
	.scale = scale_float16,
};

const struct reduce_kernels reduce_bfloat16 = {
	.op =
		{
			[WRING_SUM] = sum_bfloat16,
			[WRING_PROD] = prod_bfloat16,
			[WRING_MIN] = min_bfloat16,
			[WRING_MAX] = max_bfloat16,
			[WRING_AVG] = sum_bfloat16,
		},
	.scale = scale_bfloat16,
};
