/* request.h: one collective in flight, the queue that it stands in, and what an algorithm is. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REQUEST_H
#define COLL_REQUEST_H

#include "coll/coll.h"
#include "coll/sizes.h"
#include "coll/turn.h"

/*
 * An algorithm is a state machine; both functions do all they can and return. Its state is a struct
 * in its own file: request->state points to state_bytes of it, zero at first, and to peer_bytes for
 * each rank behind it, which are not.
 */
struct algorithm {
	const char *name;
	size_t state_bytes, peer_bytes;
	/* Join the links and set up the state; tickets are zero. */
	void (*start)(struct wring_request *request);
	/* Returns true when the operation is complete for the program, which may then change its
	 * buffers. If control messages are still to be sent or taken, it sets lingers and is called
	 * again. */
	bool (*progress)(struct wring_request *request);
};

struct wring_request {
	struct coll *coll;
	struct wring_request *next; /* in the order started */
	const struct algorithm *algorithm;
	struct call call;
	struct signature signature;
	bool done;
	bool lingers;		/* done, but for a ready that nobody waits for */
	bool released;		/* the program has no pointer to it any more */
	int waiting_for;	/* the peer without whom nothing moves, or -1 */
	void *state;		/* the algorithm's */
	struct ticket *tickets; /* one per rank */
};

/* See coll_prefer. */
struct preference {
	const struct candidate *candidate;
	bool above;
	uint64_t bytes;
};

/* reduce_inputs.c copies a vector of eager size here, allreduce_direct.c reduces a piece in it. */
enum { SCRATCH_BYTES = SIZES_MOST_EAGER };

struct coll {
	struct transport *transport;
	void *owner;
	struct wring_request *first, *last; /* in flight */
	struct wring_request *spare;	    /* to be used again */
	size_t state_bytes;		    /* of any algorithm, the most */
	int lingering;			    /* how many of those in flight are done but linger */
	uint64_t operation;		    /* of the last call started */
	struct signature *calls;	    /* signature.c: the last ones, by operation */
	uint64_t calls_mask;
	uint64_t told_operation; /* link_tell_waiting: the last one ... */
	int told_peer;		 /* ... and to whom */
	struct turn *tx, *rx;	 /* one per rank */
	const void **inputs;	 /* reduce_inputs.c: by ring position */
	unsigned char *scratch;
	int rank, size;
	int position;	  /* of this rank in the ring */
	int next, prev;	  /* ranks: this one sends to next and receives from prev */
	struct idle look; /* of coll_look */
	struct preference preferences[COLL_PREFERENCES];
	int n_preferences;
};

/* Element number `element` of the program's buffers. */
static inline const void *request_send_at(const struct wring_request *request, size_t element)
{
	return (const unsigned char *)request->call.sendbuf + element * request->call.elem;
}

static inline void *request_recv_at(const struct wring_request *request, size_t element)
{
	return (unsigned char *)request->call.recvbuf + element * request->call.elem;
}

#endif
