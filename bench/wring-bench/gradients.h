/* gradients.h: a thousand unequal all-reduces in flight together, as in a training step. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_GRADIENTS_H
#define BENCH_WRING_BENCH_GRADIENTS_H

#include "bench/wring-bench/gradients_plan.h"
#include "bench/wring-bench/stats.h"
#include "bench/wring-bench/work.h"

#include <stdint.h>

/* The three ways to reduce them all. */
enum gradients_way { GRADIENTS_WRING, GRADIENTS_MPI_LOOP, GRADIENTS_MPI_TOGETHER, GRADIENTS_WAYS };

struct gradients {
	size_t bytes, smallest, largest; /* of all tensors, of one */
	long rounds;
	struct stats time[GRADIENTS_WAYS]; /* seconds for all tensors */
	uint64_t wrong;
};

/*
 * Collective: all tensors, each way, in turns; with --check the results of Wring are validated
 * before and after. Returns 0, or on every rank -1 after one of them has printed its complaint.
 */
int gradients_measure(struct work *work, struct gradients *gradients, struct complaint *complaint);

/* The better way of MPI's, median over Wring's. */
double gradients_ratio(const struct gradients *gradients);

const char *gradients_way_name(enum gradients_way way);

#endif
