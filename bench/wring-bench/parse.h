/* parse.h: numbers and sizes as people type them. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_PARSE_H
#define BENCH_WRING_BENCH_PARSE_H

#include "bench/wring-bench/complaint.h"

#include <stddef.h>

/* All return 0, or -1 with a complaint that names the option and the text; *out then unchanged. */

/* A whole number within low..high. */
int parse_number(const char *option, const char *text, long low, long high, long *out,
		 struct complaint *complaint);

/* Seconds, a fraction allowed, within low..high. */
int parse_seconds(const char *option, const char *text, double low, double high, double *out,
		  struct complaint *complaint);

/* Bytes: 4, 4K, 4Ki, 4KiB, 256MiB, 1G; K is always 1024. */
int parse_bytes(const char *option, const char *text, size_t *out, struct complaint *complaint);

/* Which of names, ended by NULL; *out is the index. The complaint lists them all. */
int parse_choice(const char *option, const char *text, const char *const *names, int *out,
		 struct complaint *complaint);

/* The name nearest to text in spelling; NULL if none is near. */
const char *parse_nearest(const char *text, const char *const *names);

#endif
