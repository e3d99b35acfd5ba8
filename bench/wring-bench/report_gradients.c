/* report_gradients.c: a thousand tensors each way, as text and as JSON. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report_json.h"

#include <stdio.h>

static const char *const titles[] = {"Wring: wring_iallreduce, wring_waitall",
				     "MPI: MPI_Allreduce, one by one",
				     "MPI: MPI_Iallreduce, MPI_Waitall"};

void report_gradients(const struct run *run)
{
	const struct gradients *gradients = &run->gradients;

	printf("\n%d tensors of %zu to %zu bytes (log-uniform, seed %d), %.1f MiB together, %ld "
	       "rounds\n\n",
	       GRADIENTS, gradients->smallest, gradients->largest, GRADIENTS_SEED,
	       (double)gradients->bytes / (1 << 20), gradients->rounds);
	printf("%-40s %10s %10s %7s\n%-40s %10s %10s %7s\n", "all tensors by", "median", "p99",
	       "algbw", "", "ms", "ms", "GB/s");
	for (int way = 0; way < GRADIENTS_WAYS; way++) {
		const struct stats *time = &gradients->time[way];

		printf("%-40s %10.3f %10.3f %7.3f\n", titles[way], time->median * 1e3,
		       time->p99 * 1e3, (double)gradients->bytes / time->median / 1e9);
	}
	printf("\n");
	if (run->options.check)
		printf("checked: %llu elements wrong\n", (unsigned long long)gradients->wrong);
	printf("ratio = median of the better MPI way / Wring median: %.2f\n",
	       gradients_ratio(gradients));
	fflush(stdout);
}

void report_json_gradients(struct json *json, const struct run *run)
{
	const struct gradients *gradients = &run->gradients;

	json_open(json, "gradients", '{');
	json_integer(json, "tensors", GRADIENTS);
	json_text(json, "distribution", "log-uniform");
	json_integer(json, "seed", GRADIENTS_SEED);
	json_integer(json, "smallest_bytes", (long long)gradients->smallest);
	json_integer(json, "largest_bytes", (long long)gradients->largest);
	json_integer(json, "bytes", (long long)gradients->bytes);
	json_integer(json, "rounds", gradients->rounds);
	for (int way = 0; way < GRADIENTS_WAYS; way++)
		report_json_stats(json, gradients_way_name((enum gradients_way)way),
				  &gradients->time[way]);
	if (run->options.check)
		json_integer(json, "wrong", (long long)gradients->wrong);
	else
		json_null(json, "wrong");
	json_real(json, "ratio", gradients_ratio(gradients));
	json_close(json, '}');
}
