/* floating.h: an element of float or double: ELEMENT. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "coll/reduce/kernels.h"

/*
 * Of two NaNs a processor returns the first, but which operand comes first is the compiler's
 * choice, and inf - inf has a sign on some. So that every rank has the same bits, all are made
 * the same NaN: two instructions in loops that wait for memory.
 */
REDUCE_INLINE ELEMENT only_nan(ELEMENT value)
{
	return isnan(value) ? (ELEMENT)NAN : value;
}

REDUCE_INLINE ELEMENT combine(ELEMENT acc, ELEMENT x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return only_nan(acc + x);
	case WRING_PROD:
		return only_nan(acc * x);
	case WRING_MIN:
		return isunordered(acc, x) ? (ELEMENT)NAN : x < acc ? x : acc;
	case WRING_MAX:
		return isunordered(acc, x) ? (ELEMENT)NAN : x > acc ? x : acc;
	}
	return acc;
}

REDUCE_INLINE ELEMENT divide(ELEMENT value, int size)
{
	return value / (ELEMENT)size;
}
