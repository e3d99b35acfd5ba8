/* overlap.c: how much of an all-reduce hides behind a computation. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/overlap.h"
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/pattern.h"
#include "bench/wring-bench/timer.h"

#include <wring-mpi.h>

#include <stdlib.h>

/*
 * How overlap is measured, as the OSU benchmarks of non-blocking collectives do it
 *
 *   pure      start the collective, wait for it
 *   compute   a computation that takes as long as pure did in the warm-up: a fixed amount of work
 *   overall   start the collective, compute, wait for it
 *   overlap   100 x (1 - (overall - compute) / pure): 100 % if overall is as long as compute, 0 %
 *             if it is both together
 *
 * The amount of work is fixed, not its time: what a progress thread takes from the computation
 * makes overall longer, as it does in a program. "With test" cuts the computation into TESTS pieces
 * and calls test after each.
 */
enum {
	MIN_ROUNDS = 5,
	MAX_ROUNDS = 500,
	WARMUPS = 3,
	TESTS = 100,
	ORDER = 32 /* of the matrix: 4 KiB, stays in the first-level cache */
};

static const struct {
	const char *name;
	bool mpi, thread, test;
} ways[OVERLAP_WAYS] = {
	[OVERLAP_NONE] = {.name = "wring"},
	[OVERLAP_TEST] = {.name = "wring_test", .test = true},
	[OVERLAP_THREAD] = {.name = "wring_thread", .thread = true},
	[OVERLAP_THREAD_TEST] = {.name = "wring_thread_test", .thread = true, .test = true},
	[OVERLAP_MPI] = {.name = "mpi", .mpi = true},
	[OVERLAP_MPI_TEST] = {.name = "mpi_test", .mpi = true, .test = true},
};

/* One call under way, of either system. */
struct call {
	struct work *work;
	const struct overlap_thread *thread;
	enum overlap_way way;
	struct wring_request *request; /* NULL: complete */
	MPI_Request mpi_request;
};

enum part { PURE, COMPUTE, OVERALL, PARTS };

const char *overlap_way_name(enum overlap_way way)
{
	return ways[way].name;
}

/* --- a computation ------------------------------------------------------------------------ */

/* What is computed, must not be optimised away. */
static volatile float computed;

/* Steps of a power iteration. */
static void compute(long steps)
{
	static float matrix[ORDER][ORDER], vector[ORDER], product[ORDER];

	vector[0] = 1.0F;
	for (long step = 0; step < steps; step++) {
		for (int row = 0; row < ORDER; row++) {
			float sum = matrix[row][0];

			for (int column = 0; column < ORDER; column++)
				sum += matrix[row][column] * vector[column];
			product[row] = sum;
		}
		for (int row = 0; row < ORDER; row++)
			vector[row] = 0.5F * product[row] + 1.0F;
	}
	computed = vector[0];
}

/* Steps in a second: the best of several tries. */
static double compute_rate(void)
{
	const long steps = 2000;
	double best = 0.0;

	for (int i = 0; i < 20; i++) {
		double start = timer_now();
		double rate;

		compute(steps);
		rate = (double)steps / (timer_now() - start);
		best = rate > best ? rate : best;
	}
	return best;
}

/* --- a call ------------------------------------------------------------------------------- */

static struct wring_comm *comm_of(const struct call *call)
{
	return ways[call->way].thread ? call->thread->comm : call->work->comm;
}

static void die_unless(const struct call *call, enum wring_status status)
{
	struct wring_error error = {.status = WRING_OK};

	if (status == WRING_OK)
		return;
	wring_comm_error(comm_of(call), &error);
	complaint_die("--overlap, %s: %s: %s", ways[call->way].name, wring_strerror(status),
		      error.text);
}

static void start_mpi(struct call *call)
{
	struct work *work = call->work;
	const void *send = work->send == work->recv ? MPI_IN_PLACE : work->send;

	MPI_Iallreduce(send, work->recv, (int)work->count, work->datatype, work->op, work->mpi,
		       &call->mpi_request);
}

static void start(struct call *call)
{
	struct work *work = call->work;
	const struct buffers *threads = &call->thread->buffers;
	bool thread = ways[call->way].thread;

	if (ways[call->way].mpi)
		start_mpi(call);
	else
		die_unless(call,
			   wring_iallreduce(comm_of(call), thread ? threads->send : work->send,
					    thread ? threads->recv : work->recv, work->count,
					    work->options->datatype, work->options->op,
					    &call->request));
}

static void test(struct call *call)
{
	int done = 0;

	if (ways[call->way].mpi)
		MPI_Test(&call->mpi_request, &done, MPI_STATUS_IGNORE);
	else
		die_unless(call, wring_test(&call->request, &done));
}

static void finish(struct call *call)
{
	if (ways[call->way].mpi)
		MPI_Wait(&call->mpi_request, MPI_STATUS_IGNORE);
	else
		die_unless(call, wring_wait(&call->request));
}

/* In pieces with calls of test between them, where the way wants it. */
static void compute_meanwhile(struct call *call, long steps, bool may_test)
{
	if (!ways[call->way].test) {
		compute(steps);
		return;
	}
	for (long piece = 0; piece < TESTS; piece++) {
		compute(steps * (piece + 1) / TESTS - steps * piece / TESTS);
		if (may_test)
			test(call);
	}
}

/* This rank's seconds. */
static double time_part(struct call *call, enum part part, long steps)
{
	double from;

	MPI_Barrier(call->work->mpi);
	from = timer_now();
	if (part != COMPUTE)
		start(call);
	if (part != PURE)
		compute_meanwhile(call, steps, part == OVERALL);
	if (part != COMPUTE)
		finish(call);
	return timer_now() - from;
}

/* --- the measurement ---------------------------------------------------------------------- */

struct plan {
	long steps[OVERLAP_WAYS];
	long rounds;
};

/* So much computation as takes as long as the collective alone, and rounds as the budget allows. */
static void make_plan(struct call *call, struct plan *plan)
{
	const struct options *options = call->work->options;
	long warmups = options->warmup >= 1 ? options->warmup : WARMUPS;
	double rate = compute_rate();
	double round = 0.0;

	for (int way = 0; way < OVERLAP_WAYS; way++) {
		double best = 1e9;

		call->way = (enum overlap_way)way;
		for (long i = 0; i < warmups; i++) {
			double pure = timer_slowest(time_part(call, PURE, 0));

			best = pure < best ? pure : best;
		}
		plan->steps[way] = (long)(best * rate) + 1;
		round += 4.0 * best;
	}
	plan->rounds = options->iterations;
	if (plan->rounds < 0)
		plan->rounds = timer_within(options->budget / round, MIN_ROUNDS, MAX_ROUNDS);
}

static void time_rounds(struct call *call, const struct plan *plan, double *seconds)
{
	for (long i = 0; i < plan->rounds; i++) {
		for (long turn = i; turn < i + OVERLAP_WAYS; turn++) {
			long way = turn % OVERLAP_WAYS;

			call->way = (enum overlap_way)way;
			for (int part = 0; part < PARTS; part++)
				seconds[(way * PARTS + part) * plan->rounds + i] =
					time_part(call, (enum part)part, plan->steps[way]);
		}
	}
}

static void combine(const struct plan *plan, double *seconds, struct overlap *overlap)
{
	for (long way = 0; way < OVERLAP_WAYS; way++) {
		double *of_way = seconds + way * PARTS * plan->rounds;

		overlap->way[way] = (struct overlap_times){
			.pure = timer_stats(of_way + PURE * plan->rounds, plan->rounds),
			.compute = timer_stats(of_way + COMPUTE * plan->rounds, plan->rounds),
			.overall = timer_stats(of_way + OVERALL * plan->rounds, plan->rounds),
		};
	}
}

static void fill(const struct call *call, struct pattern *pattern)
{
	const struct work *work = call->work;

	pattern_make(pattern, work->options,
		     work->send == work->recv ? PATTERN_STEADY : PATTERN_EXACT, work->rank,
		     work->size, 0, 0);
	pattern_fill(pattern, work->send, work->count);
	pattern_fill(pattern, call->thread->buffers.send, work->count);
}

static int time_all(struct call *call, struct overlap *overlap, struct complaint *complaint)
{
	struct plan plan;
	double *seconds;

	deadline_phase("the warm-up of overlap", overlap->bytes);
	make_plan(call, &plan);
	overlap->rounds = plan.rounds;
	seconds = calloc((size_t)plan.rounds, OVERLAP_WAYS * PARTS * sizeof(*seconds));
	if (!seconds)
		complaint_set(complaint, "no memory for %ld times; lower --iterations",
			      plan.rounds);
	if (complaint_agree(complaint)) {
		free(seconds);
		return -1;
	}
	deadline_phase("the measurement of overlap", overlap->bytes);
	time_rounds(call, &plan, seconds);
	combine(&plan, seconds, overlap);
	free(seconds);
	return 0;
}

int overlap_measure(struct work *work, const struct overlap_thread *thread, struct overlap *overlap,
		    struct complaint *complaint)
{
	struct call call = {.work = work, .thread = thread, .mpi_request = MPI_REQUEST_NULL};
	struct pattern pattern = {.input = NULL};
	int failed = -1;

	*overlap = (struct overlap){.bytes = work_bytes(work)};
	pattern_alloc(&pattern, work->options->datatype, complaint);
	if (!complaint_agree(complaint)) {
		fill(&call, &pattern);
		failed = time_all(&call, overlap, complaint);
	}
	pattern_free(&pattern);
	return failed;
}

int overlap_open(struct overlap_thread *thread, const struct options *options)
{
	struct complaint complaint = {""};
	struct wring_config config = options->config;
	struct wring_error error = {.status = WRING_OK};

	deadline_phase("wring_comm_create for progress=thread", 0);
	config.progress = WRING_PROGRESS_THREAD;
	if (wring_comm_create_mpi(MPI_COMM_WORLD, &config, &thread->comm, &error) != WRING_OK)
		complaint_set(&complaint, "%s", error.text);
	if (complaint_agree(&complaint))
		return -1;
	buffers_make(&thread->buffers, options, thread->comm, &complaint);
	return complaint_agree(&complaint) ? -1 : 0;
}

void overlap_close(struct overlap_thread *thread)
{
	buffers_free(&thread->buffers);
	wring_comm_destroy(thread->comm);
}

double overlap_percent(const struct overlap_times *times)
{
	double exposed = times->overall.median - times->compute.median;
	double percent = 100.0 * (1.0 - exposed / times->pure.median);

	if (percent < 0.0)
		return 0.0;
	return percent > 100.0 ? 100.0 : percent;
}
