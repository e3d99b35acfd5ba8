/* report_json.c: everything about a run, as JSON. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report_json.h"
#include "bench/wring-bench/buffers.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FROM_BYTES = 4096 };

static void put_machine(struct json *json, const struct machine *machine)
{
	json_open(json, "machine", '{');
	json_text(json, "host", machine->host);
	json_text(json, "cpu", machine->cpu);
	json_integer(json, "cores", machine->cores);
	json_text(json, "kernel", machine->kernel);
	json_close(json, '}');
	json_text(json, "date", machine->date);
	json_text(json, "wring", wring_version());
	json_text(json, "mpi", machine->mpi);
	json_text(json, "malloc", buffers_malloc_note());
}

static void put_command(struct json *json, const struct run *run)
{
	json_open(json, "command", '[');
	for (int i = 0; i < run->argc; i++)
		json_text(json, NULL, run->argv[i]);
	json_close(json, ']');
}

static void put_options(struct json *json, const struct options *options)
{
	json_open(json, "options", '{');
	json_text(json, "collective", options_collective_name(options->collective));
	json_text(json, "datatype", wring_datatype_name(options->datatype));
	json_text(json, "op", wring_op_name(options->op));
	json_text(json, "buffers", options_buffers_name(options->buffers));
	json_integer(json, "root", options->root);
	json_bool(json, "rotate_root", options->rotate_root);
	json_bool(json, "in_place", options->in_place);
	json_bool(json, "nonblocking", options->nonblocking);
	json_bool(json, "touch", options->touch);
	json_bool(json, "check", options->check);
	json_bool(json, "compare", options->compare);
	json_bool(json, "limits", options->limits);
	json_close(json, '}');
}

static void put_startup(struct json *json, const struct startup *startup)
{
	json_real(json, "comm_create_ms", startup->seconds * 1e3);
	json_integer(json, "transport_memory_bytes", (long long)startup->memory);
}

static void put_rank(struct json *json, const struct path_row *row, int rank)
{
	json_open(json, NULL, '{');
	json_integer(json, "rank", rank);
	json_text(json, "host", row->host);
	json_text(json, "cpus", row->cpus);
	json_integer(json, "numa_node", row->numa_node);
	json_text(json, "peers", row->peers);
	json_text(json, "device", row->device);
	json_integer(json, "port", row->port);
	json_integer(json, "gid_index", row->gid_index);
	json_text(json, "gid", row->gid);
	json_integer(json, "mtu", row->mtu);
	json_close(json, '}');
}

void report_json_stats(struct json *json, const char *name, const struct stats *stats)
{
	json_open(json, name, '{');
	json_real(json, "min_us", stats->min * 1e6);
	json_real(json, "median_us", stats->median * 1e6);
	json_real(json, "p99_us", stats->p99 * 1e6);
	json_real(json, "max_us", stats->max * 1e6);
	json_close(json, '}');
}

static void put_result(struct json *json, const struct run *run, const struct result *result)
{
	double busbw = measure_busbw(result, SYSTEM_WRING, run->options.collective, run->size);

	json_open(json, NULL, '{');
	json_integer(json, "bytes", (long long)result->bytes);
	json_integer(json, "count", (long long)result->count);
	json_integer(json, "inner", result->inner);
	json_integer(json, "blocks", result->blocks);
	report_json_stats(json, "wring", &result->time[SYSTEM_WRING]);
	json_real(json, "algbw_GBps", measure_algbw(result, SYSTEM_WRING) / 1e9);
	json_real(json, "busbw_GBps", busbw / 1e9);
	if (run->options.check)
		json_integer(json, "wrong", (long long)result->wrong);
	else
		json_null(json, "wrong");
	if (run->options.compare) {
		report_json_stats(json, "mpi", &result->time[SYSTEM_MPI]);
		json_real(json, "ratio", measure_ratio(result));
	}
	if (run->options.limits)
		report_json_limit(json, &run->limits, result);
	json_close(json, '}');
}

static void put_mean(struct json *json, const struct run *run)
{
	size_t low = FROM_BYTES;
	size_t high = SIZE_MAX;
	size_t found = 0;
	double mean;

	if (!run->options.compare)
		return;
	mean = report_mean_ratio(run, &low, &high, &found);
	if (found)
		json_real(json, "geometric_mean_ratio_from_4KiB", mean);
}

static void put_results(struct json *json, const struct run *run)
{
	if (run->options.limits)
		report_json_limits(json, &run->limits);
	json_open(json, "results", '[');
	for (size_t i = 0; i < run->results_count; i++)
		put_result(json, run, &run->results[i]);
	json_close(json, ']');
	put_mean(json, run);
}

static void put_measured(struct json *json, const struct run *run)
{
	switch (run->options.mode) {
	case MODE_SIZES:
		put_results(json, run);
		break;
	case MODE_GRADIENTS:
		report_json_gradients(json, run);
		break;
	case MODE_OVERLAP:
		report_json_overlap(json, run);
		break;
	case MODE_TUNE:
		break; /* its table is a file of its own */
	}
}

static void put_run(struct json *json, const struct run *run)
{
	json_open(json, NULL, '{');
	put_machine(json, &run->machine);
	put_command(json, run);
	put_options(json, &run->options);
	put_startup(json, &run->startup);
	json_open(json, "ranks", '[');
	for (int i = 0; i < run->size; i++)
		put_rank(json, &run->paths[i], i);
	json_close(json, ']');
	put_measured(json, run);
	json_close(json, '}');
	putc('\n', json->file);
}

int report_json(const struct run *run, struct complaint *complaint)
{
	const char *name = run->options.json;
	struct json json = {.file = fopen(name, "w")};
	bool failed;

	if (!json.file)
		return complaint_set(complaint, "--json %s: %s", name, strerror(errno));
	put_run(&json, run);
	failed = ferror(json.file);
	if (fclose(json.file) != 0 || failed)
		return complaint_set(complaint,
				     "--json %s: could not be written in full; is the "
				     "disk full?",
				     name);
	return 0;
}
