/* report.c: the table on stdout. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report.h"
#include "bench/wring-bench/buffers.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { SMALL = 4096 }; /* below it latency counts, above bandwidth: two means */

void report_format_bytes(char *text, size_t size, size_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, size, "%zu %s", bytes, units[unit]);
}

static const char *const buffer_words[] = {
	[BUFFERS_ALLOC] = "wring_alloc buffers",
	[BUFFERS_MALLOC] = "malloc buffers",
	[BUFFERS_REGISTER] = "malloc buffers with wring_register",
};

static void print_what(const struct run *run)
{
	const struct options *options = &run->options;
	int hosts = paths_hosts(run->paths, run->size);

	printf("%s", options_collective_name(options->collective));
	if (options->collective != BARRIER)
		printf(" of %s", wring_datatype_name(options->datatype));
	if (options->collective == ALLREDUCE)
		printf(" %s, %s", wring_op_name(options->op),
		       options->in_place ? "in place" : "out of place");
	if (options->collective == BROADCAST && options->rotate_root)
		printf(", root moving on");
	if (options->collective == BROADCAST && !options->rotate_root)
		printf(", root %d", options->root);
	if (options->collective != BARRIER)
		printf(", %s", buffer_words[options->buffers]);
	printf("%s%s, %d rank%s on %d host%s\n", options->nonblocking ? ", start and wait" : "",
	       options->touch ? ", touched" : "", run->size, run->size == 1 ? "" : "s", hosts,
	       hosts == 1 ? "" : "s");
}

/* The formula is that of the manual. */
static void print_startup(const struct run *run)
{
	const struct startup *startup = &run->startup;

	printf("wring_comm_create: %.1f ms; transport memory of a rank: %.2f MiB = 4 KiB + for "
	       "each "
	       "peer slots x (64 B + slot) + 1.1 KiB\n\n",
	       startup->seconds * 1e3, (double)startup->memory / (1 << 20));
}

void report_heading(const struct run *run)
{
	const struct machine *machine = &run->machine;

	printf("wring-bench: Wring %s, %s\n", wring_version(), machine->mpi);
	printf("%s, %ld core%s, %s, %s\n", machine->cpu, machine->cores,
	       machine->cores == 1 ? "" : "s", machine->kernel, machine->date);
	print_what(run);
	printf("malloc: %s\n", buffers_malloc_note());
	print_startup(run);
	paths_print(run->paths, run->size);
	fflush(stdout);
}

static void print_limits(const struct limits *limits)
{
	if (limits->shared)
		printf("\nlimits of this machine: notification %.3f us one way; copy of 1 MiB that "
		       "another core has just written %.2f GB/s\n",
		       limits->latency * 1e6, limits->one_way / 1e9);
	else
		printf("\nlimits of these links, by Wring's barrier and broadcast: notification "
		       "%.2f us one way; %.3f GB/s one way, %.3f GB/s each way at once\n",
		       limits->latency * 1e6, limits->link_one / 1e9, limits->link_both / 1e9);
}

void report_table_heading(const struct run *run)
{
	if (run->options.limits)
		print_limits(&run->limits);
	printf("\n%11s %10s %-8s %-4s %5s %6s %10s %10s %7s %7s %5s", "bytes", "count", "type",
	       "op", "inner", "blocks", "median", "p99", "algbw", "busbw", "wrong");
	if (run->options.compare)
		printf(" %10s %10s %6s", "MPI median", "MPI p99", "ratio");
	if (run->options.limits)
		printf(" %7s %7s %10s %6s", "copy", "reduce", "limit", "% of");
	printf("\n%11s %10s %-8s %-4s %5s %6s %10s %10s %7s %7s %5s", "", "", "", "", "", "", "us",
	       "us", "GB/s", "GB/s", "");
	if (run->options.compare)
		printf(" %10s %10s %6s", "us", "us", "");
	if (run->options.limits)
		printf(" %7s %7s %10s %6s", "GB/s", "GB/s", "us", "limit");
	printf("\n");
	fflush(stdout);
}

void report_progress(const struct run *run, size_t bytes)
{
	char size[32];

	if (!isatty(STDERR_FILENO))
		return;
	report_format_bytes(size, sizeof(size), bytes);
	fprintf(stderr, "\r\033[K%zu of %zu: %s ...", run->results_count + 1,
		run->options.sizes_count, size);
}

static void print_bandwidth(const struct run *run, const struct result *result)
{
	enum collective collective = run->options.collective;

	if (!result->bytes) {
		printf(" %7s %7s", "-", "-");
		return;
	}
	printf(" %7.3f %7.3f", measure_algbw(result, SYSTEM_WRING) / 1e9,
	       measure_busbw(result, SYSTEM_WRING, collective, run->size) / 1e9);
}

static void print_limit(const struct run *run, const struct result *result)
{
	const struct limit *limit = &result->limit;

	if (run->limits.shared)
		printf(" %7.2f %7.2f", limit->copy / 1e9, limit->reduce / 1e9);
	else
		printf(" %7s %7s", "-", "-");
	printf(" %10.3f %6.1f", limit->seconds * 1e6, measure_percent_of_limit(result));
}

void report_result(const struct run *run, const struct result *result)
{
	const struct options *options = &run->options;
	bool data = options->collective != BARRIER;
	const struct stats *wring = &result->time[SYSTEM_WRING];
	const struct stats *mpi = &result->time[SYSTEM_MPI];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	printf("%11zu %10zu %-8s %-4s %5ld %6ld %10.3f %10.3f", result->bytes, result->count,
	       data ? wring_datatype_name(options->datatype) : "-",
	       options->collective == ALLREDUCE ? wring_op_name(options->op) : "-", result->inner,
	       result->blocks, wring->median * 1e6, wring->p99 * 1e6);
	print_bandwidth(run, result);
	if (options->check)
		printf(" %5llu", (unsigned long long)result->wrong);
	else
		printf(" %5s", "-");
	if (options->compare)
		printf(" %10.3f %10.3f %6.2f", mpi->median * 1e6, mpi->p99 * 1e6,
		       measure_ratio(result));
	if (options->limits)
		print_limit(run, result);
	printf("\n");
	fflush(stdout);
}

double report_mean_ratio(const struct run *run, size_t *low, size_t *high, size_t *found)
{
	double ratios[MAX_SIZES];
	size_t least = SIZE_MAX;
	size_t most = 0;
	size_t n = 0;

	for (size_t i = 0; i < run->results_count; i++) {
		size_t bytes = run->results[i].bytes;

		if (bytes < *low || bytes > *high)
			continue;
		ratios[n++] = measure_ratio(&run->results[i]);
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	*low = least;
	*high = most;
	*found = n;
	return stats_geometric_mean(ratios, n);
}

static void print_mean(const struct run *run, size_t low, size_t high)
{
	char from[32], to[32];
	size_t found;
	double mean = report_mean_ratio(run, &low, &high, &found);

	if (!found)
		return;
	report_format_bytes(from, sizeof(from), low);
	report_format_bytes(to, sizeof(to), high);
	printf("geometric mean ratio (%s - %s): %.2f\n", from, to, mean);
}

static void print_smallest(const struct run *run)
{
	const struct result *smallest = &run->results[0];
	char bytes[32];

	for (size_t i = 1; i < run->results_count; i++)
		if (measure_ratio(&run->results[i]) < measure_ratio(smallest))
			smallest = &run->results[i];
	report_format_bytes(bytes, sizeof(bytes), smallest->bytes);
	printf("smallest ratio: %.2f at %s\n", measure_ratio(smallest), bytes);
}

void report_summary(const struct run *run)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < run->results_count; i++)
		wrong += run->results[i].wrong;
	if (run->options.check || run->options.compare)
		printf("\n");
	if (run->options.check)
		printf("checked: %llu elements wrong\n", (unsigned long long)wrong);
	if (run->options.compare && run->results_count) {
		printf("ratio = MPI median / Wring median; above 1 Wring is faster\n");
		print_smallest(run);
		print_mean(run, 0, SMALL - 1);
		print_mean(run, SMALL, SIZE_MAX);
	}
	fflush(stdout);
}
