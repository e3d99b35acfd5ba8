/* time.h: what time.c needs of the system whose calls it times. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SOFT_ROCE_TIME_H
#define BENCH_SOFT_ROCE_TIME_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peer {
	int rank, size;
	const float *send; /* borrowed, as recv: the vectors of all calls, owned by the timer */
	float *recv;
};

/*
 * Each ends the process with a line on stderr if it cannot do its work. peer_open fills rank and
 * size; the vectors are there from peer_prepare on.
 */
void peer_open(struct peer *peer);
/* Collective: from now on, calls are of count floats, and all all-reduces or all broadcasts. */
void peer_prepare(struct peer *peer, bool broadcast, size_t count);
/* The sum of all ranks' send, in recv. */
void peer_allreduce(struct peer *peer);
/* The root's recv, in everybody's recv. */
void peer_broadcast(struct peer *peer, int root);
/* Called now and then while this rank waits for others outside of a collective call. */
void peer_progress(struct peer *peer);
void peer_close(struct peer *peer);

#ifdef __cplusplus
}
#endif

#endif
