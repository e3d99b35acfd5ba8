/* allreduce_ring.c: reduce-scatter, then all-gather, around the ring. */
#include <string.h>

#include "coll/reduce/reduce.h"
#include "coll/request.h"

/*
 * The story, for 4 ranks in ring order 0 1 2 3 and chunks a b c d (owned by 0 1 2 3):
 *
 *          position 0   position 1   position 2   position 3
 *   step 0    d ->         a ->         b ->         c ->        own input goes to next
 *   step 1    c ->         d ->         a ->         b ->        what came + own input
 *   step 2    b ->         c ->         d ->         a ->        likewise; now a is whole at 0
 *   step 3    a ->         b ->         c ->         d ->        whole chunks go around
 *   step 4    d ->         a ->         b ->         c ->
 *   step 5    c ->         d ->         a ->         b ->
 *
 * In general position p sends chunk p-1-s at step s and takes chunk p-2-s; the first size-1 steps
 * reduce, the other size-1 steps gather. What is taken at step s is what is sent at step s+1, so a
 * segment may be sent as soon as the same segment of the step before has been taken.
 *
 * A chunk is cut into blocks, a block into segments. One block of every chunk goes through all
 * steps, then the next block: both ends know the order of messages, and a block is small enough
 * that what was taken is still in the cache when it is sent on.
 *
 * Partial sums live in recvbuf, so a message is always taken without sending anything: however
 * few credits there are, the links cannot fill each other up.
 *
 * Cost per rank: 2 (size-1)/size of the vector sent, (size-1)/size reduced, 2 (size-1) hops.
 *
 * Links: segments go to next; ready goes to prev, first, and comes from next. Once it has come,
 * gathered segments are written straight into next's recvbuf if that can be reached.
 */

/* Between blocks the ring runs dry for a hop. Over a network a hop costs more than what is kept by
 * the cache of the CPU, which is not asked when an HCA reads. */
#define BLOCK_SEGMENTS	       8
#define BLOCK_SEGMENTS_NETWORK 64

static int steps(const struct coll *coll)
{
	return 2 * (coll->size - 1);
}

/* A quarter of a chunk, so that the reduce of one segment overlaps the flight of the next. */
static size_t segment_elems(const struct wring_request *request, size_t chunk)
{
	size_t bytes = chunk * request->elem / 4;
	size_t most = transport_segment_bytes(request->coll->transport);
	size_t least = smallest_segment(request->coll);

	if (bytes < least)
		bytes = least;
	if (bytes > most)
		bytes = most;
	return bytes / 64 * 64 / request->elem;
}

/* The part of a chunk that belongs to a block. */
static struct slice block_slice(const struct wring_request *request, const struct ring_state *ring,
				int chunk, size_t block)
{
	size_t size = (size_t)request->coll->size;
	struct slice whole = chunk_slice(request->call.count, request->elem, (int)size, chunk);

	return block < segment_count(whole, ring->block_elems)
		       ? segment_slice(whole, ring->block_elems, block)
		       : (struct slice){whole.offset, 0};
}

static int tx_chunk(const struct coll *coll, int step)
{
	return ring_back(coll->position, 1 + step, coll->size);
}

static int rx_chunk(const struct coll *coll, int step)
{
	return ring_back(coll->position, 2 + step, coll->size);
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

static void next_step(const struct coll *coll, struct ring_cursor *cursor)
{
	cursor->segment = 0;
	if (++cursor->step < steps(coll))
		return;
	cursor->step = 0;
	cursor->block++;
}

/* Has the segment that tx wants to send on been taken? */
static bool was_taken(const struct ring_state *ring)
{
	const struct ring_cursor *tx = &ring->tx, *rx = &ring->rx;

	if (tx->step == 0 || ring->rx_ended || rx->block > tx->block)
		return true;
	if (rx->block < tx->block)
		return false;
	return rx->step > tx->step - 1 || (rx->step == tx->step - 1 && rx->segment > tx->segment);
}

static void send_segment(struct wring_request *request, struct ring_state *ring, struct link *link,
			 struct slice slice)
{
	const void *src = ring->tx.step == 0 ? send_at(request, slice.offset)
					     : recv_at(request, slice.offset);
	size_t len = slice.count * request->elem;

	if (ring->tx.step >= request->coll->size - 1 && ring->ready_taken && ring->next.recv.reach)
		link_write(link, &request->signature, &ring->next.recv,
			   slice.offset * request->elem, src, len);
	else
		link_send(link, MESSAGE_DATA, &request->signature, src, len);
}

/* Send one segment; false: nothing can be sent now. */
static bool try_send(struct wring_request *request, struct ring_state *ring)
{
	struct coll *coll = request->coll;
	struct slice slice;
	struct link *link;

	while (!ring->tx_ended) {
		slice = cursor_slice(request, ring, &ring->tx, tx_chunk(coll, ring->tx.step));
		if (slice.count)
			break;
		next_step(coll, &ring->tx);
		ring->tx_ended = ring->tx.block == ring->blocks;
	}
	if (ring->tx_ended || !ring->ready_sent)
		return false;
	if (!was_taken(ring)) {
		request->waiting_for = prev_rank(coll);
		return false;
	}
	link = lane_may_send(request, next_rank(coll));
	if (!link)
		return false;
	send_segment(request, ring, link, slice);
	ring->tx.segment++;
	return true;
}

/* Reduce, or put in place, the segment that has come. */
static void take_segment(struct wring_request *request, const struct ring_state *ring,
			 struct slice slice, const struct message *message)
{
	const struct call *call = &request->call;
	int last_reduce = request->coll->size - 2;
	void *dst = recv_at(request, slice.offset);

	if (ring->rx.step > last_reduce) {
		if (message->kind == MESSAGE_DATA)
			memcpy(dst, message->payload, slice.count * request->elem);
		return;
	}
	reduce(dst, message->payload, send_at(request, slice.offset), slice.count, call->datatype,
	       call->op);
	if (call->op == WRING_AVG && ring->rx.step == last_reduce)
		reduce_scale(dst, slice.count, call->datatype, request->coll->size);
}

static bool fits(struct wring_request *request, const struct ring_state *ring, struct slice slice,
		 const struct message *message)
{
	bool gathering = ring->rx.step > request->coll->size - 2;

	if (message->kind == MESSAGE_DATA && message->len == slice.count * request->elem)
		return true;
	if (message->kind == MESSAGE_DIRECT && gathering)
		return true;
	request_fail_message(request, prev_rank(request->coll), "a segment of another length");
	return false;
}

/* Take one segment; false: none is there. */
static bool try_take(struct wring_request *request, struct ring_state *ring)
{
	struct coll *coll = request->coll;
	int prev = prev_rank(coll);
	struct message message;
	struct slice slice;

	while (!ring->rx_ended) {
		slice = cursor_slice(request, ring, &ring->rx, rx_chunk(coll, ring->rx.step));
		if (slice.count)
			break;
		next_step(coll, &ring->rx);
		ring->rx_ended = ring->rx.block == ring->blocks;
	}
	if (ring->rx_ended || !lane_peek(request, prev, &message) ||
	    !fits(request, ring, slice, &message))
		return false;
	take_segment(request, ring, slice, &message);
	lane_consume(request, prev);
	ring->rx.segment++;
	return true;
}

void ring_begin(struct wring_request *request, struct ring_state *ring)
{
	size_t chunk = chunk_elems(request->call.count, request->elem, request->coll->size);

	ring->segment_elems = segment_elems(request, chunk);
	ring->block_elems = ring->segment_elems * (transport_all_shm(request->coll->transport)
							   ? BLOCK_SEGMENTS
							   : BLOCK_SEGMENTS_NETWORK);
	ring->blocks = pieces(chunk < request->call.count ? chunk : request->call.count,
			      ring->block_elems);
}

bool ring_progress(struct wring_request *request, struct ring_state *ring, bool may_take)
{
	bool moved = true;

	while (moved) {
		moved = may_take && try_take(request, ring);
		moved |= try_send(request, ring);
	}
	return ring->tx_ended && ring->rx_ended;
}

static void exchange_ready(struct wring_request *request, struct ring_state *ring)
{
	struct coll *coll = request->coll;
	int next = next_rank(coll), prev = prev_rank(coll);
	struct message message;

	if (!ring->ready_sent && lane_may_send(request, prev)) {
		lane_send_ready(request, prev);
		ring->ready_sent = true;
		if (coll->size > 2)
			lane_sent_last(request, prev);
	}
	if (!ring->ready_taken && lane_peek_kind(request, next, MESSAGE_READY, &message)) {
		memcpy(&ring->next, message.payload, sizeof(ring->next));
		lane_consume(request, next);
		ring->ready_taken = true;
		if (coll->size > 2)
			lane_took_last(request, next);
	}
}

/* Pass the turn on as early as possible: the next operation may begin to send. */
static void leave_lanes(struct wring_request *request, struct ring_state *ring)
{
	struct coll *coll = request->coll;

	if (ring->tx_ended && ring->ready_sent && !ring->tx_left) {
		ring->tx_left = true;
		lane_sent_last(request, next_rank(coll));
	}
	if (ring->rx_ended && ring->ready_taken && !ring->rx_left) {
		ring->rx_left = true;
		lane_took_last(request, prev_rank(coll));
	}
}

static void start(struct wring_request *request)
{
	lane_join(request, next_rank(request->coll));
	lane_join(request, prev_rank(request->coll));
	ring_begin(request, &request->state.ring);
}

static bool progress(struct wring_request *request)
{
	struct ring_state *ring = &request->state.ring;

	request->waiting_for = -1;
	exchange_ready(request, ring);
	(void)ring_progress(request, ring, ring->ready_taken || request->coll->size > 2);
	leave_lanes(request, ring);
	return ring->tx_left && ring->rx_left && lane_drained(request, next_rank(request->coll));
}

const struct algorithm allreduce_ring = {
	.name = "allreduce_ring",
	.start = start,
	.progress = progress,
};
