/* machine_limits.c: what the machine itself allows, as the shortest time of one call. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/machine_limits.h"
#include "bench/wring-bench/deadline.h"

static bool reached_by_memory(const struct work *work)
{
	int mine = 1, all = 0;

	for (int peer = 0; peer < work->size; peer++) {
		struct wring_peer_info info;

		if (peer != work->rank &&
		    (wring_comm_peer(work->comm, peer, &info, sizeof(info)) != WRING_OK ||
		     info.transport != WRING_TRANSPORT_SHM))
			mine = 0;
	}
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, work->mpi);
	return all;
}

int limits_open(struct limits *limits, struct limits_window *window, const struct work *work,
		struct complaint *complaint)
{
	*limits = (struct limits){.shared = reached_by_memory(work)};
	*window = (struct limits_window){.win = MPI_WIN_NULL};
	deadline_phase("the limits of the machine", 0);
	if (!limits->shared)
		return limits_links(limits, work, complaint);
	if (limits_window_open(window, work, options_longest(work->options), complaint))
		return -1;
	limits_shared_notify(limits, window, work);
	return 0;
}

void limits_close(struct limits_window *window)
{
	limits_window_close(window);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static int rounds_of_barrier(int size)
{
	int rounds = 0;

	while (1 << rounds < size)
		rounds++;
	return rounds;
}

/* bandwidth: bytes/s read and written by each rank. */
static double limit_shared(const struct limits *limits, const struct work *work, double bandwidth)
{
	double vector = (double)work_bytes(work) / bandwidth;
	int n = work->size;

	switch (work->options->collective) {
	case ALLREDUCE:
		return least(2.0 * vector + 2.0 * limits->latency,
			     (n + 1) * vector + limits->latency);
	case BROADCAST:
		return 2.0 * vector * (n - 1) / n + limits->latency;
	case BARRIER:
		return rounds_of_barrier(n) * limits->latency;
	}
	return 0.0;
}

static double limit_links(const struct limits *limits, const struct work *work)
{
	double bytes = (double)work_bytes(work);
	double both = bytes / limits->link_both;
	int n = work->size;

	switch (work->options->collective) {
	case ALLREDUCE:
		return least(2.0 * both * (n - 1) / n + 2.0 * limits->latency,
			     (n - 1) * both + limits->latency);
	case BROADCAST:
		return bytes / limits->link_one + limits->latency;
	case BARRIER:
		return rounds_of_barrier(n) * limits->latency;
	}
	return 0.0;
}

void limits_measure(const struct limits *limits, struct limits_window *window,
		    const struct work *work, struct limit *limit)
{
	*limit = (struct limit){.copy = 0.0};
	if (!limits->shared) {
		limit->seconds = limit_links(limits, work);
		return;
	}
	deadline_phase("the limits of the machine", work_bytes(work));
	limits_shared_bandwidth(window, work, work_bytes(work), limit);
	limit->seconds = limit_shared(limits, work,
				      limit->copy > limit->reduce ? limit->copy : limit->reduce);
}
