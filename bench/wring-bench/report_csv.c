/* report_csv.c: the results as comma separated values, and whether files can be written at all. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open for writing without changing what may be there; a file that was not there goes again. */
static int check_file(const char *option, const char *name, struct complaint *complaint)
{
	bool there = !name || access(name, F_OK) == 0;
	int fd;

	if (!name)
		return 0;
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return complaint_set(complaint, "--%s %s: %s; name a file that can be written",
				     option, name, strerror(errno));
	close(fd);
	if (!there)
		unlink(name);
	return 0;
}

static bool have_gnuplot(void)
{
	const char *path = getenv("PATH");

	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		char name[4096];

		length = strcspn(path, ":");
		if ((size_t)snprintf(name, sizeof(name), "%.*s/gnuplot", (int)length, path) <
			    sizeof(name) &&
		    access(name, X_OK) == 0)
			return true;
	}
	return false;
}

int report_check_files(const struct options *options, struct complaint *complaint)
{
	if (check_file("json", options->json, complaint) ||
	    check_file("csv", options->csv, complaint) ||
	    check_file("plot", options->plot, complaint))
		return -1;
	if (options->plot && !have_gnuplot())
		return complaint_set(complaint,
				     "--plot %s: gnuplot is not in PATH; apt-get install "
				     "gnuplot-nox, or leave out --plot",
				     options->plot);
	return 0;
}

static void put_heading(FILE *file, const struct options *options)
{
	fputs("collective,datatype,op,ranks,buffers,in_place,bytes,count,inner,blocks,"
	      "min_us,median_us,p99_us,max_us,algbw_GBps,busbw_GBps,wrong",
	      file);
	if (options->compare)
		fputs(",mpi_min_us,mpi_median_us,mpi_p99_us,mpi_max_us,ratio", file);
	if (options->limits)
		fputs(",limit_us,percent_of_limit", file);
	putc('\n', file);
}

static void put_stats(FILE *file, const struct stats *stats)
{
	fprintf(file, ",%.4f,%.4f,%.4f,%.4f", stats->min * 1e6, stats->median * 1e6,
		stats->p99 * 1e6, stats->max * 1e6);
}

static void put_result(FILE *file, const struct run *run, const struct result *result)
{
	const struct options *options = &run->options;

	fprintf(file, "%s,%s,%s,%d,%s,%d,%zu,%zu,%ld,%ld",
		options_collective_name(options->collective),
		wring_datatype_name(options->datatype), wring_op_name(options->op), run->size,
		options_buffers_name(options->buffers), options->in_place, result->bytes,
		result->count, result->inner, result->blocks);
	put_stats(file, &result->time[SYSTEM_WRING]);
	fprintf(file, ",%.5f,%.5f,", measure_algbw(result, SYSTEM_WRING) / 1e9,
		measure_busbw(result, SYSTEM_WRING, options->collective, run->size) / 1e9);
	if (options->check)
		fprintf(file, "%llu", (unsigned long long)result->wrong);
	if (options->compare) {
		put_stats(file, &result->time[SYSTEM_MPI]);
		fprintf(file, ",%.4f", measure_ratio(result));
	}
	if (options->limits)
		fprintf(file, ",%.4f,%.2f", result->limit.seconds * 1e6,
			measure_percent_of_limit(result));
	putc('\n', file);
}

int report_csv(const struct run *run, struct complaint *complaint)
{
	const char *name = run->options.csv;
	FILE *file = fopen(name, "w");
	bool failed;

	if (!file)
		return complaint_set(complaint, "--csv %s: %s", name, strerror(errno));
	put_heading(file, &run->options);
	for (size_t i = 0; i < run->results_count; i++)
		put_result(file, run, &run->results[i]);
	failed = ferror(file);
	if (fclose(file) != 0 || failed)
		return complaint_set(complaint,
				     "--csv %s: could not be written in full; is the "
				     "disk full?",
				     name);
	return 0;
}
