/* half.h: an element of a 16-bit float, calculated in float: to_float and from_float are given. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "coll/reduce/kernels.h"

/* Rounding makes all NaNs the same one. */
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

REDUCE_INLINE uint16_t combine(uint16_t acc, uint16_t x, enum wring_op op)
{
	return from_float(combine_float(to_float(acc), to_float(x), op));
}

REDUCE_INLINE uint16_t divide(uint16_t value, int size)
{
	return from_float(to_float(value) / (float)size);
}
