/* allreduce_oneshot.c: small vectors: everyone writes to everyone, each reduces all; one hop. */
#include <string.h>

#include "coll/reduce.h"
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

static bool all_arrived(struct wring_request *request, struct oneshot_state *state)
{
	struct coll *coll = request->coll;
	struct message message;

	while (state->arrived < coll->size - 1) {
		int peer = rank_after(coll, state->arrived + 1);

		if (!lane_peek_kind(request, peer, MESSAGE_DATA, &message))
			return false;
		if (message.len != request->bytes) {
			request_fail_message(request, peer, "a vector of another length");
			return false;
		}
		state->arrived++;
	}
	return true;
}

/*
 * Where each position's input is; the own one is copied if the result would overwrite it. False:
 * what had arrived is not to be seen any more, for the transport has failed meanwhile.
 */
static bool collect_inputs(struct wring_request *request)
{
	struct coll *coll = request->coll;
	const struct call *call = &request->call;
	struct message message;
	int i;

	coll->inputs[coll->position] = call->sendbuf;
	if (call->sendbuf == call->recvbuf && coll->size > 2 && request->bytes) {
		memcpy(coll->scratch, call->sendbuf, request->bytes);
		coll->inputs[coll->position] = coll->scratch;
	}
	for (i = 1; i < coll->size; i++) {
		int peer = rank_after(coll, i);

		if (!link_peek(transport_link(coll->transport, peer), &message))
			return false;
		coll->inputs[ring_back(coll->position, coll->size - i, coll->size)] =
			message.payload;
	}
	return true;
}

static const void *input_at(const struct wring_request *request, int position, size_t element)
{
	return (const unsigned char *)request->coll->inputs[position] + element * request->elem;
}

static void reduce_chunk(struct wring_request *request, int owner, struct slice slice)
{
	const struct call *call = &request->call;
	int size = request->coll->size;
	int position = ring_next(owner, size);
	const void *acc = input_at(request, position, slice.offset);
	void *dst = recv_at(request, slice.offset);

	while (position != owner) {
		position = ring_next(position, size);
		reduce(dst, acc, input_at(request, position, slice.offset), slice.count,
		       call->datatype, call->op);
		acc = dst;
	}
	if (call->op == WRING_AVG)
		reduce_scale(dst, slice.count, call->datatype, size);
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
		reduce_chunk(request, chunk, slice);
	}
}

static bool progress(struct wring_request *request)
{
	struct oneshot_state *state = &request->state.oneshot;
	struct coll *coll = request->coll;
	int i;

	request->waiting_for = -1;
	send_to_all(request, state);
	if (!all_arrived(request, state) || state->sent < coll->size - 1)
		return false;
	if (!collect_inputs(request))
		return false;
	reduce_all(request);
	for (i = 1; i < coll->size; i++) {
		lane_consume(request, rank_after(coll, i));
		lane_took_last(request, rank_after(coll, i));
	}
	return true;
}

const struct algorithm allreduce_oneshot = {
	.name = "allreduce_oneshot",
	.start = start,
	.progress = progress,
};
