/* work.h: the collective call to be timed, through Wring or through MPI, on the same buffers. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_WORK_H
#define BENCH_WRING_BENCH_WORK_H

#include "bench/wring-bench/options.h"

#include <wring.h>
#include <mpi.h>

enum system { SYSTEM_WRING, SYSTEM_MPI, SYSTEMS };

struct work {
	const struct options *options; /* borrowed, as comm and mpi are */
	struct wring_comm *comm;
	MPI_Comm mpi;
	int rank, size;
	MPI_Datatype datatype;
	MPI_Op op;

	void *send; /* == recv if in place; a broadcast works on recv alone */
	void *recv;
	size_t count;	     /* set for each size */
	long calls[SYSTEMS]; /* so far: turns the root */
};

/* Borrows all arguments for as long as the work is used. */
void work_init(struct work *work, const struct options *options, struct wring_comm *comm);

/* Call the collective so many times, back to back. A failure ends the program. */
void work_run(struct work *work, enum system system, long calls);

/* The root of the next call. */
int work_root(const struct work *work, enum system system);

/* Where this rank's data goes before a call, and the bytes of one vector. */
void *work_input(const struct work *work);
size_t work_bytes(const struct work *work);

#endif
