/* overlap.h: how much of an all-reduce hides behind a computation. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_OVERLAP_H
#define BENCH_WRING_BENCH_OVERLAP_H

#include "bench/wring-bench/buffers.h"
#include "bench/wring-bench/stats.h"
#include "bench/wring-bench/work.h"

/* Who moves the bytes while the program computes: nobody, the program's calls of test, a thread. */
enum overlap_way {
	OVERLAP_NONE,
	OVERLAP_TEST,
	OVERLAP_THREAD,
	OVERLAP_THREAD_TEST,
	OVERLAP_MPI,
	OVERLAP_MPI_TEST,
	OVERLAP_WAYS
};

/* Seconds, of the slowest rank. */
struct overlap_times {
	struct stats pure;    /* start and wait */
	struct stats compute; /* the computation alone */
	struct stats overall; /* start, compute, wait */
};

struct overlap {
	size_t bytes;
	long rounds;
	struct overlap_times way[OVERLAP_WAYS];
};

/* With progress=thread: a communicator of its own, and its buffers. Zeroed: not there. */
struct overlap_thread {
	struct wring_comm *comm;
	struct buffers buffers;
};

/* Collective. Returns 0, or on every rank -1 after one has printed its complaint. */
int overlap_open(struct overlap_thread *thread, const struct options *options);
void overlap_close(struct overlap_thread *thread);

/*
 * Collective: every way, in turns, with vectors of work->count elements. Returns 0, or on every
 * rank -1 after one of them has printed its complaint.
 */
int overlap_measure(struct work *work, const struct overlap_thread *thread, struct overlap *overlap,
		    struct complaint *complaint);

/* 100 x (1 - (overall - compute) / pure), within 0..100. */
double overlap_percent(const struct overlap_times *times);

const char *overlap_way_name(enum overlap_way way);

#endif
