/* startup.c: what it takes to create a communicator: time, and memory of the transport. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/startup.h"
#include "bench/wring-bench/timer.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * No call of Wring's tells its memory, but the kernel does: the arena is a memfd of that name,
 * which host peers map too (so the largest one counts, not all), and send slots are shared
 * anonymous memory.
 */
void startup_read_maps(struct startup_maps *maps)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4096];

	*maps = (struct startup_maps){.arena = 0};
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		unsigned long long begin = 0, end = 0;

		if (sscanf(line, "%llx-%llx", &begin, &end) != 2)
			continue;
		if (strstr(line, "/memfd:wring") && end - begin > maps->arena)
			maps->arena = (size_t)(end - begin);
		if (strstr(line, "/dev/zero (deleted)"))
			maps->send_slots += (size_t)(end - begin);
	}
	fclose(file);
}

void startup_note(struct startup *startup, double began, const struct startup_maps *before)
{
	struct startup_maps now;
	uint64_t mine, most = 0;

	startup->seconds = timer_slowest(timer_now() - began);
	startup_read_maps(&now);
	mine = now.arena;
	if (now.send_slots > before->send_slots)
		mine += now.send_slots - before->send_slots;
	MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	startup->memory = (size_t)most;
}
