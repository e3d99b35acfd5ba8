/* report.h: the table on stdout, and the files. All of it on rank 0 only. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_REPORT_H
#define BENCH_WRING_BENCH_REPORT_H

#include "bench/wring-bench/run.h"

/* What is measured, and where. */
void report_heading(const struct run *run);

/* The table's heading; then a line for each result. */
void report_table_heading(const struct run *run);
void report_result(const struct run *run, const struct result *result);

/* The geometric means of the ratios, and whether anything was wrong. */
void report_summary(const struct run *run);

/* The thousand tensors of --gradients. */
void report_gradients(const struct run *run);

/* One size of --overlap. */
void report_overlap(const struct run *run, const struct overlap *overlap);

/* Which size is being worked on, if stderr is a terminal; report_result wipes it away. */
void report_progress(const struct run *run, size_t bytes);

/*
 * Before anything is measured: can all wanted files be written, is gnuplot there? Leaves no
 * file behind. Returns 0, or -1 with a complaint.
 */
int report_check_files(const struct options *options, struct complaint *complaint);

/* Write the files asked for. Each returns 0, or -1 with a complaint. */
int report_json(const struct run *run, struct complaint *complaint);
int report_csv(const struct run *run, struct complaint *complaint);
int report_plot(const struct run *run, struct complaint *complaint);

/*
 * The geometric mean of the ratios of sizes from low to high, high included, and how many there
 * are; *low and *high become the sizes that really occur.
 */
double report_mean_ratio(const struct run *run, size_t *low, size_t *high, size_t *found);

/* "4 KiB", "64 MiB"; exact sizes only, others in bytes. */
void report_format_bytes(char *text, size_t size, size_t bytes);

#endif
