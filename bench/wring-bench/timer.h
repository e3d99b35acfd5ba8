/* timer.h: the clock, and what is done with times of all ranks. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_TIMER_H
#define BENCH_WRING_BENCH_TIMER_H

#include "bench/wring-bench/stats.h"

/* Seconds of CLOCK_MONOTONIC. */
double timer_now(void);

/* Collective: the largest of all ranks' values, on every rank. */
double timer_slowest(double mine);

/*
 * Collective: seconds[i] of all ranks combined to the slowest, then the statistics over i, on every
 * rank. seconds is scratch afterwards; n >= 1.
 */
struct stats timer_stats(double *seconds, long n);

/* value as a whole number from low to high. */
long timer_within(double value, long low, long high);

#endif
