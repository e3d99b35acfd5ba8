/* identity.h: who a rank is, which ranks share a host, and the order of the ring. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_IDENTITY_H
#define BOOTSTRAP_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "wring.h"

/* Where a process runs. Fixed size, no padding; is sent as it stands. */
struct host_identity {
	char boot_id[40];	/* of the kernel: text with its end, new at every boot */
	uint64_t pid_namespace; /* inode: one container's process numbers mean nothing in another */
	int64_t pid;		/* in that namespace */
	char host[64];		/* name for people; two hosts may have the same */
};

/* Give this process's identity. SYSTEM: /proc cannot be read; native holds errno. */
enum wring_status identity_read(struct host_identity *identity, struct wring_error *error);

/* True if the two can see each other as processes: same kernel, same PID namespace. */
bool identity_same_host(const struct host_identity *a, const struct host_identity *b);

/* Give for each of size ranks the number of its host: the lowest rank that lives there. */
void identity_hosts(const struct host_identity *identities, int size, int *host_of_rank);

/*
 * Give the rank at each of size ring positions. HOST: the ranks of one host stand together, in
 * ascending order, the hosts by their lowest rank. RANK: the rank itself. host_of_rank is as
 * identity_hosts gives it.
 */
void identity_ring_order(const int *host_of_rank, int size, enum wring_ring ring, int *order);

#endif
