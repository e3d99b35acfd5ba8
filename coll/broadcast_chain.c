/* broadcast_chain.c: large messages: segments pass along the ring from the root, pipelined. */
#include <string.h>

#include "coll/request.h"

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

static int root_distance(const struct wring_request *request)
{
	const struct coll *coll = request->coll;
	int distance = 0, position = coll->position;

	while (transport_rank_at(coll->transport, position) != request->call.root) {
		position = ring_prev(position, coll->size);
		distance++;
	}
	return distance;
}

/* An eighth of the message, so that the chain fills quickly, within what a slot holds. */
static size_t segment_bytes(const struct wring_request *request)
{
	size_t most = transport_segment_bytes(request->coll->transport);
	size_t least = smallest_segment(request->coll);
	size_t bytes = request->bytes / 8;

	if (bytes < least)
		bytes = least;
	return (bytes < most ? bytes : most) / 64 * 64;
}

static void start(struct wring_request *request)
{
	struct chain_state *state = &request->state.chain;
	int distance = root_distance(request);

	state->is_root = distance == 0;
	state->is_last = distance == request->coll->size - 1;
	state->segment_bytes = segment_bytes(request);
	state->segments = pieces(request->bytes, state->segment_bytes);
	if (state->is_root)
		state->taken = state->segments;
	else
		lane_join(request, prev_rank(request->coll));
	if (!state->is_last)
		lane_join(request, next_rank(request->coll));
}

static struct slice segment_at(const struct wring_request *request, const struct chain_state *state,
			       size_t index)
{
	struct slice all = {0, request->bytes};

	return segment_slice(all, state->segment_bytes, index);
}

static bool segment_fits(struct wring_request *request, struct slice slice,
			 const struct message *message)
{
	if (message->kind == MESSAGE_DIRECT ||
	    (message->kind == MESSAGE_DATA && message->len == slice.count))
		return true;
	request_fail_message(request, prev_rank(request->coll), "a segment of another length");
	return false;
}

static bool try_take(struct wring_request *request, struct chain_state *state)
{
	int prev = prev_rank(request->coll);
	struct message message;
	struct slice slice;

	if (state->taken == state->segments || !lane_peek(request, prev, &message))
		return false;
	slice = segment_at(request, state, state->taken);
	if (!segment_fits(request, slice, &message))
		return false;
	if (message.kind == MESSAGE_DATA)
		memcpy((unsigned char *)request->call.recvbuf + slice.offset, message.payload,
		       slice.count);
	lane_consume(request, prev);
	if (++state->taken == state->segments)
		lane_took_last(request, prev);
	return true;
}

static bool try_send(struct wring_request *request, struct chain_state *state)
{
	int next = next_rank(request->coll);
	const void *src;
	struct slice slice;
	struct link *link;

	if (state->is_last || state->sent == state->taken)
		return false;
	link = lane_may_send(request, next);
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
		lane_sent_last(request, next);
	return true;
}

static void exchange_ready(struct wring_request *request, struct chain_state *state)
{
	int next = next_rank(request->coll), prev = prev_rank(request->coll);
	struct message message;

	if (!state->is_root && !state->ready_sent && lane_may_send(request, prev)) {
		lane_send_ready(request, prev);
		lane_sent_last(request, prev);
		state->ready_sent = true;
	}
	if (state->is_last || state->ready_taken ||
	    !lane_peek_kind(request, next, MESSAGE_READY, &message))
		return;
	memcpy(&state->next, message.payload, sizeof(state->next));
	lane_consume(request, next);
	lane_took_last(request, next);
	state->ready_taken = true;
}

static bool progress(struct wring_request *request)
{
	struct chain_state *state = &request->state.chain;
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
	       (state->is_last || (state->sent == state->segments &&
				   lane_drained(request, next_rank(request->coll))));
}

const struct algorithm broadcast_chain = {
	.name = "broadcast_chain",
	.start = start,
	.progress = progress,
};
