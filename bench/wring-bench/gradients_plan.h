/* gradients_plan.h: how long each of the thousand tensors is, and where it stands. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_GRADIENTS_PLAN_H
#define BENCH_WRING_BENCH_GRADIENTS_PLAN_H

#include <stddef.h>

/*
 * The tensors: their bytes are log-uniform from 0.2 KiB to 512 KiB: 204.8 x 2560^u with u uniform
 * in [0, 1), from SplitMix64 with seed 1, rounded down to whole elements. They stand behind each
 * other in one block of the wanted kind of memory, each at a multiple of 64 bytes.
 */
enum { GRADIENTS = 1000, GRADIENTS_SEED = 1 };

struct tensor {
	size_t offset; /* bytes from the block's begin */
	size_t count;  /* elements */
};

/* Fill in all tensors, for elements of that width. Gives the bytes of the block. */
size_t gradients_plan(struct tensor tensors[GRADIENTS], size_t width);

/* Those bytes alone. */
size_t gradients_room(size_t width);

#endif
