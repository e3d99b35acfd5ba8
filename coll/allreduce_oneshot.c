/* allreduce_oneshot.c: small vectors: everyone writes to everyone, each reduces all; one hop. */
#include "coll/request.h"

/*
 * Each rank sends its whole vector to every other (size-1 messages), leaves the heads where they
 * are until all have come, then reduces chunk by chunk in the order that the header fixes, as the
 * chunk's owner would have done. Cost: 1 hop, (size-1) vectors sent and reduced by everyone.
 */

static void start(struct wring_request *request)
{
	int i;

	for (i = 1; i < request->coll->size; i++)
		lane_join(request, rank_after(request->coll, i));
}

static void send_to_all(struct wring_request *request, struct oneshot_state *state)
{
	struct coll *coll = request->coll;

	while (state->sent < coll->size - 1) {
		int peer = rank_after(coll, state->sent + 1);
		struct link *link = lane_may_send(request, peer);

		if (!link)
			return;
		link_copy(link, MESSAGE_DATA, &request->signature, request->call.sendbuf,
			  request->bytes);
		lane_sent_last(request, peer);
		state->sent++;
	}
}

static void reduce_all(struct wring_request *request)
{
	const struct call *call = &request->call;
	int chunk;

	for (chunk = 0; chunk < request->coll->size; chunk++) {
		struct slice slice =
			chunk_slice(call->count, request->elem, request->coll->size, chunk);

		if (slice.count == 0)
			return;
		inputs_reduce(request, chunk, slice, 0);
	}
}

static bool progress(struct wring_request *request)
{
	struct oneshot_state *state = &request->state.oneshot;
	struct coll *coll = request->coll;
	int i;

	request->waiting_for = -1;
	send_to_all(request, state);
	if (!inputs_arrived(request, &state->arrived, request->bytes) ||
	    state->sent < coll->size - 1)
		return false;
	if (!inputs_collect(request, request->call.sendbuf, request->bytes))
		return false;
	reduce_all(request);
	inputs_consume(request);
	for (i = 1; i < coll->size; i++)
		lane_took_last(request, rank_after(coll, i));
	return true;
}

const struct algorithm allreduce_oneshot = {
	.name = "allreduce_oneshot",
	.start = start,
	.progress = progress,
};
