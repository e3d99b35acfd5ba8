/* reference.h: the serial allreduce that every other one must equal, bit by bit. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_REFERENCE_H
#define TESTS_HARNESS_REFERENCE_H

#include <stdbool.h>

#include "wring.h"

/* out = what wring.h promises for these inputs, one for each ring position. */
void reference_allreduce(void *out, const void *const *inputs_in_ring_order, int size, size_t count,
			 enum wring_datatype datatype, enum wring_op op);

/*
 * Fill buf with the input of a rank; the same arguments give the same values. integer_valued:
 * small integers whose results, over up to 64 ranks, are exact in every floating datatype and so
 * do not depend on the order. Otherwise floating values of widely differing magnitude, whose sums
 * do depend on it, and any bits for integers.
 */
void reference_fill(void *buf, size_t count, enum wring_datatype datatype, enum wring_op op,
		    int rank, unsigned seed, bool integer_valued);

/* One step for one element: acc = acc op x. */
void reference_combine(void *acc, const void *x, enum wring_datatype datatype, enum wring_op op);

/* The value of a 16-bit float, and the 16-bit float nearest to a value, ties to even. */
double reference_from_float16(uint16_t half);
double reference_from_bfloat16(uint16_t half);
uint16_t reference_to_float16(double value);
uint16_t reference_to_bfloat16(double value);

/* The size of an element, known without the library. */
size_t reference_datatype_size(enum wring_datatype datatype);

#endif
