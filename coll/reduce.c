/* reduce.c: choosing the kernel for a datatype and op. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "coll/reduce_kernels.h"

/* What reduce_two reduces before it copies: the copy still finds it in the L1 cache. */
#define REDUCE_TWO_BYTES 4096

static const struct reduce_kernels *kernels[] = {
	[WRING_INT8] = &reduce_int8,	   [WRING_UINT8] = &reduce_uint8,
	[WRING_INT32] = &reduce_int32,	   [WRING_UINT32] = &reduce_uint32,
	[WRING_INT64] = &reduce_int64,	   [WRING_UINT64] = &reduce_uint64,
	[WRING_FLOAT16] = &reduce_float16, [WRING_BFLOAT16] = &reduce_bfloat16,
	[WRING_FLOAT32] = &reduce_float32, [WRING_FLOAT64] = &reduce_float64,
};

/* --- the choice --------------------------------------------------------------------------- */

/*
 * A processor that is emulated has vectors as long as it says, and calls a function for each: plain
 * SSE2 was twice as fast as AVX2 there. So the kernels are tried before they are used. The bits do
 * not depend on it.
 */
enum { TRIALS = 5, TRIAL_COUNT = 1024 };

#define CLEARLY 1.25

static double clock_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Of the best trial. */
static double seconds_of(const struct reduce_kernels *trial)
{
	float dst[TRIAL_COUNT], acc[TRIAL_COUNT] = {0}, x[TRIAL_COUNT] = {0};
	double best = 1, began, took;

	for (int i = 0; i < TRIALS; i++) {
		began = clock_seconds();
		trial->op[WRING_SUM](dst, acc, x, TRIAL_COUNT);
		took = clock_seconds() - began;
		if (took < best)
			best = took;
	}
	return best;
}

void reduce_use_plain(bool plain)
{
	kernels[WRING_FLOAT32] = plain ? &reduce_float32_plain : &reduce_float32;
	kernels[WRING_FLOAT64] = plain ? &reduce_float64_plain : &reduce_float64;
}

static void choose(void)
{
	double plain = seconds_of(&reduce_float32_plain);

	reduce_use_plain(seconds_of(&reduce_float32) > CLEARLY * plain);
}

void reduce_choose(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, choose);
}

/* --- reducing ----------------------------------------------------------------------------- */

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
