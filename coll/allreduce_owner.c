/* allreduce_owner.c: middle sizes: every chunk to its owner and back; two hops. */
/* SPDX-License-Identifier: MIT */
#include "coll/allreduce_owner.h"

#include <string.h>

#include "coll/reduce_inputs.h"

/*
 *   hop 1   every rank sends to each owner its contribution to that owner's chunk
 *           the owner reduces, when all contributions are there, in the order that the header fixes
 *   hop 2   the owner sends the reduced chunk to every rank
 *
 * Cost: 2 hops; 2 (size-1)/size vectors sent, as in the ring, but in 2 (size-1) messages instead of
 * as many one after the other. A chunk must fit in a slot. Contributions stay in their slots until
 * all have come, so two slots are enough: a contribution and, behind it, a reduced chunk.
 */

static struct owner_state *state_of(const struct wring_request *request)
{
	return request->state;
}

static struct slice slice_of(const struct wring_request *request, int position)
{
	return chunk_slice(request->call.count, request->call.elem, request->coll->size, position);
}

/* The chunk of the rank that is i places after this one. */
static struct slice slice_after(const struct wring_request *request, int i)
{
	return slice_of(request, ring_after(request->coll, i));
}

static bool send_contribution(struct wring_request *request, int i, int peer)
{
	struct slice slice = slice_after(request, i);
	struct link *link = turn_may_send(request, peer);

	if (!link)
		return false;
	link_copy(link, MESSAGE_DATA, &request->signature, request_send_at(request, slice.offset),
		  slice.count * request->call.elem);
	return true;
}

static void reduce_own(struct wring_request *request, struct owner_state *state)
{
	int position = request->coll->position;
	struct slice own = slice_of(request, position);
	size_t bytes = own.count * request->call.elem;

	if (state->reduced ||
	    !reduce_inputs_arrived(request, &state->contributions_arrived, bytes) ||
	    !reduce_inputs_collect(request, request_send_at(request, own.offset), bytes))
		return;
	if (own.count)
		reduce_inputs(request, position, own, own.offset);
	reduce_inputs_consume(request);
	state->reduced = true;
}

static bool send_reduced(struct wring_request *request, int i, int peer)
{
	struct slice own = slice_of(request, request->coll->position);
	struct link *link = turn_may_send(request, peer);

	(void)i;
	if (!link)
		return false;
	link_copy(link, MESSAGE_DATA, &request->signature, request_recv_at(request, own.offset),
		  own.count * request->call.elem);
	turn_sent_last(request, peer);
	return true;
}

static bool take_reduced(struct wring_request *request, int i, int peer)
{
	struct slice slice = slice_after(request, i);
	struct message message;

	if (!turn_peek_kind(request, peer, MESSAGE_DATA, &message))
		return false;
	if (message.len != slice.count * request->call.elem) {
		turn_refuse_message(request, peer, "a chunk of another length");
		return false;
	}
	if (message.len)
		memcpy(request_recv_at(request, slice.offset), message.payload, message.len);
	turn_consume(request, peer);
	turn_took_last(request, peer);
	return true;
}

bool owner_fits(const struct coll *coll, const struct call *call)
{
	return chunk_elems(call->count, call->elem, coll->size) <= sizes_chunk(coll) / call->elem;
}

/* Contributions go to all before the own chunk is reduced: in place, that changes the input. */
bool owner_progress(struct wring_request *request, struct owner_state *state, bool may_take)
{
	bool sent, taken;

	if (!ring_sweep(request, &state->contributions_sent, send_contribution) || !may_take)
		return false;
	reduce_own(request, state);
	if (!state->reduced)
		return false;
	sent = ring_sweep(request, &state->reduced_sent, send_reduced);
	taken = ring_sweep(request, &state->reduced_taken, take_reduced);
	return sent && taken;
}

static bool progress(struct wring_request *request)
{
	request->waiting_for = -1;
	return owner_progress(request, state_of(request), true);
}

const struct algorithm allreduce_owner = {
	.name = "allreduce_owner",
	.state_bytes = sizeof(struct owner_state),
	.start = turn_join_all,
	.progress = progress,
};
