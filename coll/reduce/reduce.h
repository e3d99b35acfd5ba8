/* reduce.h: combining two vectors element by element, for every datatype and op. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REDUCE_REDUCE_H
#define COLL_REDUCE_REDUCE_H

#include <stdbool.h>

#include "wring.h"

/*
 * What acc op x is, exactly; the accumulator is always the left operand:
 *
 * integers     SUM and PROD wrap around, as two's complement.
 * floats       a result that is not a number is always the same NaN, positive and quiet, whatever
 *              NaN, processor or vector length it comes from. A NaN in MIN or MAX gives NaN.
 *              MIN and MAX of equal numbers give acc: of +0 and -0, the one that was in acc.
 * 16 bits      computed in float, rounded to nearest even.
 * AVG          adds, as SUM does; reduce_scale divides once at the end.
 *
 * Buffers need no alignment. They are borrowed until the function returns. An output may be the
 * very same buffer as an input, but must not overlap it in any other way.
 */

/* Once in a process, before all others: which kernels are the fastest here? Takes 0.1 ms. */
void reduce_choose(void);

/* What it decides: float and double by kernels that use no more than any processor has. */
void reduce_use_plain(bool plain);

/* dst[i] = acc[i] op x[i]. */
void reduce(void *dst, const void *acc, const void *x, size_t count, enum wring_datatype datatype,
	    enum wring_op op);

/* dst[i] = dst2[i] = acc[i] op x[i], reading memory once; dst and dst2 do not overlap. */
void reduce_two(void *dst, void *dst2, const void *acc, const void *x, size_t count,
		enum wring_datatype datatype, enum wring_op op);

/* dst[i] = dst[i] / size, for the floating datatypes; leaves integers alone. */
void reduce_scale(void *dst, size_t count, enum wring_datatype datatype, int size);

#endif
