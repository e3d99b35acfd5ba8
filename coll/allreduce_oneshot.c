/* allreduce_oneshot.c: small vectors: everyone writes to everyone, each reduces all; one hop. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce_inputs.h"

/*
 * Each rank sends its whole vector to every other (size-1 messages), leaves the heads where they
 * are until all have come, then reduces chunk by chunk in the order that the header fixes, as the
 * chunk's owner would have done. Cost: 1 hop, (size-1) vectors sent and reduced by everyone.
 */

/* Peers done with, in ring order beginning after this rank. */
struct state {
	int sent, arrived;
};

static bool send_vector(struct wring_request *request, int i, int peer)
{
	struct link *link = turn_may_send(request, peer);

	(void)i;
	if (!link)
		return false;
	link_copy(link, MESSAGE_DATA, &request->signature, request->call.sendbuf,
		  request->call.bytes);
	turn_sent_last(request, peer);
	return true;
}

static void reduce_all(struct wring_request *request)
{
	const struct call *call = &request->call;
	int size = request->coll->size;

	for (int chunk = 0; chunk < size; chunk++) {
		struct slice slice = chunk_slice(call->count, call->elem, size, chunk);

		if (slice.count == 0)
			return;
		reduce_inputs(request, chunk, slice, 0);
	}
}

static bool progress(struct wring_request *request)
{
	struct state *state = request->state;
	const struct call *call = &request->call;
	struct coll *coll = request->coll;
	bool sent;

	request->waiting_for = -1;
	sent = ring_sweep(request, &state->sent, send_vector);
	if (!reduce_inputs_arrived(request, &state->arrived, call->bytes) || !sent)
		return false;
	if (!reduce_inputs_collect(request, call->sendbuf, call->bytes))
		return false;
	reduce_all(request);
	reduce_inputs_consume(request);
	for (int i = 1; i < coll->size; i++)
		turn_took_last(request, ring_rank_after(coll, i));
	return true;
}

const struct algorithm allreduce_oneshot = {
	.name = "allreduce_oneshot",
	.state_bytes = sizeof(struct state),
	.start = turn_join_all,
	.progress = progress,
};
