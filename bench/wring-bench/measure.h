/* measure.h: how long one call takes, for one size. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_MEASURE_H
#define BENCH_WRING_BENCH_MEASURE_H

#include "bench/wring-bench/machine_limits.h"
#include "bench/wring-bench/stats.h"
#include "bench/wring-bench/work.h"

#include <stdint.h>

struct result {
	size_t bytes, count;
	long inner;		    /* calls in one timed block */
	long blocks;		    /* timed blocks of each system */
	struct stats time[SYSTEMS]; /* seconds per call, on rank 0 only */
	uint64_t wrong;
	struct limit limit; /* with --limits; on every rank */
};

/*
 * Collective: measure the work at its present count; bytes and count of *result are set, and on
 * rank 0 the times; with --check its elements are validated before and after.
 * Returns 0, or on every rank -1 after one of them has printed its complaint.
 */
int measure(struct work *work, struct result *result, struct complaint *complaint);

/* Bytes per second of the median; 0 if there is nothing to transfer. */
double measure_algbw(const struct result *result, enum system system);

/* algbw x 2(n-1)/n for an all-reduce, algbw for a broadcast: what a link has to carry. */
double measure_busbw(const struct result *result, enum system system, enum collective collective,
		     int size);

/* The limit / Wring's median, in percent. */
double measure_percent_of_limit(const struct result *result);

/* MPI's median / Wring's. */
double measure_ratio(const struct result *result);

#endif
