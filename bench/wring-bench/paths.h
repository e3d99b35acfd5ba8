/* paths.h: where each rank is, and how it reaches the others. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_PATHS_H
#define BENCH_WRING_BENCH_PATHS_H

#include "bench/wring-bench/complaint.h"
#include "bench/wring-bench/options.h"

/* One line of the table; sent from rank to rank as it is. */
struct path_row {
	char host[64];
	char cpus[192];	 /* allowed, as 0-3,8 */
	char peers[256]; /* shm: 1-3; verbs: 4,5 */
	char device[64], gid[46];
	int numa_node, port, gid_index, mtu;
};

/*
 * Collective: gives rank 0 a row for each rank, to be freed by the caller, the others NULL.
 * Returns 0, or -1 with a complaint; also if a peer is reached by another transport than asked.
 */
int paths_gather(struct path_row **rows, const struct options *options, struct wring_comm *comm,
		 struct complaint *complaint);

/* Print the table, and notes on what it means for the numbers. */
void paths_print(const struct path_row *rows, int size);

/* How many different hosts there are. */
int paths_hosts(const struct path_row *rows, int size);

#endif
