/* machine_limits.h: what the machine itself allows, measured in the same run. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_MACHINE_LIMITS_H
#define BENCH_WRING_BENCH_MACHINE_LIMITS_H

#include "bench/wring-bench/work.h"

#include <stdbool.h>

/*
 * How a limit is computed (n ranks, S bytes, L the latency of one notification)
 *
 * One host, B the bytes that a rank reads and writes in a second while all ranks do so: all inputs
 * must be read and all outputs be written, that is S each for each rank if the work is divided
 * evenly, which takes two hops; with one hop every rank reads all inputs.
 *
 *   all-reduce   min(2 S / B + 2 L, (n + 1) S / B + L)
 *   broadcast    2 S (n - 1) / n / B + L
 *   barrier      ceil(log2 n) L
 *
 * Verbs, D the bytes that a link carries in a second each way while it carries both, W one way:
 *
 *   all-reduce   min(2 S (n - 1) / n / D + 2 L, (n - 1) S / D + L)
 *   broadcast    S / W + L
 *   barrier      ceil(log2 n) L
 */
struct limits {
	bool shared;	  /* all ranks are on one host and reach each other by shared memory */
	double latency;	  /* seconds */
	double one_way;	  /* shared: bytes/s copied that another core has just written */
	double link_one;  /* else: bytes/s of a link one way, */
	double link_both; /* and each way while it carries both */
};

/* Of one size: bytes/s read and written by a rank while all copy, or reduce; seconds of one
 * call. */
struct limit {
	double copy, reduce, seconds;
};

/* Shared memory in which limits are measured; Wring has no part in it. */
struct limits_window {
	MPI_Win win;
	char **of_rank; /* each rank's part, as seen from here */
	size_t room;	/* of one vector */
};

/* Collective: measure what does not depend on the size. Returns 0, or -1 as measure does. */
int limits_open(struct limits *limits, struct limits_window *window, const struct work *work,
		struct complaint *complaint);
void limits_close(struct limits_window *window);

/* Collective: the limit of one call of the work at its present count. */
void limits_measure(const struct limits *limits, struct limits_window *window,
		    const struct work *work, struct limit *limit);

/* --- machine_limits_shared.c ---------------------------------------------------------------- */

/* Collective, ranks of one host. Zeroed windows are fine for closing. */
int limits_window_open(struct limits_window *window, const struct work *work, size_t longest,
		       struct complaint *complaint);
void limits_window_close(struct limits_window *window);

void limits_shared_notify(struct limits *limits, struct limits_window *window,
			  const struct work *work);
void limits_shared_bandwidth(struct limits_window *window, const struct work *work, size_t bytes,
			     struct limit *limit);

/* --- machine_limits_links.c ----------------------------------------------------------------- */

/* Collective: latency and bandwidth of links, by Wring's own barrier and broadcast. */
int limits_links(struct limits *limits, const struct work *work, struct complaint *complaint);

#endif
