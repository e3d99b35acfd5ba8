/* machine_limits_shared.c: how fast cores copy, reduce and notify in shared memory. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/machine_limits.h"
#include "bench/wring-bench/timer.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Each rank's part of the window: a page of flags, then its input, then its output.
 *
 * A pass over S bytes reads and writes what an all-reduce has to, evenly divided: rank r handles
 * chunk r of every rank's input and of every rank's output, so it reads S and writes S bytes. To
 * copy is to move the chunk from rank k's input to rank k's output; to reduce is to add the chunk
 * of all inputs and to store the sum into all outputs. As in the table, nothing else touches the
 * memory between two passes, unless --touch says so: then the inputs are written anew before each.
 */
enum {
	PAGE = 4096,
	LINE = 64,
	SHORTEST = 4096, /* bytes: for less the clock says little */
	LONGEST = 64 << 20,
	PIECE = 16384, /* stays in the first-level cache until every rank has it */
	ONE_WAY = 1 << 20,
	ONE_WAY_ROUNDS = 50,
	ROUND_TRIPS = 50,
	PING_BLOCKS = 401,
	SPINS = 2000,
	NAP_US = 200,
	MIN_BLOCKS = 5,
	MAX_BLOCKS = 200
};

#define BLOCK_SECONDS 50e-6
#define BUDGET_SHARE  0.05 /* for each kernel */

/* The first page of a part. Each flag has its cache line. */
struct flags {
	_Alignas(LINE) _Atomic uint64_t ball; /* written by the partner of the ping-pong */
	_Alignas(LINE) _Atomic uint64_t over;
};

static struct flags *flags_of(const struct limits_window *window, int rank)
{
	return (struct flags *)(void *)window->of_rank[rank];
}

static char *input_of(const struct limits_window *window, int rank)
{
	return window->of_rank[rank] + PAGE;
}

static char *output_of(const struct limits_window *window, int rank)
{
	return window->of_rank[rank] + PAGE + window->room;
}

/* --- the window --------------------------------------------------------------------------- */

static size_t within_reason(size_t bytes)
{
	if (bytes < SHORTEST)
		return SHORTEST;
	return bytes > LONGEST ? LONGEST : bytes;
}

static size_t chunk_of(size_t bytes, int size)
{
	size_t each = (within_reason(bytes) + (size_t)size - 1) / (size_t)size;

	return (each + LINE - 1) / LINE * LINE;
}

static void allocate(struct limits_window *window, const struct work *work)
{
	MPI_Info info;
	char *mine;

	MPI_Info_create(&info);
	MPI_Info_set(info, "alloc_shared_noncontig", "true");
	MPI_Win_allocate_shared((MPI_Aint)(PAGE + 2 * window->room), 1, info, work->mpi, &mine,
				&window->win);
	MPI_Info_free(&info);
	for (int rank = 0; rank < work->size; rank++) {
		MPI_Aint bytes;
		int unit;

		MPI_Win_shared_query(window->win, rank, &bytes, &unit, &window->of_rank[rank]);
	}
	memset(mine, 0, PAGE + 2 * window->room);
	MPI_Barrier(work->mpi);
}

int limits_window_open(struct limits_window *window, const struct work *work, size_t longest,
		       struct complaint *complaint)
{
	size_t room =
		chunk_of(longest > ONE_WAY ? longest : ONE_WAY, work->size) * (size_t)work->size;

	window->room = (room + PAGE - 1) / PAGE * PAGE;
	window->of_rank = calloc((size_t)work->size, sizeof(*window->of_rank));
	if (!window->of_rank)
		complaint_set(complaint, "no memory for a window of %d ranks", work->size);
	if (complaint_agree(complaint))
		return -1;
	allocate(window, work);
	return 0;
}

void limits_window_close(struct limits_window *window)
{
	if (window->win != MPI_WIN_NULL)
		MPI_Win_free(&window->win);
	free(window->of_rank);
	window->of_rank = NULL;
}

/* --- one notification, one copy ----------------------------------------------------------- */

static void await(_Atomic uint64_t *flag, uint64_t value)
{
	long spins = 0;

	while (atomic_load_explicit(flag, memory_order_acquire) != value)
		if (++spins > SPINS)
			sched_yield(); /* there may be fewer cores than ranks */
}

/* Ranks 0 and 1: a ball, stored into the other's line. */
static void play(struct limits_window *window, int rank, uint64_t from, uint64_t to)
{
	_Atomic uint64_t *mine = &flags_of(window, rank)->ball;
	_Atomic uint64_t *theirs = &flags_of(window, 1 - rank)->ball;

	for (uint64_t i = from; i < to; i++) {
		if (rank == 1)
			await(mine, i + 1);
		atomic_store_explicit(theirs, i + 1, memory_order_release);
		if (rank == 0)
			await(mine, i + 1);
	}
}

/* The best block: what somebody else on these cores costs is no limit of the machine. */
static double ping_pong(struct limits_window *window, int rank)
{
	double seconds[PING_BLOCKS];

	for (int block = 0; block < PING_BLOCKS; block++) {
		uint64_t from = (uint64_t)block * ROUND_TRIPS;
		double start = timer_now();

		play(window, rank, from, from + ROUND_TRIPS);
		seconds[block] = (timer_now() - start) / (2.0 * ROUND_TRIPS);
	}
	atomic_store(&flags_of(window, rank)->over, 1);
	return stats_of(seconds, PING_BLOCKS).min;
}

/* The others leave the cores alone meanwhile. */
static void wait_for_players(struct limits_window *window)
{
	while (!atomic_load(&flags_of(window, 0)->over) || !atomic_load(&flags_of(window, 1)->over))
		usleep(NAP_US);
}

static double copy_one_way(struct limits_window *window, const struct work *work)
{
	double seconds[ONE_WAY_ROUNDS];

	for (int i = 0; i < ONE_WAY_ROUNDS; i++) {
		double start;

		if (work->rank == 0)
			memset(input_of(window, 0), i, ONE_WAY);
		MPI_Barrier(work->mpi);
		start = timer_now();
		if (work->rank == 1)
			memcpy(output_of(window, 1), input_of(window, 0), ONE_WAY);
		seconds[i] = work->rank == 1 ? timer_now() - start : 0.0;
		MPI_Barrier(work->mpi);
	}
	return ONE_WAY / timer_stats(seconds, ONE_WAY_ROUNDS).median;
}

void limits_shared_notify(struct limits *limits, struct limits_window *window,
			  const struct work *work)
{
	double latency = 0.0;

	if (work->rank < 2)
		latency = ping_pong(window, work->rank);
	else
		wait_for_players(window);
	limits->latency = timer_slowest(latency);
	limits->one_way = copy_one_way(window, work);
}

/* --- bandwidth with all ranks active ------------------------------------------------------ */

struct pass {
	const struct limits_window *window;
	const struct work *work;
	size_t offset, chunk; /* of this rank's chunk */
};

static void copy_pass(const struct pass *pass)
{
	for (int k = 0; k < pass->work->size; k++)
		memcpy(output_of(pass->window, k) + pass->offset,
		       input_of(pass->window, k) + pass->offset, pass->chunk);
}

static void add(float *restrict sum, const float *restrict a, const float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] = a[i] + b[i];
}

/* Sum and store it twice. */
static void add_two(float *restrict sum, float *restrict other, const float *restrict a,
		    const float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float value = a[i] + b[i];

		sum[i] = value;
		other[i] = value;
	}
}

static void reduce_piece(const struct pass *pass, size_t at, size_t bytes)
{
	const struct limits_window *window = pass->window;
	static float scratch[PIECE / sizeof(float)];
	const float *acc = (const float *)(void *)(input_of(window, 0) + at);
	int last = pass->work->size - 1;

	for (int k = 1; k < last; k++) {
		add(scratch, acc, (const float *)(void *)(input_of(window, k) + at),
		    bytes / sizeof(float));
		acc = scratch;
	}
	add_two((float *)(void *)(output_of(window, 0) + at),
		(float *)(void *)(output_of(window, last) + at), acc,
		(const float *)(void *)(input_of(window, last) + at), bytes / sizeof(float));
	for (int k = 1; k < last; k++)
		memcpy(output_of(window, k) + at, output_of(window, 0) + at, bytes);
}

static void reduce_pass(const struct pass *pass)
{
	for (size_t done = 0; done < pass->chunk; done += PIECE) {
		size_t rest = pass->chunk - done;

		reduce_piece(pass, pass->offset + done, rest < PIECE ? rest : PIECE);
	}
}

static double time_passes(const struct pass *pass, void (*run)(const struct pass *), long passes)
{
	double start;

	if (pass->work->options->touch)
		memset(input_of(pass->window, pass->work->rank), 0,
		       pass->chunk * (size_t)pass->work->size);
	MPI_Barrier(pass->work->mpi);
	start = timer_now();
	for (long i = 0; i < passes; i++)
		run(pass);
	return timer_now() - start;
}

/* Bytes/s that each rank reads and writes. */
static double bandwidth_of(const struct pass *pass, void (*run)(const struct pass *))
{
	const struct options *options = pass->work->options;
	double bytes = 2.0 * (double)pass->chunk * pass->work->size;
	double seconds[MAX_BLOCKS];
	double once = 1e9;
	long passes, blocks;

	for (int i = 0; i < 3; i++) {
		double pass_seconds = timer_slowest(time_passes(pass, run, 1));

		once = pass_seconds < once ? pass_seconds : once;
	}
	passes = options->touch ? 1 : timer_within(BLOCK_SECONDS / once, 1, 1000);
	blocks = timer_within(options->budget * BUDGET_SHARE / (once * (double)passes), MIN_BLOCKS,
			      MAX_BLOCKS);
	for (long i = 0; i < blocks; i++)
		seconds[i] = time_passes(pass, run, passes) / (double)passes;
	return bytes / timer_stats(seconds, blocks).median;
}

void limits_shared_bandwidth(struct limits_window *window, const struct work *work, size_t bytes,
			     struct limit *limit)
{
	size_t chunk = chunk_of(bytes, work->size);
	struct pass pass = {.window = window,
			    .work = work,
			    .offset = chunk * (size_t)work->rank,
			    .chunk = chunk};

	limit->copy = bandwidth_of(&pass, copy_pass);
	limit->reduce = bandwidth_of(&pass, reduce_pass);
}
