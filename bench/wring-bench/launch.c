/* launch.c: what the launcher (mpirun, srun, mpiexec) has told this process by environment. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/launch.h"

#include <stdlib.h>

static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					 "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

/* Of launchers that start exactly the processes of one MPI_COMM_WORLD. */
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
					 "SLURM_STEP_NUM_TASKS"};

static long environment_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return -1;
	value = strtol(text, &end, 10);
	return *end || value < 0 || value > 1L << 30 ? -1 : value;
}

static int read_rank(void)
{
	for (size_t i = 0; i < sizeof(rank_names) / sizeof(rank_names[0]); i++) {
		long rank = environment_number(rank_names[i]);

		if (rank >= 0)
			return (int)rank;
	}
	return -1;
}

static void claim(struct launch *launch, const char *name, long value)
{
	launch->claim = name;
	launch->value = value;
}

/* A batch allocation may be larger than the run inside it: believed only without a better
 * witness. */
void launch_read(struct launch *launch)
{
	long tasks = environment_number("SLURM_NTASKS");
	long pmix_rank = environment_number("PMIX_RANK");
	int witnesses = 0;

	*launch = (struct launch){.rank = read_rank()};
	if (pmix_rank > 0)
		claim(launch, "PMIX_RANK", pmix_rank);
	for (size_t i = 0; i < sizeof(size_names) / sizeof(size_names[0]); i++) {
		long size = environment_number(size_names[i]);

		if (size > 1)
			claim(launch, size_names[i], size);
		witnesses += size >= 1;
	}
	if (tasks > 1 && !witnesses)
		claim(launch, "SLURM_NTASKS", tasks);
}

int launch_check(const struct launch *launch, int mpi_size, struct complaint *complaint)
{
	if (mpi_size > 1 || !launch->claim)
		return 0;
	return complaint_set(
		complaint,
		"MPI sees 1 rank, but the launcher says %s=%ld: every process would be "
		"rank 0 of 1; use the mpirun of the MPI that wring-bench was built with "
		"(ldd wring-bench names it), or mpirun -n 1 for a single rank",
		launch->claim, launch->value);
}
