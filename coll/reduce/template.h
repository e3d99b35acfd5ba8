/* template.h: the kernels of one datatype, written once; a file for each datatype includes it. */
/* SPDX-License-Identifier: MIT */

/*
 * No guard: one inclusion makes the kernels of one datatype. The including file has defined
 *
 *   ELEMENT            the type of an element in memory
 *   KERNELS            the name of its struct reduce_kernels
 *   combine            a function for one element: acc op x
 *   divide             a function for one element: value / size
 *
 * combine and divide mostly by integer.h, floating.h or half.h; and, if there is a faster way for
 * the first elements,
 *
 *   reduce_beginning   reduces as many of them as that way can, and returns how many
 *   scale_beginning    the same for dividing
 */
#include "coll/reduce/kernels.h"

#ifndef reduce_beginning
REDUCE_INLINE size_t reduce_beginning(void *dst, const void *acc, const void *x, size_t count,
				      enum wring_op op)
{
	(void)dst, (void)acc, (void)x, (void)count, (void)op;
	return 0;
}
#endif

#ifndef scale_beginning
REDUCE_INLINE size_t scale_beginning(void *dst, size_t count, int size)
{
	(void)dst, (void)count, (void)size;
	return 0;
}
#endif

/* An element anywhere in memory, aligned or not. */
struct packed_element {
	ELEMENT value;
} __attribute__((packed, may_alias));

REDUCE_INLINE void each(void *dst, const void *acc, const void *x, size_t count, enum wring_op op)
{
	size_t done = reduce_beginning(dst, acc, x, count, op);
	struct packed_element *to = dst;
	const struct packed_element *left = acc, *right = x;

	REDUCE_INDEPENDENT
	for (size_t i = done; i < count; i++)
		to[i].value = combine(left[i].value, right[i].value, op);
}

REDUCE_CLONES static void sum(void *dst, const void *acc, const void *x, size_t count)
{
	each(dst, acc, x, count, WRING_SUM);
}

REDUCE_CLONES static void prod(void *dst, const void *acc, const void *x, size_t count)
{
	each(dst, acc, x, count, WRING_PROD);
}

REDUCE_CLONES static void min(void *dst, const void *acc, const void *x, size_t count)
{
	each(dst, acc, x, count, WRING_MIN);
}

REDUCE_CLONES static void max(void *dst, const void *acc, const void *x, size_t count)
{
	each(dst, acc, x, count, WRING_MAX);
}

REDUCE_CLONES static void scale(void *dst, size_t count, int size)
{
	size_t done = scale_beginning(dst, count, size);
	struct packed_element *to = dst;

	REDUCE_INDEPENDENT
	for (size_t i = done; i < count; i++)
		to[i].value = divide(to[i].value, size);
}

const struct reduce_kernels KERNELS = {
	.op =
		{
			[WRING_SUM] = sum,
			[WRING_PROD] = prod,
			[WRING_MIN] = min,
			[WRING_MAX] = max,
			[WRING_AVG] = sum, /* divided at the end */
		},
	.scale = scale,
};
