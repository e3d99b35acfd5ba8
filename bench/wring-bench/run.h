/* run.h: one run of the benchmark: what was asked, where it ran, what came out. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_RUN_H
#define BENCH_WRING_BENCH_RUN_H

#include "bench/wring-bench/gradients.h"
#include "bench/wring-bench/launch.h"
#include "bench/wring-bench/machine_limits.h"
#include "bench/wring-bench/machine.h"
#include "bench/wring-bench/measure.h"
#include "bench/wring-bench/options.h"
#include "bench/wring-bench/overlap.h"
#include "bench/wring-bench/paths.h"
#include "bench/wring-bench/startup.h"

struct run {
	struct options options;
	int argc;
	char **argv;
	struct launch launch;
	int rank, size;
	struct machine machine;
	struct startup startup;
	struct path_row *paths; /* size of them, on rank 0 only */
	bool finished;		/* everything was measured */
	size_t results_count;
	struct result results[MAX_SIZES];
	struct limits limits;
	struct gradients gradients;
	size_t overlaps_count;
	struct overlap overlaps[MAX_SIZES];
};

#endif
