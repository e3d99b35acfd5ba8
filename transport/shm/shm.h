/* shm.h: links to ranks of the same host: their memory is mapped here. */
#ifndef TRANSPORT_SHM_SHM_H
#define TRANSPORT_SHM_SHM_H

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
	int fd;	      /* the peer's memfd, opened through /proc */
	int doorbell; /* the peer's pipe */
	int pidfd;    /* -1: this kernel (before 5.3) has none */
	int pid;
	int arena_fd;	   /* number of its memfd there */
	bool same_process; /* ranks as threads: use the owner's map */
	unsigned char *head;
	size_t head_len;
	uint64_t file_len; /* as last seen by fstat */
	struct shm_window *windows;
	size_t n, room;
	size_t last; /* the window that was used last */
};

/* This rank's half: the doorbell. */
struct shm {
	int pipe[2];
};

enum wring_status shm_make_doorbell(struct shm **shm, struct wring_error *error);
void shm_close(struct shm *shm);
void shm_get_address(const struct shm *shm, const struct arena *arena, struct shm_address *address);

/*
 * Open the memfd of a host peer and check its nonce. WRING_OK, or why it cannot be reached
 * (SYSTEM): then nothing is left open and verbs may still be tried. Sets ops and back_end.
 */
enum wring_status shm_link_open(struct link *link, const struct shm_address *address,
				struct wring_error *error);

/* Map the peer's head; rx side and tx geometry of the link are set. */
enum wring_status shm_link_connect(struct link *link, const struct shm_address *address,
				   const struct shm_offer *offer, struct wring_error *error);

/* Accepts a half-made link. */
void shm_link_close(struct link *link);

/* Set up the slots of an empty area that begins with message number first. */
void shm_area_init(unsigned char *base, const struct area *area, uint64_t first);

/* Has the process of that peer ended? */
bool shm_peer_ended(const struct link *link);

/* Say that this rank is (about to be) asleep or awake, with the fence that the sleeper owes. */
void shm_set_asleep(const struct arena *arena, bool asleep);

/* Empty the doorbell pipe. */
void shm_answer_doorbell(const struct shm *shm);

extern const struct link_ops shm_link_ops;

#endif
