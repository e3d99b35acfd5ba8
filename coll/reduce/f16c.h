/* f16c.h: eight float16 at a time, with the F16C instructions of x86. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REDUCE_F16C_H
#define COLL_REDUCE_F16C_H

#include "coll/reduce/kernels.h"

/*
 * Both functions do as many of the first elements as they can, which is none without the
 * instructions, and return how many; the portable loop does the rest, five times slower. The
 * bits are the same: a test compares them.
 */
#if defined(__x86_64__) && !defined(WRING_NO_CLONES)

#include <immintrin.h>

#define REDUCE_F16C __attribute__((target("avx2,f16c")))

/* F16C itself has no name in clang's builtin; every processor with AVX2 has it. */
static inline int f16c_works(void)
{
	return __builtin_cpu_supports("avx2");
}

REDUCE_F16C REDUCE_INLINE __m256 f16c_load(const void *from)
{
	return _mm256_cvtph_ps(_mm_loadu_si128(from));
}

/* Every NaN is stored as the same one. */
REDUCE_F16C REDUCE_INLINE void f16c_store(void *to, __m256 value)
{
	const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
	__m256 is_nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
	__m256 only_nan = _mm256_blendv_ps(value, nan, is_nan);

	_mm_storeu_si128(to, _mm256_cvtps_ph(only_nan, _MM_FROUND_TO_NEAREST_INT));
}

/* All ones where a value is a NaN; by integers, because clang narrows a compare to eight
 * scalars. */
REDUCE_F16C REDUCE_INLINE __m256 f16c_is_nan(__m256 value)
{
	const __m256i infinity = _mm256_set1_epi32(0x7f800000);
	__m256i magnitude =
		_mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(0x7fffffff));

	return _mm256_castsi256_ps(_mm256_cmpgt_epi32(magnitude, infinity));
}

/* MIN and MAX give acc, their second operand here, if equal or not ordered; x may be NaN. */
REDUCE_F16C REDUCE_INLINE __m256 f16c_combine(__m256 acc, __m256 x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return _mm256_add_ps(acc, x);
	case WRING_PROD:
		return _mm256_mul_ps(acc, x);
	case WRING_MIN:
		return _mm256_blendv_ps(_mm256_min_ps(x, acc), x, f16c_is_nan(x));
	case WRING_MAX:
		return _mm256_blendv_ps(_mm256_max_ps(x, acc), x, f16c_is_nan(x));
	}
	return acc;
}

REDUCE_F16C REDUCE_INLINE size_t f16c_each(void *dst, const void *acc, const void *x, size_t count,
					   enum wring_op op)
{
	uint16_t(*to)[8] = dst;
	const uint16_t(*left)[8] = acc, (*right)[8] = x;

	for (size_t i = 0; i < count / 8; i++)
		f16c_store(to + i, f16c_combine(f16c_load(left + i), f16c_load(right + i), op));
	return count / 8 * 8;
}

REDUCE_F16C static inline size_t f16c_each_op(void *dst, const void *acc, const void *x,
					      size_t count, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return f16c_each(dst, acc, x, count, WRING_SUM);
	case WRING_PROD:
		return f16c_each(dst, acc, x, count, WRING_PROD);
	case WRING_MIN:
		return f16c_each(dst, acc, x, count, WRING_MIN);
	case WRING_MAX:
		return f16c_each(dst, acc, x, count, WRING_MAX);
	}
	return 0;
}

REDUCE_F16C static inline size_t f16c_divide(void *dst, size_t count, int size)
{
	const __m256 divisor = _mm256_set1_ps((float)size);
	uint16_t(*to)[8] = dst;

	for (size_t i = 0; i < count / 8; i++)
		f16c_store(to + i, _mm256_div_ps(f16c_load(to + i), divisor));
	return count / 8 * 8;
}

/* dst[i] = acc[i] op x[i]. */
static inline size_t f16c_reduce(void *dst, const void *acc, const void *x, size_t count,
				 enum wring_op op)
{
	return f16c_works() ? f16c_each_op(dst, acc, x, count, op) : 0;
}

/* dst[i] = dst[i] / size. */
static inline size_t f16c_scale(void *dst, size_t count, int size)
{
	return f16c_works() ? f16c_divide(dst, count, size) : 0;
}

#else

static inline size_t f16c_reduce(void *dst, const void *acc, const void *x, size_t count,
				 enum wring_op op)
{
	(void)dst, (void)acc, (void)x, (void)count, (void)op;
	return 0;
}

static inline size_t f16c_scale(void *dst, size_t count, int size)
{
	(void)dst, (void)count, (void)size;
	return 0;
}

#endif

#endif
