/* report_json.h: the parts of a run that are no table over sizes, as JSON. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_REPORT_JSON_H
#define BENCH_WRING_BENCH_REPORT_JSON_H

#include "bench/json.h"
#include "bench/wring-bench/report.h"

/* Microseconds: minimum, median, p99 and maximum. */
void report_json_stats(struct json *json, const char *name, const struct stats *stats);

/* With --limits: those of the machine, and that of one size. */
void report_json_limits(struct json *json, const struct limits *limits);
void report_json_limit(struct json *json, const struct limits *limits, const struct result *result);

void report_json_gradients(struct json *json, const struct run *run);
void report_json_overlap(struct json *json, const struct run *run);

#endif
