/* allreduce_owner.c: middle sizes: every chunk to its owner and back; two hops. */
#include <string.h>

#include "coll/request.h"

/*
 *   hop 1   every rank sends to each owner its part of that owner's chunk
 *           the owner reduces, when all parts are there, in the order that the header fixes
 *   hop 2   the owner sends the whole chunk to every rank
 *
 * Cost: 2 hops; 2 (size-1)/size vectors sent, as in the ring, but in 2 (size-1) messages instead of
 * as many one after the other. A chunk must fit in a slot. Parts stay in their slots until all have
 * come, so two slots are enough: a part and, behind it, a whole chunk.
 */

static struct slice slice_of(const struct wring_request *request, int position)
{
	return chunk_slice(request->call.count, request->elem, request->coll->size, position);
}

/* The chunk of the rank that is i places after this one. */
static struct slice slice_after(const struct wring_request *request, int i)
{
	const struct coll *coll = request->coll;

	return slice_of(request, ring_back(coll->position, coll->size - i, coll->size));
}

static void start(struct wring_request *request)
{
	int i;

	for (i = 1; i < request->coll->size; i++)
		lane_join(request, rank_after(request->coll, i));
}

static void send_parts(struct wring_request *request, struct owner_state *state)
{
	while (state->parts_sent < request->coll->size - 1) {
		int peer = rank_after(request->coll, state->parts_sent + 1);
		struct slice slice = slice_after(request, state->parts_sent + 1);
		struct link *link = lane_may_send(request, peer);

		if (!link)
			return;
		link_copy(link, MESSAGE_DATA, &request->signature, send_at(request, slice.offset),
			  slice.count * request->elem);
		state->parts_sent++;
	}
}

static void reduce_own(struct wring_request *request, struct owner_state *state)
{
	struct coll *coll = request->coll;
	struct slice own = slice_of(request, coll->position);
	size_t bytes = own.count * request->elem;

	if (state->reduced || !inputs_arrived(request, &state->parts_arrived, bytes) ||
	    !inputs_collect(request, send_at(request, own.offset), bytes))
		return;
	if (own.count)
		inputs_reduce(request, coll->position, own, own.offset);
	inputs_consume(request);
	state->reduced = true;
}

static void send_whole(struct wring_request *request, struct owner_state *state)
{
	struct slice own = slice_of(request, request->coll->position);

	while (state->wholes_sent < request->coll->size - 1) {
		int peer = rank_after(request->coll, state->wholes_sent + 1);
		struct link *link = lane_may_send(request, peer);

		if (!link)
			return;
		link_copy(link, MESSAGE_DATA, &request->signature, recv_at(request, own.offset),
			  own.count * request->elem);
		lane_sent_last(request, peer);
		state->wholes_sent++;
	}
}

/* False: none is there. In the order of the ring: all have as far to come. */
static bool take_whole(struct wring_request *request, struct owner_state *state)
{
	int peer = rank_after(request->coll, state->wholes_taken + 1);
	struct slice slice = slice_after(request, state->wholes_taken + 1);
	struct message message;

	if (!lane_peek_kind(request, peer, MESSAGE_DATA, &message))
		return false;
	if (message.len != slice.count * request->elem) {
		request_fail_message(request, peer, "a chunk of another length");
		return false;
	}
	if (message.len)
		memcpy(recv_at(request, slice.offset), message.payload, message.len);
	lane_consume(request, peer);
	lane_took_last(request, peer);
	state->wholes_taken++;
	return true;
}

bool owner_fits(const struct coll *coll, const struct call *call)
{
	size_t elem = wring_datatype_size(call->datatype);

	return chunk_elems(call->count, elem, coll->size) <=
	       transport_slot_bytes(coll->transport) / elem;
}

/* A part is sent to all before the own chunk is reduced: in place, that changes the input. */
bool owner_progress(struct wring_request *request, struct owner_state *state, bool may_take)
{
	int peers = request->coll->size - 1;

	send_parts(request, state);
	if (state->parts_sent < peers || !may_take)
		return false;
	reduce_own(request, state);
	if (!state->reduced)
		return false;
	send_whole(request, state);
	while (state->wholes_taken < peers && take_whole(request, state))
		;
	return state->wholes_sent == peers && state->wholes_taken == peers;
}

static bool progress(struct wring_request *request)
{
	request->waiting_for = -1;
	return owner_progress(request, &request->state.owner, true);
}

const struct algorithm allreduce_owner = {
	.name = "allreduce_owner",
	.start = start,
	.progress = progress,
};
