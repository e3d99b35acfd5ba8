/* options.h: what the command line asks for. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_OPTIONS_H
#define BENCH_WRING_BENCH_OPTIONS_H

#include "bench/wring-bench/complaint.h"

#include <wring.h>

#include <stdbool.h>
#include <stddef.h>

enum collective { ALLREDUCE, BROADCAST, BARRIER };
enum buffer_kind { BUFFERS_ALLOC, BUFFERS_MALLOC, BUFFERS_REGISTER };
enum { MAX_SIZES = 256 };

/* What is measured: a table over sizes, or something of its own. */
enum mode { MODE_SIZES, MODE_GRADIENTS, MODE_OVERLAP, MODE_TUNE };

struct options {
	enum collective collective;
	enum wring_datatype datatype;
	enum wring_op op;
	enum buffer_kind buffers;
	int root;
	bool rotate_root, in_place, nonblocking, touch, check, compare, limits;
	bool gradients, overlap, tune; /* as given; mode is what they come to */
	bool help, version;
	enum mode mode;

	size_t sizes_count;
	size_t sizes[MAX_SIZES]; /* bytes, each a multiple of the datatype's size */
	size_t min, max;	 /* SIZE_MAX, as factor is -1: not given */
	long factor;

	long iterations, warmup, batch; /* -1: chosen for each size */
	double budget;			/* seconds for each size, where they are chosen */
	long deadline;

	const char *json, *csv, *plot; /* file names; NULL: not wanted */
	struct wring_config config;
};

/* Parse argv, whose strings stay borrowed. Returns 0, or -1 with a complaint. */
int options_parse(struct options *options, int argc, char **argv, struct complaint *complaint);

/*
 * After all options are set (options_parse calls it): choose the sizes, refuse what does not go
 * together. Returns 0, or -1 with a complaint.
 */
int options_settle(struct options *options, struct complaint *complaint);

/* The first step of options_settle: which mode is meant? Refuses what does not go with it. */
int options_settle_mode(struct options *options, struct complaint *complaint);

/* What can only be judged once the number of ranks is known. Returns 0, or -1. */
int options_check_ranks(const struct options *options, int size, struct complaint *complaint);

/* The longest of the sizes, in bytes; at least 1. */
size_t options_longest(const struct options *options);

/* The manual in brief, on stdout; made from the same table as the parser. */
void options_help(void);

const char *options_collective_name(enum collective collective);
const char *options_buffers_name(enum buffer_kind buffers);

#endif
