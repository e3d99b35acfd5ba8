/* stats.c: what is reported of many measured times. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/stats.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

struct stats stats_of(double *values, size_t n)
{
	size_t rank = (99 * n + 99) / 100;

	qsort(values, n, sizeof(*values), ascending);
	return (struct stats){.min = values[0],
			      .median = (values[(n - 1) / 2] + values[n / 2]) / 2.0,
			      .p99 = values[rank - 1],
			      .max = values[n - 1]};
}

double stats_geometric_mean(const double *values, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += log(values[i]);
	return n ? exp(sum / (double)n) : 0.0;
}
