/* startup.h: what it takes to create a communicator: time, and memory of the transport. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_STARTUP_H
#define BENCH_WRING_BENCH_STARTUP_H

#include <wring.h>

#include <stddef.h>

struct startup {
	double seconds; /* of the slowest rank */
	size_t memory;	/* bytes of the rank that has most; 0: not known */
};

/* Bytes mapped, by name: the largest arena of a rank, and the send slots of all verbs links. */
struct startup_maps {
	size_t arena, send_slots;
};

void startup_read_maps(struct startup_maps *maps);

/* Collective: from the clock and the maps before wring_comm_create, right after it. */
void startup_note(struct startup *startup, double began, const struct startup_maps *before);

#endif
