/* gradients.c: a thousand all-reduces in flight together, beside MPI one by one and together. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/gradients.h"
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/pattern.h"
#include "bench/wring-bench/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MIN_ROUNDS = 5,
	MAX_ROUNDS = 1000,
	SALTS = 16, /* tensors i and i + SALTS have the same contents */
	SPOILT = 0xa5
};

/* All that one round needs. */
struct round {
	struct work *work;
	struct tensor tensors[GRADIENTS];
	struct wring_request *requests[GRADIENTS];
	MPI_Request mpi_requests[GRADIENTS];
};

static const char *const way_names[] = {"wring", "mpi_allreduce_loop", "mpi_iallreduce_waitall"};

const char *gradients_way_name(enum gradients_way way)
{
	return way_names[way];
}

static void *at(void *block, const struct tensor *tensor)
{
	return (char *)block + tensor->offset;
}

static void die_of_wring(const struct work *work, enum wring_status status)
{
	struct wring_error error = {.status = WRING_OK};

	wring_comm_error(work->comm, &error);
	complaint_die("--gradients: %s: %s", wring_strerror(status), error.text);
}

static void run_wring(struct round *round)
{
	struct work *work = round->work;
	const struct options *options = work->options;
	enum wring_status status = WRING_OK;

	for (int i = 0; i < GRADIENTS && status == WRING_OK; i++)
		status = wring_iallreduce(work->comm, at(work->send, &round->tensors[i]),
					  at(work->recv, &round->tensors[i]),
					  round->tensors[i].count, options->datatype, options->op,
					  &round->requests[i]);
	if (status == WRING_OK)
		status = wring_waitall(GRADIENTS, round->requests);
	if (status != WRING_OK)
		die_of_wring(work, status);
}

static const void *mpi_send(const struct work *work, const struct tensor *tensor)
{
	return work->send == work->recv ? MPI_IN_PLACE : at(work->send, tensor);
}

/* MPI's own error handler ends the program. */
static void run_mpi_loop(struct round *round)
{
	struct work *work = round->work;

	for (int i = 0; i < GRADIENTS; i++) {
		const struct tensor *tensor = &round->tensors[i];

		MPI_Allreduce(mpi_send(work, tensor), at(work->recv, tensor), (int)tensor->count,
			      work->datatype, work->op, work->mpi);
	}
}

static void run_mpi_together(struct round *round)
{
	struct work *work = round->work;

	for (int i = 0; i < GRADIENTS; i++) {
		const struct tensor *tensor = &round->tensors[i];

		MPI_Iallreduce(mpi_send(work, tensor), at(work->recv, tensor), (int)tensor->count,
			       work->datatype, work->op, work->mpi, &round->mpi_requests[i]);
	}
	MPI_Waitall(GRADIENTS, round->mpi_requests, MPI_STATUSES_IGNORE);
}

/* This rank's seconds. */
static double time_way(struct round *round, enum gradients_way way)
{
	static void (*const run[GRADIENTS_WAYS])(struct round *) = {run_wring, run_mpi_loop,
								    run_mpi_together};
	double start;

	MPI_Barrier(round->work->mpi);
	start = timer_now();
	run[way](round);
	return timer_now() - start;
}

/* --- are the results right? --------------------------------------------------------------- */

static void fill(struct round *round, struct pattern *pattern, enum pattern_kind kind)
{
	const struct work *work = round->work;

	for (uint32_t salt = 0; salt < SALTS; salt++) {
		pattern_make(pattern, work->options, kind, work->rank, work->size, 0, salt);
		for (uint32_t i = salt; i < GRADIENTS; i += SALTS)
			pattern_fill(pattern, at(work->send, &round->tensors[i]),
				     round->tensors[i].count);
	}
}

static uint64_t count_wrong(struct round *round, struct pattern *pattern)
{
	const struct work *work = round->work;
	uint64_t wrong = 0;

	for (uint32_t salt = 0; salt < SALTS; salt++) {
		pattern_make(pattern, work->options, PATTERN_EXACT, work->rank, work->size, 0,
			     salt);
		for (uint32_t i = salt; i < GRADIENTS; i += SALTS) {
			size_t first;
			size_t here = pattern_wrong(pattern, at(work->recv, &round->tensors[i]),
						    round->tensors[i].count, &first);

			if (here && !wrong)
				fprintf(stderr,
					"wring-bench: rank %d: tensor %u: element %zu is wrong\n",
					work->rank, i, first);
			wrong += here;
		}
	}
	return wrong;
}

static uint64_t check(struct round *round, struct pattern *pattern)
{
	struct work *work = round->work;
	uint64_t wrong, total = 0;

	if (!work->options->check)
		return 0;
	deadline_phase("the check of gradients", 0);
	memset(work->recv, SPOILT, work_bytes(work));
	fill(round, pattern, PATTERN_EXACT);
	run_wring(round);
	wrong = count_wrong(round, pattern);
	MPI_Allreduce(&wrong, &total, 1, MPI_UINT64_T, MPI_SUM, work->mpi);
	return total;
}

/* --- the measurement ---------------------------------------------------------------------- */

/* Warm up, and see how many rounds the budget allows. */
static long plan_rounds(struct round *round)
{
	const struct options *options = round->work->options;
	long warmup = options->warmup >= 0 ? options->warmup : 1;
	double once = 0.0;

	for (long i = 0; i < warmup || i == 0; i++) {
		double start = timer_now();

		for (int way = 0; way < GRADIENTS_WAYS; way++)
			(void)time_way(round, (enum gradients_way)way);
		once = timer_slowest(timer_now() - start);
	}
	if (options->iterations >= 0)
		return options->iterations;
	return timer_within(options->budget / once, MIN_ROUNDS, MAX_ROUNDS);
}

/* Each round begins with another way, so that none always finds the caches of the same one. */
static int time_rounds(struct round *round, struct gradients *gradients,
		       struct complaint *complaint)
{
	long n = gradients->rounds = plan_rounds(round);
	double *seconds = calloc((size_t)n, GRADIENTS_WAYS * sizeof(*seconds));

	if (!seconds)
		complaint_set(complaint, "no memory for %ld times; lower --iterations", n);
	if (complaint_agree(complaint)) {
		free(seconds);
		return -1;
	}
	deadline_phase("the measurement of gradients", 0);
	for (long i = 0; i < n; i++)
		for (long turn = i; turn < i + GRADIENTS_WAYS; turn++) {
			long way = turn % GRADIENTS_WAYS;

			seconds[way * n + i] = time_way(round, (enum gradients_way)way);
		}
	for (int way = 0; way < GRADIENTS_WAYS; way++)
		gradients->time[way] = timer_stats(seconds + way * n, n);
	free(seconds);
	return 0;
}

static void describe(const struct round *round, struct gradients *gradients)
{
	size_t width = wring_datatype_size(round->work->options->datatype);

	*gradients = (struct gradients){.smallest = SIZE_MAX};
	for (int i = 0; i < GRADIENTS; i++) {
		size_t bytes = round->tensors[i].count * width;

		gradients->bytes += bytes;
		gradients->smallest = bytes < gradients->smallest ? bytes : gradients->smallest;
		gradients->largest = bytes > gradients->largest ? bytes : gradients->largest;
	}
}

int gradients_measure(struct work *work, struct gradients *gradients, struct complaint *complaint)
{
	static struct round round;
	struct pattern pattern = {.input = NULL};
	size_t width = wring_datatype_size(work->options->datatype);
	int failed = -1;

	round.work = work;
	work->count = gradients_plan(round.tensors, width) / width;
	describe(&round, gradients);
	pattern_alloc(&pattern, work->options->datatype, complaint);
	if (!complaint_agree(complaint)) {
		gradients->wrong = check(&round, &pattern);
		deadline_phase("the warm-up of gradients", 0);
		fill(&round, &pattern, work->send == work->recv ? PATTERN_STEADY : PATTERN_EXACT);
		failed = time_rounds(&round, gradients, complaint);
		if (!failed)
			gradients->wrong += check(&round, &pattern);
	}
	pattern_free(&pattern);
	return failed;
}

double gradients_ratio(const struct gradients *gradients)
{
	double loop = gradients->time[GRADIENTS_MPI_LOOP].median;
	double together = gradients->time[GRADIENTS_MPI_TOGETHER].median;

	return (loop < together ? loop : together) / gradients->time[GRADIENTS_WRING].median;
}
