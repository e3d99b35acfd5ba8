/* timer.c: the clock, and what is done with times of all ranks. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/timer.h"

#include <mpi.h>
#include <time.h>

double timer_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double timer_slowest(double mine)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

struct stats timer_stats(double *seconds, long n)
{
	MPI_Allreduce(MPI_IN_PLACE, seconds, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return stats_of(seconds, (size_t)n);
}

long timer_within(double value, long low, long high)
{
	if (value <= (double)low)
		return low;
	return value >= (double)high ? high : (long)value;
}
