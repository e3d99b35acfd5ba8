/* time.c: times Wring's calls, and those of its peers, alike. */
/* SPDX-License-Identifier: MIT */
/*
 *     soft-roce-time allreduce|broadcast BUDGET BYTES...
 *
 * The method is that of measure.c: blocks of calls between two looks at the clock after a barrier,
 * the slowest rank's time of each, the median over the blocks. The barrier goes through shared
 * memory: nothing else than the calls themselves is on the wire. On an emulated CPU ranks leave it
 * up to 20 us apart, hence blocks of a millisecond. Rank 0 prints a line for each size as soon as
 * it is known: bytes, microseconds.
 */
#include "bench/soft-roce/time.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_SECONDS 1e-3
#define WARMUP_SHARE  0.05
#define FOREVER	      1e9

enum {
	MAX_RANKS = 16,
	MIN_BLOCKS = 10,
	MAX_BLOCKS = 2000,
	MAX_INNER = 1000,
	MIN_WARMUP = 3,
	MAX_WARMUP = 10000,
	PORTIONS = 16,
	TURNS_BETWEEN_PROGRESS = 64,
	PAGE = 4096
};

/* In the file that the environment names; it begins as zeros. */
struct shared {
	_Atomic long arrived;
	double seconds[MAX_RANKS][MAX_BLOCKS];
};

struct timer {
	struct peer peer;
	struct shared *shared;
	float *send, *recv;
	bool broadcast;
	double budget;
	size_t count;
	long barriers, calls;
};

static void die(const char *what, const char *value)
{
	fprintf(stderr, "soft-roce: %s: %s\n", what, value);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct shared *open_shared(void)
{
	const char *name = getenv("SOFT_ROCE_SHARED");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *shared;

	if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
		die("SOFT_ROCE_SHARED does not name a file that can be opened",
		    name ? name : "not set");
	shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		die("cannot be mapped", name);
	return shared;
}

/* A rank that is gone is waited for in vain; who started us bounds the time. */
static void barrier(struct timer *timer)
{
	long all = ++timer->barriers * timer->peer.size;

	atomic_fetch_add(&timer->shared->arrived, 1);
	for (long turn = 1; atomic_load(&timer->shared->arrived) < all; turn++) {
		if (turn % TURNS_BETWEEN_PROGRESS == 0)
			peer_progress(&timer->peer);
		sched_yield();
	}
}

static double slowest(struct timer *timer, double mine)
{
	struct shared *shared = timer->shared;
	double most = 0.0;

	shared->seconds[timer->peer.rank][0] = mine;
	barrier(timer);
	for (int i = 0; i < timer->peer.size; i++)
		most = shared->seconds[i][0] > most ? shared->seconds[i][0] : most;
	barrier(timer);
	return most;
}

/* The roots of broadcasts take turns, so that one cannot begin before the last has arrived. */
static void run(struct timer *timer, long calls)
{
	for (long i = 0; i < calls; i++) {
		if (timer->broadcast)
			peer_broadcast(&timer->peer, (int)(timer->calls % timer->peer.size));
		else
			peer_allreduce(&timer->peer);
		timer->calls++;
	}
}

static double time_block(struct timer *timer, long calls)
{
	double start;

	barrier(timer);
	start = now();
	run(timer, calls);
	return now() - start;
}

/* Gives the seconds of one call in the best block. */
static double warm_up(struct timer *timer)
{
	double enough = timer->budget * WARMUP_SHARE;
	double spent = 0.0;
	double best = FOREVER;
	long done = 0;

	for (long calls = 1; done < MAX_WARMUP; calls *= 2) {
		double block;
		bool settled;

		if (calls > MAX_WARMUP - done)
			calls = MAX_WARMUP - done;
		block = slowest(timer, time_block(timer, calls));
		spent += block;
		done += calls;
		best = block / (double)calls < best ? block / (double)calls : best;
		settled = (double)calls * best >= BLOCK_SECONDS || spent >= timer->budget;
		if (settled && spent >= enough && done >= MIN_WARMUP)
			break;
	}
	return best;
}

static long within(double value, long low, long high)
{
	if (value <= (double)low)
		return low;
	return value >= (double)high ? high : (long)value;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), ascending);
	return (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}

/* Portions of blocks, until all planned ones are done or twice the budget is spent. */
static long time_portions(struct timer *timer, double *seconds, long inner, long blocks)
{
	long portion = blocks / PORTIONS > MIN_BLOCKS ? blocks / PORTIONS : MIN_BLOCKS;
	double start = now();
	long done = 0;

	while (done < blocks && slowest(timer, now() - start) <= 2.0 * timer->budget) {
		long last = done + portion < blocks ? done + portion : blocks;

		for (; done < last; done++)
			seconds[done] = time_block(timer, inner) / (double)inner;
	}
	return done;
}

static double measure(struct timer *timer)
{
	static double seconds[MAX_BLOCKS];
	struct shared *shared = timer->shared;
	double call = warm_up(timer);
	long inner = within(BLOCK_SECONDS / call + 0.5, 1, MAX_INNER);
	long blocks = within(timer->budget / (call * (double)inner), MIN_BLOCKS, MAX_BLOCKS);

	blocks = time_portions(timer, seconds, inner, blocks);
	memcpy(shared->seconds[timer->peer.rank], seconds, (size_t)blocks * sizeof(*seconds));
	barrier(timer);
	for (int i = 0; i < timer->peer.size; i++)
		for (long b = 0; b < blocks; b++)
			if (shared->seconds[i][b] > seconds[b])
				seconds[b] = shared->seconds[i][b];
	barrier(timer);
	return median(seconds, (size_t)blocks);
}

/* Small integers, so that every order of summation gives the same. */
static float element(int rank, size_t i)
{
	return (float)((rank + 1) * (int)(i % 7 + 1));
}

static void check(struct timer *timer)
{
	int size = timer->peer.size;
	int root = (int)(timer->calls % size);
	float *recv = timer->recv;
	char at[64];

	for (size_t i = 0; i < timer->count; i++)
		recv[i] = timer->broadcast && timer->peer.rank == root ? element(root, i) : -1.0f;
	run(timer, 1);
	for (size_t i = 0; i < timer->count; i++) {
		float expected =
			timer->broadcast ? element(root, i) : element(size * (size + 1) / 2 - 1, i);

		if (recv[i] == expected)
			continue;
		snprintf(at, sizeof(at), "element %zu of %zu", i, timer->count);
		die("wrong result", at);
	}
}

static void time_size(struct timer *timer, const char *bytes)
{
	double seconds;

	timer->count = strtoul(bytes, NULL, 10) / sizeof(float);
	peer_prepare(&timer->peer, timer->broadcast, timer->count);
	check(timer);
	seconds = measure(timer);
	check(timer);
	if (timer->peer.rank == 0)
		printf("%s %.4f\n", bytes, seconds * 1e6);
	fflush(stdout);
}

/* For the longest of the sizes; touched. */
static float *make_vector(struct timer *timer, int sizes, char **bytes)
{
	size_t longest = PAGE;
	float *vector;

	for (int i = 0; i < sizes; i++)
		if (strtoul(bytes[i], NULL, 10) > longest)
			longest = strtoul(bytes[i], NULL, 10);
	vector = aligned_alloc(PAGE, (longest + PAGE - 1) / PAGE * PAGE);
	if (!vector)
		die("no memory for a vector", bytes[sizes - 1]);
	for (size_t i = 0; i < longest / sizeof(float); i++)
		vector[i] = element(timer->peer.rank, i);
	return vector;
}

/* As wring-bench does: scratch memory of the system stays with the process. */
static void keep_scratch(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 64 << 20);
}

int main(int argc, char **argv)
{
	struct timer timer = {.shared = open_shared()};

	if (argc < 4)
		die("usage", "soft-roce-time allreduce|broadcast BUDGET BYTES...");
	keep_scratch();
	peer_open(&timer.peer);
	if (timer.peer.size > MAX_RANKS)
		die("too many ranks", "at most 16");
	timer.broadcast = strcmp(argv[1], "broadcast") == 0;
	timer.budget = strtod(argv[2], NULL);
	timer.send = make_vector(&timer, argc - 3, argv + 3);
	timer.recv = make_vector(&timer, argc - 3, argv + 3);
	timer.peer.send = timer.send;
	timer.peer.recv = timer.recv;
	for (int i = 3; i < argc; i++)
		time_size(&timer, argv[i]);
	barrier(&timer);
	peer_close(&timer.peer);
	free(timer.send);
	free(timer.recv);
	return 0;
}
