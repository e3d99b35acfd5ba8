/* allreduce_direct.c: one host: each owner reads its chunk from all ranks and writes to all. */
#include <string.h>

#include "coll/reduce/reduce.h"
#include "coll/request.h"

/*
 * 1. ready   everyone tells everyone where its buffers are; that also says "my input is there".
 * 2. reduce  if all buffers are within reach by pointer, each rank reduces its own chunk, reading
 *            every rank's sendbuf and storing into every rank's recvbuf.
 * 3. done    everyone tells everyone that its chunk is stored.
 *
 * Two hops whatever the number of ranks, and each element is read once per rank and written once
 * per rank. In place is safe: of the chunk that the owner overwrites, only the owner reads.
 *
 * If some rank's buffers are not within reach, all ranks know that after step 1, and go around
 * the ring instead, or to each owner where a chunk fits in a slot. A rank whose own buffers are the
 * reason knows it at once and does not wait.
 */

#define PIECE_BYTES 16384   /* stays in the first-level cache until all have it */
#define TURN_BYTES  1048576 /* reduced in one call of progress */

static void start(struct wring_request *request)
{
	struct direct_state *state = &request->state.direct;
	int i;

	for (i = 1; i < request->coll->size; i++)
		lane_join(request, rank_after(request->coll, i));
	lane_describe(request, rank_after(request->coll, 1), &state->own);
	state->by_pointer = state->own.send.reach && state->own.recv.reach;
	ring_begin(request, &state->ring);
}

static void send_readies(struct wring_request *request, struct direct_state *state)
{
	struct coll *coll = request->coll;

	while (state->sent < coll->size - 1) {
		int peer = rank_after(coll, state->sent + 1);

		if (!lane_may_send(request, peer))
			return;
		lane_send_buffers(request, peer, &state->own);
		state->sent++;
	}
}

/* Where a peer's buffers are, as pointers of this process. */
static bool map_buffers(struct wring_request *request, int peer, const struct buffers *buffers,
			struct reached *reached)
{
	struct link *link = transport_link(request->coll->transport, peer);

	if (!buffers->send.reach || !buffers->recv.reach)
		return false;
	reached->send = link_reach(link, &buffers->send, request->bytes);
	reached->recv = link_reach(link, &buffers->recv, request->bytes);
	if (reached->send && reached->recv)
		return true;
	transport_fail_at(request->coll->transport, WRING_ERR_SYSTEM, peer,
			  request->signature.operation,
			  "cannot map %zu bytes of rank %d's memory; see ulimit -v and "
			  "vm.max_map_count",
			  request->bytes, peer);
	return false;
}

static void take_readies(struct wring_request *request, struct direct_state *state)
{
	struct coll *coll = request->coll;
	struct buffers buffers;
	struct message message;

	while (state->taken < coll->size - 1) {
		int i = state->taken + 1, peer = rank_after(coll, i);

		if (!lane_peek_kind(request, peer, MESSAGE_READY, &message))
			return;
		memcpy(&buffers, message.payload, sizeof(buffers));
		if (i == 1)
			state->ring.next = buffers;
		if (state->by_pointer)
			state->by_pointer =
				map_buffers(request, peer, &buffers, &request->reached[i]);
		lane_consume(request, peer);
		state->taken++;
	}
}

/* --- by pointer --------------------------------------------------------------------------- */

static const void *peer_send_at(const struct wring_request *request, int i, size_t element)
{
	return request->reached[i].send + element * request->elem;
}

static void *peer_recv_at(const struct wring_request *request, int i, size_t element)
{
	return request->reached[i].recv + element * request->elem;
}

/* acc = x[c+1] op ... op x[c+size-1], everything but the owner's own input. */
static const void *reduce_peers(struct wring_request *request, struct slice piece)
{
	const struct call *call = &request->call;
	const void *acc = peer_send_at(request, 1, piece.offset);
	int i;

	for (i = 2; i < request->coll->size; i++) {
		reduce(request->coll->scratch, acc, peer_send_at(request, i, piece.offset),
		       piece.count, call->datatype, call->op);
		acc = request->coll->scratch;
	}
	return acc;
}

static void reduce_piece(struct wring_request *request, struct slice piece)
{
	const struct call *call = &request->call;
	const void *acc = reduce_peers(request, piece);
	const void *own = send_at(request, piece.offset);
	void *dst = recv_at(request, piece.offset);
	int i = 1;

	if (call->op == WRING_AVG) {
		reduce(dst, acc, own, piece.count, call->datatype, call->op);
		reduce_scale(dst, piece.count, call->datatype, request->coll->size);
	} else {
		reduce_two(dst, peer_recv_at(request, i++, piece.offset), acc, own, piece.count,
			   call->datatype, call->op);
	}
	for (; i < request->coll->size; i++)
		memcpy(peer_recv_at(request, i, piece.offset), dst, piece.count * request->elem);
}

/* Returns true when the own chunk is done. */
static bool reduce_own_chunk(struct wring_request *request, struct direct_state *state)
{
	struct slice chunk = chunk_slice(request->call.count, request->elem, request->coll->size,
					 request->coll->position);
	size_t each = PIECE_BYTES / request->elem;
	size_t until = state->reduced + TURN_BYTES / request->elem;

	while (state->reduced < chunk.count && state->reduced < until) {
		size_t rest = chunk.count - state->reduced;
		struct slice piece = {chunk.offset + state->reduced, rest < each ? rest : each};

		reduce_piece(request, piece);
		state->reduced += piece.count;
		transport_worked(request->coll->transport);
	}
	return state->reduced >= chunk.count;
}

static void send_dones(struct wring_request *request, struct direct_state *state)
{
	struct coll *coll = request->coll;

	while (state->done_sent < coll->size - 1) {
		int peer = rank_after(coll, state->done_sent + 1);
		struct link *link = lane_may_send(request, peer);

		if (!link)
			return;
		link_notify(link, MESSAGE_DONE, &request->signature);
		lane_sent_last(request, peer);
		state->done_sent++;
	}
}

static void take_dones(struct wring_request *request, struct direct_state *state)
{
	struct coll *coll = request->coll;
	struct message message;

	while (state->done_taken < coll->size - 1) {
		int peer = rank_after(coll, state->done_taken + 1);

		if (!lane_peek_kind(request, peer, MESSAGE_DONE, &message))
			return;
		lane_consume(request, peer);
		lane_took_last(request, peer);
		state->done_taken++;
	}
}

static bool progress_by_pointer(struct wring_request *request, struct direct_state *state)
{
	if (!reduce_own_chunk(request, state))
		return false;
	send_dones(request, state);
	take_dones(request, state);
	return state->done_sent == request->coll->size - 1 &&
	       state->done_taken == request->coll->size - 1;
}

/* --- by messages -------------------------------------------------------------------------- */

static bool progress_by_messages(struct wring_request *request, struct direct_state *state)
{
	struct coll *coll = request->coll;
	bool all_taken = state->taken == coll->size - 1;
	int i;

	if (owner_fits(coll, &request->call))
		return owner_progress(request, &state->owner, all_taken);
	state->ring.ready_sent = true;
	state->ring.ready_taken = all_taken;
	if (!ring_progress(request, &state->ring, all_taken) || !all_taken)
		return false;
	for (i = 1; i < coll->size; i++) {
		lane_sent_last(request, rank_after(coll, i));
		lane_took_last(request, rank_after(coll, i));
	}
	return true;
}

static bool progress(struct wring_request *request)
{
	struct direct_state *state = &request->state.direct;
	int peers = request->coll->size - 1;

	request->waiting_for = -1;
	send_readies(request, state);
	take_readies(request, state);
	if (state->sent < peers)
		return false;
	if (!state->by_pointer)
		return progress_by_messages(request, state);
	return state->taken == peers && progress_by_pointer(request, state);
}

const struct algorithm allreduce_direct = {
	.name = "allreduce_direct",
	.start = start,
	.progress = progress,
};
