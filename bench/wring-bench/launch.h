/* launch.h: what the launcher (mpirun, srun, mpiexec) has told this process by environment. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_LAUNCH_H
#define BENCH_WRING_BENCH_LAUNCH_H

#include "bench/wring-bench/complaint.h"

struct launch {
	int rank;	   /* this process's number; -1: nobody has launched it */
	const char *claim; /* the variable that says there is more than one rank; NULL: none */
	long value;	   /* what it says */
};

/* Read the environment; before MPI_Init, which may add variables of its own. */
void launch_read(struct launch *launch);

/*
 * A "parallel" run in which every process is rank 0 of 1 measures nothing: complain if mpi_size
 * is 1 although the launcher has started more. Returns 0 or -1.
 */
int launch_check(const struct launch *launch, int mpi_size, struct complaint *complaint);

#endif
