/* integer.c: the kernels of the integer datatypes. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce/kernels.h"

/*
 * For each datatype: one element, the loop over all, and one kernel for each op. Signed numbers
 * add and multiply as the unsigned of their size, which wrap around and give the same bits.
 */

struct packed_uint8 {
	uint8_t value;
} REDUCE_PACKED;

REDUCE_INLINE uint8_t combine_uint8(uint8_t acc, uint8_t x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return (uint8_t)(acc + x);
	case WRING_PROD:
		return (uint8_t)(acc * x);
	case WRING_MIN:
		return x < acc ? x : acc;
	case WRING_MAX:
		return x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE void each_uint8(void *dst, const void *acc, const void *x, size_t count,
			      enum wring_op op)
{
	struct packed_uint8 *to = dst;
	const struct packed_uint8 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_uint8(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_uint8(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint8(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_uint8(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint8(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_uint8(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint8(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_uint8(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint8(dst, acc, x, count, WRING_MAX);
}

struct packed_int8 {
	int8_t value;
} REDUCE_PACKED;

REDUCE_INLINE int8_t combine_int8(int8_t acc, int8_t x, enum wring_op op)
{
	if (op == WRING_MIN)
		return x < acc ? x : acc;
	return x > acc ? x : acc;
}

REDUCE_INLINE void each_int8(void *dst, const void *acc, const void *x, size_t count,
			     enum wring_op op)
{
	struct packed_int8 *to = dst;
	const struct packed_int8 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_int8(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void min_int8(void *dst, const void *acc, const void *x, size_t count)
{
	each_int8(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_int8(void *dst, const void *acc, const void *x, size_t count)
{
	each_int8(dst, acc, x, count, WRING_MAX);
}

struct packed_uint32 {
	uint32_t value;
} REDUCE_PACKED;

REDUCE_INLINE uint32_t combine_uint32(uint32_t acc, uint32_t x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return acc + x;
	case WRING_PROD:
		return acc * x;
	case WRING_MIN:
		return x < acc ? x : acc;
	case WRING_MAX:
		return x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE void each_uint32(void *dst, const void *acc, const void *x, size_t count,
			       enum wring_op op)
{
	struct packed_uint32 *to = dst;
	const struct packed_uint32 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_uint32(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_uint32(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint32(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_uint32(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint32(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_uint32(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint32(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_uint32(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint32(dst, acc, x, count, WRING_MAX);
}

struct packed_int32 {
	int32_t value;
} REDUCE_PACKED;

REDUCE_INLINE int32_t combine_int32(int32_t acc, int32_t x, enum wring_op op)
{
	if (op == WRING_MIN)
		return x < acc ? x : acc;
	return x > acc ? x : acc;
}

REDUCE_INLINE void each_int32(void *dst, const void *acc, const void *x, size_t count,
			      enum wring_op op)
{
	struct packed_int32 *to = dst;
	const struct packed_int32 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_int32(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void min_int32(void *dst, const void *acc, const void *x, size_t count)
{
	each_int32(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_int32(void *dst, const void *acc, const void *x, size_t count)
{
	each_int32(dst, acc, x, count, WRING_MAX);
}

struct packed_uint64 {
	uint64_t value;
} REDUCE_PACKED;

REDUCE_INLINE uint64_t combine_uint64(uint64_t acc, uint64_t x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return acc + x;
	case WRING_PROD:
		return acc * x;
	case WRING_MIN:
		return x < acc ? x : acc;
	case WRING_MAX:
		return x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE void each_uint64(void *dst, const void *acc, const void *x, size_t count,
			       enum wring_op op)
{
	struct packed_uint64 *to = dst;
	const struct packed_uint64 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_uint64(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum_uint64(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint64(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod_uint64(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint64(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min_uint64(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint64(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_uint64(void *dst, const void *acc, const void *x, size_t count)
{
	each_uint64(dst, acc, x, count, WRING_MAX);
}

struct packed_int64 {
	int64_t value;
} REDUCE_PACKED;

REDUCE_INLINE int64_t combine_int64(int64_t acc, int64_t x, enum wring_op op)
{
	if (op == WRING_MIN)
		return x < acc ? x : acc;
	return x > acc ? x : acc;
}

REDUCE_INLINE void each_int64(void *dst, const void *acc, const void *x, size_t count,
			      enum wring_op op)
{
	struct packed_int64 *to = dst;
	const struct packed_int64 *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = 0; i < count; i++)
		to[i].value = combine_int64(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void min_int64(void *dst, const void *acc, const void *x, size_t count)
{
	each_int64(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max_int64(void *dst, const void *acc, const void *x, size_t count)
{
	each_int64(dst, acc, x, count, WRING_MAX);
}

/* AVG of integers is refused before it comes here. */
static void scale_nothing(void *dst, size_t count, int size)
{
	(void)dst, (void)count, (void)size;
}

const struct reduce_kernels reduce_int8 = {
	.op =
		{
			[WRING_SUM] = sum_uint8,
			[WRING_PROD] = prod_uint8,
			[WRING_MIN] = min_int8,
			[WRING_MAX] = max_int8,
			[WRING_AVG] = sum_uint8,
		},
	.scale = scale_nothing,
};

const struct reduce_kernels reduce_uint8 = {
	.op =
		{
			[WRING_SUM] = sum_uint8,
			[WRING_PROD] = prod_uint8,
			[WRING_MIN] = min_uint8,
			[WRING_MAX] = max_uint8,
			[WRING_AVG] = sum_uint8,
		},
	.scale = scale_nothing,
};

const struct reduce_kernels reduce_int32 = {
	.op =
		{
			[WRING_SUM] = sum_uint32,
			[WRING_PROD] = prod_uint32,
			[WRING_MIN] = min_int32,
			[WRING_MAX] = max_int32,
			[WRING_AVG] = sum_uint32,
		},
	.scale = scale_nothing,
};

const struct reduce_kernels reduce_uint32 = {
	.op =
		{
			[WRING_SUM] = sum_uint32,
			[WRING_PROD] = prod_uint32,
			[WRING_MIN] = min_uint32,
			[WRING_MAX] = max_uint32,
			[WRING_AVG] = sum_uint32,
		},
	.scale = scale_nothing,
};

const struct reduce_kernels reduce_int64 = {
	.op =
		{
			[WRING_SUM] = sum_uint64,
			[WRING_PROD] = prod_uint64,
			[WRING_MIN] = min_int64,
			[WRING_MAX] = max_int64,
			[WRING_AVG] = sum_uint64,
		},
	.scale = scale_nothing,
};

const struct reduce_kernels reduce_uint64 = {
	.op =
		{
			[WRING_SUM] = sum_uint64,
			[WRING_PROD] = prod_uint64,
			[WRING_MIN] = min_uint64,
			[WRING_MAX] = max_uint64,
			[WRING_AVG] = sum_uint64,
		},
	.scale = scale_nothing,
};
