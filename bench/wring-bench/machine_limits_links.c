/* machine_limits_links.c: what links over a network allow, by Wring's own simplest calls. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/machine_limits.h"
#include "bench/wring-bench/timer.h"

/*
 * Only the installed headers are at hand here, so what comes nearest to plain RDMA Writes over the
 * same QPs is: for latency a barrier, whose rounds are one message each; for bandwidth the better
 * of broadcasts of two sizes, which write into registered memory without reducing anything. With
 * two ranks two broadcasts in opposite directions load both directions of the link; with more ranks
 * the chain of one broadcast makes every rank between its ends send and receive at once.
 */
enum { BLOCKS = 20, BARRIERS = 20, VECTORS = 2, LONG = 8 << 20, SHORT = 1 << 20 };

static void die_unless(const struct work *work, enum wring_status status)
{
	struct wring_error error = {.status = WRING_OK};

	if (status == WRING_OK)
		return;
	wring_comm_error(work->comm, &error);
	complaint_die("--limits: %s: %s", wring_strerror(status), error.text);
}

static double barrier_seconds(const struct work *work)
{
	double seconds[BLOCKS];

	for (int block = 0; block < BLOCKS; block++) {
		double start;

		MPI_Barrier(work->mpi);
		start = timer_now();
		for (int i = 0; i < BARRIERS; i++)
			die_unless(work, wring_barrier(work->comm));
		seconds[block] = (timer_now() - start) / BARRIERS;
	}
	return timer_stats(seconds, BLOCKS).median;
}

/* One broadcast for each root, at once; seconds until all are complete. */
static double broadcast_seconds(const struct work *work, void *vectors[VECTORS], int roots,
				size_t bytes)
{
	double seconds[BLOCKS];

	for (int block = 0; block < BLOCKS; block++) {
		struct wring_request *requests[VECTORS] = {NULL};
		double start;

		MPI_Barrier(work->mpi);
		start = timer_now();
		for (int root = 0; root < roots; root++)
			die_unless(work, wring_ibroadcast(work->comm, vectors[root], bytes,
							  WRING_UINT8, root, &requests[root]));
		die_unless(work, wring_waitall((size_t)roots, requests));
		seconds[block] = timer_now() - start;
	}
	return timer_stats(seconds, BLOCKS).median;
}

/* Bytes/s each way. */
static double link_bandwidth(const struct work *work, void *vectors[VECTORS], int roots)
{
	double of_long = LONG / broadcast_seconds(work, vectors, roots, LONG);
	double of_short = SHORT / broadcast_seconds(work, vectors, roots, SHORT);

	return of_long > of_short ? of_long : of_short;
}

int limits_links(struct limits *limits, const struct work *work, struct complaint *complaint)
{
	void *vectors[VECTORS] = {NULL};
	int rounds = 0;
	int failed;

	for (int i = 0; i < VECTORS; i++)
		if (wring_alloc(work->comm, LONG, &vectors[i]) != WRING_OK)
			complaint_set(complaint, "--limits: wring_alloc of %d bytes failed", LONG);
	failed = complaint_agree(complaint);
	if (!failed) {
		while (1 << rounds < work->size)
			rounds++;
		limits->latency = barrier_seconds(work) / rounds;
		limits->link_one = link_bandwidth(work, vectors, 1);
		limits->link_both =
			work->size == 2 ? link_bandwidth(work, vectors, 2) : limits->link_one;
	}
	for (int i = 0; i < VECTORS; i++)
		wring_free(work->comm, vectors[i]);
	return failed ? -1 : 0;
}
