/* buffers.h: the two vectors of a rank, of the wanted kind, made once for the longest size. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_BUFFERS_H
#define BENCH_WRING_BENCH_BUFFERS_H

#include "bench/wring-bench/complaint.h"
#include "bench/wring-bench/options.h"

struct buffers {
	enum buffer_kind kind;
	struct wring_comm *comm; /* borrowed */
	void *send;
	void *recv; /* == send if in place */
};

/*
 * Collective, for the ranks of a host share its memory: bytes for each vector, all of it touched.
 * Returns 0, or -1 with a complaint; in both cases end it with buffers_free.
 */
int buffers_make(struct buffers *buffers, const struct options *options, struct wring_comm *comm,
		 struct complaint *complaint);
void buffers_free(struct buffers *buffers);

/*
 * glibc gives large freed blocks back to the kernel, and an MPI that mallocs scratch memory in
 * every call pays page faults for it each time. A fair comparison keeps them from it; call this
 * before MPI_Init. buffers_malloc_note says so in one line.
 */
void buffers_keep_scratch(void);
const char *buffers_malloc_note(void);

#endif
