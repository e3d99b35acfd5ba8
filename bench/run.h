/* run.h: one run of the benchmark: what was asked, where it ran, what came out. */
/* SPDX-License-Identifier: MIT */
#ifndef RUN_H
#define RUN_H

#include "gradients.h"
#include "launch.h"
#include "machine_limits.h"
#include "machine.h"
#include "measure.h"
#include "options.h"
#include "overlap.h"
#include "paths.h"
#include "startup.h"

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
