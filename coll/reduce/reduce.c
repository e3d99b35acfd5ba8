/* reduce.c: choosing the kernel for a datatype and op. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce/reduce.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "coll/reduce/kernels.h"

/* What reduce_two reduces before it copies: the copy still finds it in the L1 cache. */
enum { REDUCE_TWO_BYTES = 4096 };

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
 * SSE2 was twice as fast as AVX2 there. So the kernels are tried before they are used. A real one
 * takes some 20 us to wake its long vectors: first they are made to work. The bits do not depend on
 * what is chosen.
 */
enum { TRIALS = 20, TRIAL_COUNT = 1024 };

#define WAKE_SECONDS 100e-6
#define CLEARLY	     1.5

static double clock_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct trial {
	float dst[TRIAL_COUNT], acc[TRIAL_COUNT], x[TRIAL_COUNT];
};

static double seconds_of(const struct reduce_kernels *kernels_tried, struct trial *trial)
{
	double began = clock_seconds();

	kernels_tried->op[WRING_SUM](trial->dst, trial->acc, trial->x, TRIAL_COUNT);
	return clock_seconds() - began;
}

static bool plain_is_faster(void)
{
	double best = 1, best_plain = 1, woken = clock_seconds() + WAKE_SECONDS, took;
	struct trial trial = {.acc = {0}};

	while (clock_seconds() < woken)
		(void)seconds_of(&reduce_float32, &trial);
	for (int i = 0; i < TRIALS; i++) {
		took = seconds_of(&reduce_float32_plain, &trial);
		if (took < best_plain)
			best_plain = took;
		took = seconds_of(&reduce_float32, &trial);
		if (took < best)
			best = took;
	}
	return best > CLEARLY * best_plain;
}

void reduce_use_plain(bool plain)
{
	kernels[WRING_FLOAT32] = plain ? &reduce_float32_plain : &reduce_float32;
	kernels[WRING_FLOAT64] = plain ? &reduce_float64_plain : &reduce_float64;
}

static void choose(void)
{
	reduce_use_plain(plain_is_faster());
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
