/* ring.h: places around the ring, and the walk of segments around it. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_RING_H
#define COLL_RING_H

#include "coll/chunk.h"
#include "coll/request.h"

/* --- places --------------------------------------------------------------------------------- */

/* The position after this one. */
static inline int ring_next(int position, int size)
{
	return position + 1 == size ? 0 : position + 1;
}

/* The position before this one. */
static inline int ring_prev(int position, int size)
{
	return position == 0 ? size - 1 : position - 1;
}

/* The position that many steps before this one; steps may go around more than once. */
static inline int ring_back(int position, int steps, int size)
{
	int around = steps % size;

	return position < around ? position - around + size : position - around;
}

/* The position that is i places after this rank's, i from 0 to size-1. */
static inline int ring_after(const struct coll *coll, int i)
{
	int position = coll->position + i;

	return position < coll->size ? position : position - coll->size;
}

static inline int ring_rank_after(const struct coll *coll, int i)
{
	return transport_rank_at(coll->transport, ring_after(coll, i));
}

/* The position of a rank. */
int ring_position_of(const struct coll *coll, int rank);

/*
 * Go on with a sweep over all peers in ring order, beginning after this rank: step for each one
 * after the first *done, until it returns false. True when all are done. i counts the peers from 1.
 */
static inline bool ring_sweep(struct wring_request *request, int *done,
			      bool (*step)(struct wring_request *request, int i, int peer))
{
	const struct coll *coll = request->coll;

	while (*done < coll->size - 1) {
		if (!step(request, *done + 1, ring_rank_after(coll, *done + 1)))
			return false;
		++*done;
	}
	return true;
}

/* --- the walk ------------------------------------------------------------------------------- */

/*
 * A walk is one phase or more of size-1 steps each. At each step a rank sends one chunk to next and
 * takes one from prev; what is taken at one step is what is sent at the next, so a segment may be
 * sent as soon as the same segment of the step before has been taken.
 *
 * A chunk is cut into blocks, a block into segments. One block of every chunk goes through all
 * phases, then the next block: both ends know the order of messages, and a block is small enough
 * that what was taken is still in the cache when it is sent on.
 */
struct ring_state;

struct ring_phase {
	/* The chunk that a rank sends first is owned this many places before it; with each step one
	 * place more. */
	int first;
	/* Send a segment to next. */
	void (*send)(struct wring_request *request, const struct ring_state *ring,
		     struct link *link, struct slice slice);
	/* Put a segment, or its sum with the own input, in place. */
	void (*take)(struct wring_request *request, const struct ring_state *ring,
		     struct slice slice, const struct message *message);
	bool direct; /* a segment may have been written into recvbuf already: MESSAGE_DIRECT */
};

/* From sendbuf: each rank ends with its own chunk, reduced over all ranks, in recvbuf. */
extern const struct ring_phase ring_reduce_scatter;

/* Within recvbuf: each rank begins with its own chunk and ends with all. */
extern const struct ring_phase ring_all_gather;

/* One place in the schedule of a walk. */
struct ring_cursor {
	size_t block;
	int phase, step;
	size_t segment; /* within block and step */
};

struct ring_state {
	const struct ring_phase *const *phases;
	int n_phases;
	struct ring_cursor tx, rx;
	size_t segment_elems; /* of a full segment */
	size_t block_elems;   /* of a chunk, that go around together */
	size_t blocks;
	bool ready_sent, ready_taken;
	struct buffers next; /* where next's buffers are, once ready_taken */
};

/* The last segment was sent, or taken. */
static inline bool ring_ended(const struct ring_state *ring, const struct ring_cursor *cursor)
{
	return cursor->block == ring->blocks;
}

/* Set up a walk; the rest of *ring is zero. */
void ring_begin(struct wring_request *request, struct ring_state *ring,
		const struct ring_phase *const *phases, int n_phases);

/*
 * Send and take what can be. The links with next and prev are joined; the caller exchanges ready:
 * nothing is sent before ready_sent, nothing taken unless may_take. True when both have ended.
 */
bool ring_progress(struct wring_request *request, struct ring_state *ring, bool may_take);

#endif
