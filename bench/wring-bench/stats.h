/* stats.h: what is reported of many measured times. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_STATS_H
#define BENCH_WRING_BENCH_STATS_H

#include <stddef.h>

struct stats {
	double min, median, p99, max;
};

/* Sorts values in place; n >= 1. The median of an even number is the mean of the middle two,
 * p99 is the nearest rank: the value below or at which 99 % lie. */
struct stats stats_of(double *values, size_t n);

/* The geometric mean of n positive values; 0 if n is 0. */
double stats_geometric_mean(const double *values, size_t n);

#endif
