/* shm.h: links to ranks of the same host: their memory is mapped here. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_SHM_SHM_H
#define TRANSPORT_SHM_SHM_H

#include "transport/back_end.h"
#include "transport/link.h"
#include "transport/shm/arena.h"

/* What host peers must know to reach this rank's memory; travels in the first exchange. */
struct shm_address {
	int32_t pid;
	int32_t arena_fd;    /* number of the memfd in that process */
	int32_t doorbell_fd; /* the pipe's write end */
	uint32_t reserved;
	uint64_t nonce[2];
};

/* What a peer needs to find its area; travels in the alltoall. */
struct shm_offer {
	uint64_t area_offset;
	uint64_t head_len;
	uint64_t base; /* where the head is mapped there; used only within one process */
};

/* A mapped window of a peer's wring_alloc memory. */
struct shm_window {
	uint64_t offset;
	size_t len;
	unsigned char *base;
};

struct shm_link {
	struct shm_address address;
	int fd;		   /* the peer's memfd, opened through /proc */
	int doorbell;	   /* the peer's pipe */
	int pidfd;	   /* -1: this kernel (before 5.3) has none */
	bool same_process; /* ranks as threads: use the owner's map */
	unsigned char *head;
	size_t head_len;
	uint64_t file_len; /* as last seen by fstat */
	struct shm_window *windows;
	size_t n, room;
	size_t last; /* the window that was used last */
};

/* This rank's half: the doorbell. Borrows the arena. */
struct shm {
	struct back_end base;
	struct arena *arena;
	int pipe[2];
};

/* --- back_end.c ---------------------------------------------------------------------------- */

/* Make the doorbell. SYSTEM, NOMEM. */
enum wring_status shm_open_back_end(struct back_end **back_end, struct arena *arena,
				    struct wring_error *error);
void shm_get_address(const struct back_end *back_end, struct shm_address *address);

/* --- connect.c ----------------------------------------------------------------------------- */

/*
 * Open the memfd of a host peer and check its nonce. WRING_OK, or why it cannot be reached
 * (SYSTEM): then nothing is left open and verbs may still be tried. Sets back_end and kind; the
 * caller sets ops.
 */
enum wring_status shm_link_open(struct link *link, const struct shm_address *address,
				struct wring_error *error);

/* See link_ops: map the peer's head; rx side and tx geometry of the link are set. */
enum wring_status shm_link_connect(struct link *link, const struct transport_offer *offer,
				   struct wring_error *error);
void shm_link_make_offer(const struct link *link, struct transport_offer *offer);
void shm_link_free(struct link *link);

/* Has the process of that peer ended? */
bool shm_peer_ended(const struct link *link);

/* Set up the slots of an empty area that begins with message number first. */
void shm_area_init(unsigned char *base, const struct area *area, uint64_t first);

/* --- data.c -------------------------------------------------------------------------------- */

extern const struct link_ops shm_link_ops;

#endif
