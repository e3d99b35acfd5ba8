/* ring.c: the walk of segments around the ring, whatever its phases do with them. */
/* SPDX-License-Identifier: MIT */
#include "coll/ring.h"

/* Between blocks the ring runs dry for a hop. Over shared memory short blocks stay in the cache.
 * Over a network an idle hop costs more than a cache miss, and the HCA reads memory anyway: use
 * long blocks. */
enum { BLOCK_SEGMENTS = 8, BLOCK_SEGMENTS_NETWORK = 64 };

int ring_position_of(const struct coll *coll, int rank)
{
	int position = 0;

	while (transport_rank_at(coll->transport, position) != rank)
		position++;
	return position;
}

/* --- the schedule --------------------------------------------------------------------------- */

static const struct ring_phase *phase_at(const struct ring_state *ring,
					 const struct ring_cursor *cursor)
{
	return ring->phases[cursor->phase];
}

/* The part of a chunk that belongs to a block. */
static struct slice block_slice(const struct wring_request *request, const struct ring_state *ring,
				int chunk, size_t block)
{
	const struct call *call = &request->call;
	struct slice whole = chunk_slice(call->count, call->elem, request->coll->size, chunk);

	return block < segment_count(whole, ring->block_elems)
		       ? segment_slice(whole, ring->block_elems, block)
		       : (struct slice){whole.offset, 0};
}

/* Where the cursor stands, for chunk; count 0: nothing of that chunk is in this block. */
static struct slice cursor_slice(const struct wring_request *request, const struct ring_state *ring,
				 const struct ring_cursor *cursor, int chunk)
{
	struct slice block = block_slice(request, ring, chunk, cursor->block);

	if (cursor->segment >= segment_count(block, ring->segment_elems))
		return (struct slice){block.offset, 0};
	return segment_slice(block, ring->segment_elems, cursor->segment);
}

static void next_step(const struct coll *coll, const struct ring_state *ring,
		      struct ring_cursor *cursor)
{
	cursor->segment = 0;
	if (++cursor->step < coll->size - 1)
		return;
	cursor->step = 0;
	if (++cursor->phase < ring->n_phases)
		return;
	cursor->phase = 0;
	cursor->block++;
}

/* Steps of this block that lie behind the cursor. */
static int steps_done(const struct coll *coll, const struct ring_cursor *cursor)
{
	return cursor->phase * (coll->size - 1) + cursor->step;
}

/* Has the segment that tx wants to send on been taken? */
static bool was_taken(const struct coll *coll, const struct ring_state *ring)
{
	const struct ring_cursor *tx = &ring->tx, *rx = &ring->rx;
	int needed = steps_done(coll, tx) - 1, done = steps_done(coll, rx);

	if (needed < 0 || rx->block > tx->block)
		return true;
	if (rx->block < tx->block)
		return false;
	return done > needed || (done == needed && rx->segment > tx->segment);
}

/* Go on to the next segment that is not empty; false: there is none. ahead: a rank sends at a step
 * what it takes one step before, so tx is 0 steps ahead and rx 1. */
static bool find_segment(const struct wring_request *request, const struct ring_state *ring,
			 struct ring_cursor *cursor, int ahead, struct slice *slice)
{
	const struct coll *coll = request->coll;
	int steps;

	while (!ring_ended(ring, cursor)) {
		steps = phase_at(ring, cursor)->first + cursor->step + ahead;
		*slice = cursor_slice(request, ring, cursor,
				      ring_back(coll->position, steps, coll->size));
		if (slice->count)
			return true;
		next_step(coll, ring, cursor);
	}
	return false;
}

/* --- sending -------------------------------------------------------------------------------- */

/* Send one segment; false: nothing can be sent now. */
static bool try_send(struct wring_request *request, struct ring_state *ring)
{
	struct coll *coll = request->coll;
	struct slice slice;
	struct link *link;

	if (!find_segment(request, ring, &ring->tx, 0, &slice) || !ring->ready_sent)
		return false;
	if (!was_taken(coll, ring)) {
		request->waiting_for = coll->prev;
		return false;
	}
	link = turn_may_send(request, coll->next);
	if (!link)
		return false;
	phase_at(ring, &ring->tx)->send(request, ring, link, slice);
	ring->tx.segment++;
	return true;
}

/* --- taking --------------------------------------------------------------------------------- */

static bool fits(struct wring_request *request, const struct ring_state *ring, struct slice slice,
		 const struct message *message)
{
	if (message->kind == MESSAGE_DATA && message->len == slice.count * request->call.elem)
		return true;
	if (message->kind == MESSAGE_DIRECT && phase_at(ring, &ring->rx)->direct)
		return true;
	turn_refuse_message(request, request->coll->prev, "a segment of another length");
	return false;
}

/* Take one segment; false: none is there. */
static bool try_take(struct wring_request *request, struct ring_state *ring)
{
	int prev = request->coll->prev;
	struct message message;
	struct slice slice;

	if (!find_segment(request, ring, &ring->rx, 1, &slice) ||
	    !turn_peek(request, prev, &message) || !fits(request, ring, slice, &message))
		return false;
	phase_at(ring, &ring->rx)->take(request, ring, slice, &message);
	turn_consume(request, prev);
	ring->rx.segment++;
	return true;
}

/* --- the walk ------------------------------------------------------------------------------- */

void ring_begin(struct wring_request *request, struct ring_state *ring,
		const struct ring_phase *const *phases, int n_phases)
{
	const struct coll *coll = request->coll;
	const struct call *call = &request->call;
	size_t chunk = chunk_elems(call->count, call->elem, coll->size);

	ring->phases = phases;
	ring->n_phases = n_phases;
	/* A quarter of a chunk, so that the reduce of one segment overlaps the flight of the
	 * next. */
	ring->segment_elems = sizes_segment(coll, chunk * call->elem / 4) / call->elem;
	ring->block_elems =
		ring->segment_elems *
		(transport_all_shm(coll->transport) ? BLOCK_SEGMENTS : BLOCK_SEGMENTS_NETWORK);
	ring->blocks = pieces(chunk < call->count ? chunk : call->count, ring->block_elems);
}

bool ring_progress(struct wring_request *request, struct ring_state *ring, bool may_take)
{
	bool moved = true;

	while (moved) {
		moved = may_take && try_take(request, ring);
		moved |= try_send(request, ring);
	}
	return ring_ended(ring, &ring->tx) && ring_ended(ring, &ring->rx);
}
