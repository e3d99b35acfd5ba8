/* tune.h: finds out which algorithm is best from which size on, as a tuning file. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_TUNE_H
#define BENCH_WRING_BENCH_TUNE_H

#include "bench/wring-bench/run.h"

/*
 * Collective: measure and, on rank 0, print a file that WRING_TUNING loads. Returns 0, or on every
 * rank -1 after one of them has printed its complaint.
 */
int tune(const struct run *run, struct complaint *complaint);

#endif
