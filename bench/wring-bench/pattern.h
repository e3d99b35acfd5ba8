/* pattern.h: inputs whose result is known exactly, in every datatype and in any order. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_PATTERN_H
#define BENCH_WRING_BENCH_PATTERN_H

#include "bench/wring-bench/complaint.h"
#include "bench/wring-bench/options.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A vector is the same PATTERN_PERIOD elements again and again. The period is a prime, so that
 * no two chunks or segments of a vector begin alike and a misplaced one is noticed.
 */
enum { PATTERN_PERIOD = 8191 };

struct pattern {
	size_t width; /* bytes of an element */
	unsigned char *input;
	unsigned char *expected;
};

enum pattern_kind {
	PATTERN_EXACT, /* differs from rank to rank and with salt; expected is the result */
	PATTERN_STEADY /* may be reduced in place any number of times and stays finite */
};

/* Room for the tables. Returns 0, or -1 with a complaint. End it with pattern_free. */
int pattern_alloc(struct pattern *pattern, enum wring_datatype datatype,
		  struct complaint *complaint);
void pattern_free(struct pattern *pattern);

/* Compute both tables for this rank of size; root counts for a broadcast only. */
void pattern_make(struct pattern *pattern, const struct options *options, enum pattern_kind kind,
		  int rank, int size, int root, uint32_t salt);

/* Write count elements of the input into buf. */
void pattern_fill(const struct pattern *pattern, void *buf, size_t count);

/* How many of count elements differ from the expected bits; *first is the first of them. */
size_t pattern_wrong(const struct pattern *pattern, const void *buf, size_t count, size_t *first);

#endif
