/* gradients_plan.c: how long each of the thousand tensors is, and where it stands. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/gradients_plan.h"

#include <math.h>
#include <stdint.h>

#define SMALLEST 204.8	/* bytes: 0.2 KiB */
#define SPREAD	 2560.0 /* 512 KiB / 0.2 KiB */

enum { ALIGNMENT = 64 };

/* SplitMix64: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

/* Rounding to 0.01 bytes first keeps two mathematical libraries from giving two plans. */
static size_t random_bytes(uint64_t *state)
{
	double u = (double)(next_random(state) >> 11) * 0x1p-53;

	return (size_t)(floor(SMALLEST * pow(SPREAD, u) * 100.0 + 0.5) / 100.0);
}

size_t gradients_plan(struct tensor tensors[GRADIENTS], size_t width)
{
	uint64_t state = GRADIENTS_SEED;
	size_t end = 0;

	for (int i = 0; i < GRADIENTS; i++) {
		size_t bytes = random_bytes(&state) / width * width;

		tensors[i] = (struct tensor){.offset = end, .count = bytes / width};
		end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return end;
}

size_t gradients_room(size_t width)
{
	static struct tensor tensors[GRADIENTS];

	return gradients_plan(tensors, width);
}
