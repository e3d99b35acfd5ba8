/* integer.h: an element of an integer datatype: ELEMENT, calculated in WRAPPING. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce/kernels.h"

/* Signed numbers add and multiply as the unsigned of their size: those wrap around, with the same
 * bits. */
REDUCE_INLINE ELEMENT combine(ELEMENT acc, ELEMENT x, enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return (ELEMENT)((WRAPPING)acc + (WRAPPING)x);
	case WRING_PROD:
		return (ELEMENT)((WRAPPING)acc * (WRAPPING)x);
	case WRING_MIN:
		return x < acc ? x : acc;
	case WRING_MAX:
		return x > acc ? x : acc;
	}
	return acc;
}

/* AVG of integers is refused before it comes here: there is nothing to divide. */
REDUCE_INLINE ELEMENT divide(ELEMENT value, int size)
{
	(void)size;
	return value;
}

REDUCE_INLINE size_t leave_alone(void *dst, size_t count, int size)
{
	(void)dst, (void)size;
	return count;
}
#define scale_beginning leave_alone
