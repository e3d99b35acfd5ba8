/* report_overlap.c: how much of an all-reduce hides behind a computation, as text and as JSON. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report_json.h"

#include <stdio.h>

static const char *const titles[OVERLAP_WAYS] = {
	[OVERLAP_NONE] = "Wring, progress none",
	[OVERLAP_TEST] = "Wring, progress none, wring_test",
	[OVERLAP_THREAD] = "Wring, progress thread",
	[OVERLAP_THREAD_TEST] = "Wring, progress thread, wring_test",
	[OVERLAP_MPI] = "MPI_Iallreduce",
	[OVERLAP_MPI_TEST] = "MPI_Iallreduce, MPI_Test",
};

void report_overlap(const struct run *run, const struct overlap *overlap)
{
	char size[32];

	report_format_bytes(size, sizeof(size), overlap->bytes);
	printf("\nall-reduce of %s beside a computation, %ld rounds\n\n", size, overlap->rounds);
	printf("%-36s %10s %10s %10s %8s\n%-36s %10s %10s %10s %8s\n", "", "pure", "compute",
	       "overall", "overlap", "", "us", "us", "us", "%");
	for (int way = 0; way < OVERLAP_WAYS; way++) {
		const struct overlap_times *times = &overlap->way[way];

		printf("%-36s %10.1f %10.1f %10.1f %8.1f\n", titles[way], times->pure.median * 1e6,
		       times->compute.median * 1e6, times->overall.median * 1e6,
		       overlap_percent(times));
	}
	if (run->size > run->machine.cores / 2)
		printf("note: %d ranks on %ld cores: a progress thread computes with a core that "
		       "the program needs\n",
		       run->size, run->machine.cores);
	fflush(stdout);
}

static void put_way(struct json *json, enum overlap_way way, const struct overlap_times *times)
{
	json_open(json, overlap_way_name(way), '{');
	report_json_stats(json, "pure", &times->pure);
	report_json_stats(json, "compute", &times->compute);
	report_json_stats(json, "overall", &times->overall);
	json_real(json, "overlap_percent", overlap_percent(times));
	json_close(json, '}');
}

void report_json_overlap(struct json *json, const struct run *run)
{
	json_open(json, "overlap", '[');
	for (size_t i = 0; i < run->overlaps_count; i++) {
		const struct overlap *overlap = &run->overlaps[i];

		json_open(json, NULL, '{');
		json_integer(json, "bytes", (long long)overlap->bytes);
		json_integer(json, "rounds", overlap->rounds);
		for (int way = 0; way < OVERLAP_WAYS; way++)
			put_way(json, (enum overlap_way)way, &overlap->way[way]);
		json_close(json, '}');
	}
	json_close(json, ']');
}
