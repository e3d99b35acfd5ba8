/* reduce.c: choosing the kernel for a datatype and op. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce.h"

#include <string.h>

#include "coll/reduce_kernels.h"

/* What reduce_two reduces before it copies: the copy still finds it in the L1 cache. */
#define REDUCE_TWO_BYTES 4096

static const struct reduce_kernels *const kernels[] = {
	[WRING_INT8] = &reduce_int8,	   [WRING_UINT8] = &reduce_uint8,
	[WRING_INT32] = &reduce_int32,	   [WRING_UINT32] = &reduce_uint32,
	[WRING_INT64] = &reduce_int64,	   [WRING_UINT64] = &reduce_uint64,
	[WRING_FLOAT16] = &reduce_float16, [WRING_BFLOAT16] = &reduce_bfloat16,
	[WRING_FLOAT32] = &reduce_float32, [WRING_FLOAT64] = &reduce_float64,
};

void reduce(void *dst, const void *acc, const void *x, size_t count, enum wring_datatype datatype,
	    enum wring_op op)
{
	kernels[datatype]->op[op](dst, acc, x, count);
}

void reduce_two(void *dst, void *dst2, const void *acc, const void *x, size_t count,
		enum wring_datatype datatype, enum wring_op op)
{
	size_t datatype_size = wring_datatype_size(datatype);
	size_t len = count * datatype_size;

	for (size_t done = 0; done < len; done += REDUCE_TWO_BYTES) {
		size_t part = len - done < REDUCE_TWO_BYTES ? len - done : REDUCE_TWO_BYTES;

		reduce((char *)dst + done, (const char *)acc + done, (const char *)x + done,
		       part / datatype_size, datatype, op);
		memcpy((char *)dst2 + done, (const char *)dst + done, part);
	}
}

void reduce_scale(void *dst, size_t count, enum wring_datatype datatype, int size)
{
	kernels[datatype]->scale(dst, count, size);
}
