/* wring-bench.c: times Wring's collectives, and MPI's beside them; wring-bench(1) describes it. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/buffers.h"
#include "bench/wring-bench/complaint.h"
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/report.h"
#include "bench/wring-bench/run.h"
#include "bench/wring-bench/timer.h"
#include "bench/wring-bench/tune.h"

#include <wring-mpi.h>
#include <wring.h>

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --help and --version; of several processes only the first one speaks. */
static int inform(const struct run *run)
{
	char mpi[128];

	if (run->launch.rank > 0)
		return EXIT_OK;
	if (run->options.help) {
		options_help();
		return EXIT_OK;
	}
	machine_mpi_version(mpi, (int)sizeof(mpi));
	printf("wring-bench %s\n%s\n", wring_version(), mpi);
	return EXIT_OK;
}

/* FNV-1a over all arguments and the zeros between them. */
static uint64_t hash_arguments(int argc, char **argv)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (int i = 1; i < argc; i++)
		for (size_t j = 0; j <= strlen(argv[i]); j++)
			hash = (hash ^ (unsigned char)argv[i][j]) * 0x100000001b3U;
	return hash;
}

static void check_same_arguments(const struct run *run, struct complaint *complaint)
{
	uint64_t mine = hash_arguments(run->argc, run->argv);
	uint64_t of_rank_0 = mine;

	MPI_Bcast(&of_rank_0, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	if (mine != of_rank_0)
		complaint_set(complaint,
			      "rank %d has other options than rank 0; give all ranks "
			      "the same",
			      run->rank);
}

/* All that can be refused before ranks are connected. Returns 1 if something was. */
static int refuse(struct run *run, struct complaint *complaint)
{
	if (!launch_check(&run->launch, run->size, complaint))
		options_check_ranks(&run->options, run->size, complaint);
	check_same_arguments(run, complaint);
	if (run->rank == 0 && !complaint->text[0])
		report_check_files(&run->options, complaint);
	if (complaint->text[0] && run->size == 1 && run->launch.rank > 0)
		return 1; /* rank 0 of the launcher says it for all */
	return complaint_agree(complaint);
}

static int connect_ranks(struct run *run, struct wring_comm **comm)
{
	struct complaint complaint = {""};
	struct wring_error error = {.status = WRING_OK};

	struct startup_maps before;
	double began;

	deadline_phase("wring_comm_create", 0);
	startup_read_maps(&before);
	MPI_Barrier(MPI_COMM_WORLD);
	began = timer_now();
	if (wring_comm_create_mpi(MPI_COMM_WORLD, &run->options.config, comm, &error) != WRING_OK)
		complaint_set(&complaint, "%s", error.text);
	startup_note(&run->startup, began, &before);
	return complaint_agree(&complaint) ? -1 : 0;
}

static int measure_sizes(struct run *run, struct work *work, struct limits_window *window)
{
	struct complaint complaint = {""};
	size_t width = wring_datatype_size(run->options.datatype);

	if (run->options.limits && limits_open(&run->limits, window, work, &complaint))
		return -1;
	if (run->rank == 0)
		report_table_heading(run);
	for (size_t i = 0; i < run->options.sizes_count; i++) {
		work->count = run->options.sizes[i] / width;
		if (run->rank == 0)
			report_progress(run, run->options.sizes[i]);
		if (measure(work, &run->results[i], &complaint))
			return -1;
		if (run->options.limits)
			limits_measure(&run->limits, window, work, &run->results[i].limit);
		if (run->rank == 0)
			report_result(run, &run->results[i]);
		run->results_count++;
	}
	if (run->rank == 0)
		report_summary(run);
	return 0;
}

static int measure_table(struct run *run, struct work *work)
{
	struct limits_window window = {.win = MPI_WIN_NULL};
	int failed = measure_sizes(run, work, &window);

	limits_close(&window);
	return failed;
}

static int measure_gradients(struct run *run, struct work *work)
{
	struct complaint complaint = {""};

	if (gradients_measure(work, &run->gradients, &complaint))
		return -1;
	if (run->rank == 0)
		report_gradients(run);
	return 0;
}

static int measure_overlap(struct run *run, struct work *work)
{
	struct complaint complaint = {""};
	struct overlap_thread thread = {.comm = NULL};
	size_t width = wring_datatype_size(run->options.datatype);
	int failed = overlap_open(&thread, &run->options);

	for (size_t i = 0; i < run->options.sizes_count && !failed; i++) {
		work->count = run->options.sizes[i] / width;
		failed = overlap_measure(work, &thread, &run->overlaps[i], &complaint);
		if (run->rank == 0 && !failed)
			report_overlap(run, &run->overlaps[i]);
		run->overlaps_count++;
	}
	overlap_close(&thread);
	return failed;
}

static int measure_mode(struct run *run, struct work *work)
{
	struct complaint complaint = {""};

	if (run->rank == 0 && run->options.mode != MODE_TUNE)
		report_heading(run);
	switch (run->options.mode) {
	case MODE_SIZES:
		return measure_table(run, work);
	case MODE_GRADIENTS:
		return measure_gradients(run, work);
	case MODE_OVERLAP:
		return measure_overlap(run, work);
	case MODE_TUNE:
		return tune(run, &complaint);
	}
	return -1;
}

static int exit_status(const struct run *run)
{
	for (size_t i = 0; i < run->results_count; i++)
		if (run->results[i].wrong)
			return EXIT_WRONG;
	return run->gradients.wrong ? EXIT_WRONG : EXIT_OK;
}

/* With the ranks connected. Returns the exit status; what went wrong has been printed. */
static int measure_connected(struct run *run, struct wring_comm *comm)
{
	struct complaint complaint = {""};
	struct buffers buffers = {.comm = comm};
	struct work work;
	int status = EXIT_USAGE;

	deadline_phase("the table of ranks", 0);
	paths_gather(&run->paths, &run->options, comm, &complaint);
	if (complaint_agree(&complaint))
		return EXIT_USAGE;
	deadline_phase("making buffers", options_longest(&run->options));
	buffers_make(&buffers, &run->options, comm, &complaint);
	if (!complaint_agree(&complaint)) {
		work_init(&work, &run->options, comm);
		work.send = buffers.send;
		work.recv = buffers.recv;
		run->finished = measure_mode(run, &work) == 0;
		status = run->finished ? exit_status(run) : EXIT_WRONG;
	}
	buffers_free(&buffers);
	return status;
}

/* Rank 0, after MPI_Finalize: starting gnuplot is no business of MPI's. */
static int write_files(const struct run *run)
{
	const struct options *options = &run->options;
	struct complaint complaint = {""};
	int failed = (options->json && report_json(run, &complaint)) ||
		     (options->csv && report_csv(run, &complaint)) ||
		     (options->plot && report_plot(run, &complaint));

	if (failed)
		complaint_print(&complaint);
	return failed;
}

/* Between MPI_Init and MPI_Finalize. Returns the exit status so far. */
static int run_with_mpi(struct run *run, struct complaint *complaint)
{
	struct wring_comm *comm = NULL;
	int status;

	MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &run->size);
	deadline_phase("the check of options", 0);
	if (refuse(run, complaint))
		return EXIT_USAGE;
	machine_describe(&run->machine);
	if (connect_ranks(run, &comm))
		return EXIT_WRONG;
	status = measure_connected(run, comm);
	deadline_phase("leaving", 0);
	wring_comm_destroy(comm);
	return status;
}

int main(int argc, char **argv)
{
	static struct run run;
	struct complaint complaint = {""};
	int status;

	buffers_keep_scratch();
	run.argc = argc;
	run.argv = argv;
	launch_read(&run.launch);
	if (options_parse(&run.options, argc, argv, &complaint) == 0 &&
	    (run.options.help || run.options.version))
		return inform(&run);
	if (complaint.text[0] && run.launch.rank < 0) {
		complaint_print(&complaint);
		return EXIT_USAGE;
	}
	deadline_start((unsigned int)run.options.deadline, run.launch.rank);
	MPI_Init(&argc, &argv);
	deadline_mpi_ready();
	status = run_with_mpi(&run, &complaint);
	MPI_Finalize();
	deadline_stop();
	if (run.rank == 0 && run.finished && write_files(&run))
		status = EXIT_WRONG;
	free(run.paths);
	return status;
}
