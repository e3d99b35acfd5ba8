/* broadcast_chain.c: large messages: segments pass along the ring from the root, pipelined. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "coll/ring.h"

/*
 *   root -> next -> ... -> the position before the root
 *
 * Every rank but the root sends ready to the one before it. Segment 0 goes to a slot, with its
 * header; later ones are written straight into the next rank's buffer once its ready has come, if
 * that can be reached. One that comes when all has been sent is taken in passing, at the latest
 * before anything else from that rank: nobody waits for it.
 *
 * Cost: (size - 2 + segments) segments' time; every link carries the message once.
 */

struct state {
	size_t segments, segment_bytes;
	size_t taken, sent; /* segments */
	bool is_root, is_last;
	bool ready_sent, ready_taken;
	struct buffers next;
};

static void start(struct wring_request *request)
{
	struct state *state = request->state;
	struct coll *coll = request->coll;
	int root = ring_position_of(coll, request->call.root);
	int distance = ring_back(coll->position, root, coll->size);

	state->is_root = distance == 0;
	state->is_last = distance == coll->size - 1;
	/* An eighth of the message, so that the chain fills quickly. */
	state->segment_bytes = sizes_segment(coll, request->call.bytes / 8);
	state->segments = pieces(request->call.bytes, state->segment_bytes);
	if (state->is_root)
		state->taken = state->segments;
	else
		turn_join(request, coll->prev);
	if (!state->is_last)
		turn_join(request, coll->next);
}

static struct slice segment_at(const struct wring_request *request, const struct state *state,
			       size_t index)
{
	struct slice all = {0, request->call.bytes};

	return segment_slice(all, state->segment_bytes, index);
}

static bool segment_fits(struct wring_request *request, struct slice slice,
			 const struct message *message)
{
	if (message->kind == MESSAGE_DIRECT ||
	    (message->kind == MESSAGE_DATA && message->len == slice.count))
		return true;
	turn_refuse_message(request, request->coll->prev, "a segment of another length");
	return false;
}

static bool try_take(struct wring_request *request, struct state *state)
{
	int prev = request->coll->prev;
	struct message message;
	struct slice slice;

	if (state->taken == state->segments || !turn_peek(request, prev, &message))
		return false;
	slice = segment_at(request, state, state->taken);
	if (!segment_fits(request, slice, &message))
		return false;
	if (message.kind == MESSAGE_DATA)
		memcpy((unsigned char *)request->call.recvbuf + slice.offset, message.payload,
		       slice.count);
	turn_consume(request, prev);
	if (++state->taken == state->segments)
		turn_took_last(request, prev);
	return true;
}

static bool try_send(struct wring_request *request, struct state *state)
{
	int next = request->coll->next;
	const void *src;
	struct slice slice;
	struct link *link;

	if (state->is_last || state->sent == state->taken)
		return false;
	link = turn_may_send(request, next);
	if (!link)
		return false;
	slice = segment_at(request, state, state->sent);
	src = (const unsigned char *)request->call.recvbuf + slice.offset;
	if (state->sent > 0 && state->ready_taken && state->next.recv.reach)
		link_write(link, &request->signature, &state->next.recv, slice.offset, src,
			   slice.count);
	else
		link_send(link, MESSAGE_DATA, &request->signature, src, slice.count);
	if (++state->sent == state->segments)
		turn_sent_last(request, next);
	return true;
}

static void exchange_ready(struct wring_request *request, struct state *state)
{
	int next = request->coll->next, prev = request->coll->prev;

	if (!state->is_root && !state->ready_sent) {
		state->ready_sent = turn_send_ready(request, prev);
		if (state->ready_sent)
			turn_sent_last(request, prev);
	}
	if (!state->is_last && !state->ready_taken) {
		state->ready_taken = turn_take_ready(request, next, &state->next);
		if (state->ready_taken)
			turn_took_last(request, next);
	}
}

static bool progress(struct wring_request *request)
{
	struct state *state = request->state;
	bool moved = true;

	exchange_ready(request, state);
	request->waiting_for = -1; /* nobody waits for ready */
	while (moved) {
		moved = try_take(request, state);
		moved |= try_send(request, state);
	}
	request->lingers =
		(!state->is_root && !state->ready_sent) || (!state->is_last && !state->ready_taken);
	return state->taken == state->segments &&
	       (state->is_last ||
		(state->sent == state->segments && turn_drained(request, request->coll->next)));
}

const struct algorithm broadcast_chain = {
	.name = "broadcast_chain",
	.state_bytes = sizeof(struct state),
	.start = start,
	.progress = progress,
};
