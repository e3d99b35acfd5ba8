/* measure.c: how long one call takes, for one size. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/measure.h"
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/pattern.h"
#include "bench/wring-bench/timer.h"
#include "bench/wring-bench/validate.h"

#include <stdlib.h>

/*
 * How time is measured
 *
 *   block      barrier (MPI's, for both systems), clock, inner calls back to back, clock
 *   time       the slowest rank's block / inner; then median and p99 over the blocks
 *   compare    blocks of Wring and of MPI in turns, W M, M W, W M, ...: same process, same
 *              buffers, same inner; neither always comes first
 *
 * Ranks leave a barrier a while apart, less than it takes: half a microsecond on one host, 20 us on
 * an emulated one or over TCP. And reading the clock takes 25 ns. Neither matters in a block of 50
 * us and of 20 barriers, so small messages get as many calls as fill one (of the faster system).
 * Longer calls, and all with --touch, are a block each. What inner and the number of blocks come to
 * is computed from times that all ranks share, so all ranks agree.
 *
 * A broadcast from one root may overlap with the next one, so the back-to-back calls of a block
 * show a rate; with --rotate-root each root must have received before it sends, and the block
 * shows the latency.
 */
#define BLOCK_SECONDS 50e-6
#define BLOCK_SHARE   0.05 /* of the budget, at most */
#define WARMUP_SHARE  0.05 /* of the budget, for each system */
#define FOREVER	      1e9  /* seconds */

enum {
	BLOCK_BARRIERS = 20,
	MIN_BLOCKS = 10,
	MAX_BLOCKS = 2000,
	MAX_INNER = 1000,
	MIN_WARMUP = 3,
	MAX_WARMUP = 10000,
	PORTIONS = 16
};

/* What touching does, must not be optimised away. */
static volatile uint64_t touched;

static int systems(const struct work *work)
{
	return work->options->compare ? 2 : 1;
}

/* As a training step would: read the output of the last call, write the input of the next. */
static void touch(const struct work *work, const struct pattern *pattern, enum system system)
{
	const uint64_t *words = work->recv;
	size_t count = work_bytes(work) / sizeof(*words);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += words[i];
	touched = sum;
	if (work->options->collective == ALLREDUCE || work->rank == work_root(work, system))
		pattern_fill(pattern, work_input(work), work->count);
}

/* This rank's time for one block. */
static double time_block(struct work *work, const struct pattern *pattern, enum system system,
			 long calls)
{
	double start;

	if (work->options->touch)
		touch(work, pattern, system);
	MPI_Barrier(work->mpi);
	start = timer_now();
	work_run(work, system, calls);
	return timer_now() - start;
}

/* How long a block should be. */
static double block_seconds(const struct work *work)
{
	double start, barriers, most = work->options->budget * BLOCK_SHARE;

	MPI_Barrier(work->mpi);
	start = timer_now();
	for (int i = 0; i < BLOCK_BARRIERS; i++)
		MPI_Barrier(work->mpi);
	barriers = timer_slowest(timer_now() - start);
	if (barriers > most)
		barriers = most;
	return barriers > BLOCK_SECONDS ? barriers : BLOCK_SECONDS;
}

/*
 * Blocks that double until enough time is spent or enough calls are made; gives the seconds of
 * one call in the best of them, which a disturbed block does not spoil.
 */
static double warm_up(struct work *work, const struct pattern *pattern, enum system system,
		      double long_enough)
{
	const struct options *options = work->options;
	long wanted = options->warmup >= 0 ? options->warmup : MAX_WARMUP;
	double enough = options->warmup >= 0 ? FOREVER : options->budget * WARMUP_SHARE;
	double spent = 0.0;
	double best = FOREVER;
	bool settled;
	long done = 0;

	for (long calls = 1; done < wanted || done == 0; calls *= 2) {
		double block;

		if (done && calls > wanted - done)
			calls = wanted - done;
		block = timer_slowest(time_block(work, pattern, system, calls));
		spent += block;
		done += calls;
		if (block / (double)calls < best)
			best = block / (double)calls;
		settled = (double)calls * best >= long_enough || spent >= options->budget;
		if (settled && spent >= enough && done >= MIN_WARMUP)
			break;
	}
	return best;
}

/* From the warm-up times to inner and blocks. */
static void plan(struct work *work, const struct pattern *pattern, struct result *result)
{
	const struct options *options = work->options;
	double long_enough = block_seconds(work);
	double fastest = FOREVER;
	double round = 0.0;

	for (int s = 0; s < systems(work); s++) {
		double call = warm_up(work, pattern, (enum system)s, long_enough);

		fastest = call < fastest ? call : fastest;
		round += call;
	}
	result->inner = options->batch;
	if (result->inner < 0)
		result->inner = timer_within(long_enough / fastest + 0.5, 1, MAX_INNER);
	round *= (double)result->inner;
	if (options->touch) {
		double start = timer_now();

		touch(work, pattern, SYSTEM_WRING);
		round += timer_slowest(timer_now() - start) * systems(work);
	}
	result->blocks = options->iterations;
	if (result->blocks < 0)
		result->blocks = timer_within(options->budget / round, MIN_BLOCKS, MAX_BLOCKS);
}

/* Blocks first..last - 1 of all systems, in turns; each time is this rank's, per call. */
static void time_blocks(struct work *work, const struct pattern *pattern, long inner,
			double *seconds[SYSTEMS], long first, long last)
{
	int n = systems(work);

	for (long i = first; i < last; i++) {
		for (int turn = 0; turn < n; turn++) {
			int s = i % 2 ? n - 1 - turn : turn;
			double block = time_block(work, pattern, (enum system)s, inner);

			seconds[s][i] = block / (double)inner;
		}
	}
}

/*
 * All planned blocks; on a disturbed machine only those that end within twice the budget, unless
 * their number was asked for. Gives how many.
 */
static long time_portions(struct work *work, const struct pattern *pattern,
			  const struct result *result, double *seconds[SYSTEMS])
{
	long portion =
		result->blocks / PORTIONS > MIN_BLOCKS ? result->blocks / PORTIONS : MIN_BLOCKS;
	double start = timer_now();
	long done = 0;

	while (done < result->blocks) {
		long last = done + portion < result->blocks ? done + portion : result->blocks;

		time_blocks(work, pattern, result->inner, seconds, done, last);
		done = last;
		if (work->options->iterations < 0 &&
		    timer_slowest(timer_now() - start) > 2.0 * work->options->budget)
			break;
	}
	return done;
}

/* Rank 0 gets the slowest rank's time of each block. */
static void combine_ranks(const struct work *work, struct result *result, double *seconds[SYSTEMS])
{
	int n = (int)result->blocks;

	for (int s = 0; s < systems(work); s++) {
		if (work->rank) {
			MPI_Reduce(seconds[s], NULL, n, MPI_DOUBLE, MPI_MAX, 0, work->mpi);
			continue;
		}
		MPI_Reduce(MPI_IN_PLACE, seconds[s], n, MPI_DOUBLE, MPI_MAX, 0, work->mpi);
		result->time[s] = stats_of(seconds[s], (size_t)n);
	}
}

static void fill_steady(const struct work *work, struct pattern *pattern)
{
	enum pattern_kind kind = work->send == work->recv ? PATTERN_STEADY : PATTERN_EXACT;

	pattern_make(pattern, work->options, kind, work->rank, work->size, 0, 0);
	pattern_fill(pattern, work_input(work), work->count);
}

static int time_size(struct work *work, struct pattern *pattern, struct result *result,
		     struct complaint *complaint)
{
	double *seconds[SYSTEMS] = {NULL};
	double *room;

	deadline_phase("the warm-up", result->bytes);
	fill_steady(work, pattern);
	plan(work, pattern, result);
	room = calloc((size_t)result->blocks, SYSTEMS * sizeof(*room));
	if (!room)
		complaint_set(complaint, "no memory for %ld times; lower --iterations",
			      result->blocks);
	if (complaint_agree(complaint)) {
		free(room);
		return -1;
	}
	for (int s = 0; s < SYSTEMS; s++)
		seconds[s] = room + s * result->blocks;
	deadline_phase("the measurement", result->bytes);
	result->blocks = time_portions(work, pattern, result, seconds);
	combine_ranks(work, result, seconds);
	free(room);
	return 0;
}

static void check(struct work *work, struct pattern *pattern, struct result *result, uint32_t salt)
{
	if (!work->options->check)
		return;
	deadline_phase("the check", result->bytes);
	result->wrong += validate(work, pattern, salt);
}

int measure(struct work *work, struct result *result, struct complaint *complaint)
{
	struct pattern pattern = {.input = NULL};
	int failed = -1;

	*result = (struct result){.bytes = work_bytes(work), .count = work->count};
	pattern_alloc(&pattern, work->options->datatype, complaint);
	if (!complaint_agree(complaint)) {
		check(work, &pattern, result, 1);
		failed = time_size(work, &pattern, result, complaint);
		if (!failed)
			check(work, &pattern, result, 2);
	}
	pattern_free(&pattern);
	return failed;
}

double measure_algbw(const struct result *result, enum system system)
{
	double median = result->time[system].median;

	return median > 0.0 ? (double)result->bytes / median : 0.0;
}

double measure_busbw(const struct result *result, enum system system, enum collective collective,
		     int size)
{
	double algbw = measure_algbw(result, system);

	return collective == ALLREDUCE ? algbw * 2.0 * (size - 1) / size : algbw;
}

double measure_ratio(const struct result *result)
{
	return result->time[SYSTEM_MPI].median / result->time[SYSTEM_WRING].median;
}

double measure_percent_of_limit(const struct result *result)
{
	return 100.0 * result->limit.seconds / result->time[SYSTEM_WRING].median;
}
