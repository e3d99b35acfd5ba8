/* allreduce_direct.c: one host: each owner reads its chunk from all ranks and writes to all. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "coll/allreduce_owner.h"
#include "coll/allreduce_ring.h"
#include "coll/reduce/reduce.h"

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

/* A piece stays in the first-level cache until all have it; a turn is reduced in one call. */
enum { PIECE_BYTES = 16384, TURN_BYTES = 1048576 };
_Static_assert((int)PIECE_BYTES <= (int)SCRATCH_BYTES, "a piece is reduced in scratch");

/* A peer's buffers, as pointers of this process. */
struct reached {
	const unsigned char *send;
	unsigned char *recv;
};

struct state {
	struct buffers own; /* where this rank's buffers are: alike for all host peers */
	/* how many peers each step is done with, in ring order beginning after this rank */
	int ready_sent, ready_taken, done_sent, done_taken;
	size_t reduced;		  /* elements of the own chunk */
	bool by_pointer;	  /* every rank's buffers are within reach */
	struct ring_state ring;	  /* otherwise, one of these two: */
	struct owner_state owner; /* where a chunk fits in a slot */
	struct reached reached[]; /* by places after this one */
};

static struct state *state_of(const struct wring_request *request)
{
	return request->state;
}

static void start(struct wring_request *request)
{
	struct state *state = state_of(request);

	turn_join_all(request);
	turn_describe(request, request->coll->next, &state->own);
	state->by_pointer = state->own.send.reach && state->own.recv.reach;
	allreduce_ring_begin(request, &state->ring);
}

static bool send_ready(struct wring_request *request, int i, int peer)
{
	(void)i;
	if (!turn_may_send(request, peer))
		return false;
	turn_send_buffers(request, peer, &state_of(request)->own);
	return true;
}

/* Where a peer's buffers are, as pointers of this process. */
static bool map_buffers(struct wring_request *request, int peer, const struct buffers *buffers,
			struct reached *reached)
{
	struct link *link = transport_link(request->coll->transport, peer);

	if (!buffers->send.reach || !buffers->recv.reach)
		return false;
	reached->send = link_reach(link, &buffers->send, request->call.bytes);
	reached->recv = link_reach(link, &buffers->recv, request->call.bytes);
	if (reached->send && reached->recv)
		return true;
	transport_fail_at(request->coll->transport, WRING_ERR_SYSTEM, peer,
			  request->signature.operation,
			  "cannot map %zu bytes of rank %d's memory; see ulimit -v and "
			  "vm.max_map_count",
			  request->call.bytes, peer);
	return false;
}

static bool take_ready(struct wring_request *request, int i, int peer)
{
	struct state *state = state_of(request);
	struct buffers buffers;

	if (!turn_take_ready(request, peer, &buffers))
		return false;
	if (i == 1)
		state->ring.next = buffers;
	if (state->by_pointer)
		state->by_pointer = map_buffers(request, peer, &buffers, &state->reached[i]);
	return true;
}

/* --- by pointer --------------------------------------------------------------------------- */

static const void *peer_send_at(const struct wring_request *request, int i, size_t element)
{
	return state_of(request)->reached[i].send + element * request->call.elem;
}

static void *peer_recv_at(const struct wring_request *request, int i, size_t element)
{
	return state_of(request)->reached[i].recv + element * request->call.elem;
}

/* acc = x[c+1] op ... op x[c+size-1], everything but the owner's own input. */
static const void *reduce_peers(struct wring_request *request, struct slice piece)
{
	const struct call *call = &request->call;
	const void *acc = peer_send_at(request, 1, piece.offset);

	for (int i = 2; i < request->coll->size; i++) {
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
	const void *own = request_send_at(request, piece.offset);
	void *dst = request_recv_at(request, piece.offset);
	int i = 1;

	if (call->op == WRING_AVG) {
		reduce(dst, acc, own, piece.count, call->datatype, call->op);
		reduce_scale(dst, piece.count, call->datatype, request->coll->size);
	} else {
		reduce_two(dst, peer_recv_at(request, i++, piece.offset), acc, own, piece.count,
			   call->datatype, call->op);
	}
	for (; i < request->coll->size; i++)
		memcpy(peer_recv_at(request, i, piece.offset), dst,
		       piece.count * request->call.elem);
}

/* Returns true when the own chunk is done. */
static bool reduce_own_chunk(struct wring_request *request, struct state *state)
{
	struct slice chunk = chunk_slice(request->call.count, request->call.elem,
					 request->coll->size, request->coll->position);
	size_t each = PIECE_BYTES / request->call.elem;
	size_t until = state->reduced + TURN_BYTES / request->call.elem;

	while (state->reduced < chunk.count && state->reduced < until) {
		size_t rest = chunk.count - state->reduced;
		struct slice piece = {chunk.offset + state->reduced, rest < each ? rest : each};

		reduce_piece(request, piece);
		state->reduced += piece.count;
		transport_worked(request->coll->transport);
	}
	return state->reduced >= chunk.count;
}

static bool send_done(struct wring_request *request, int i, int peer)
{
	struct link *link = turn_may_send(request, peer);

	(void)i;
	if (!link)
		return false;
	link_notify(link, MESSAGE_DONE, &request->signature);
	turn_sent_last(request, peer);
	return true;
}

static bool take_done(struct wring_request *request, int i, int peer)
{
	struct message message;

	(void)i;
	if (!turn_peek_kind(request, peer, MESSAGE_DONE, &message))
		return false;
	turn_consume(request, peer);
	turn_took_last(request, peer);
	return true;
}

static bool progress_by_pointer(struct wring_request *request, struct state *state)
{
	bool sent, taken;

	if (!reduce_own_chunk(request, state))
		return false;
	sent = ring_sweep(request, &state->done_sent, send_done);
	taken = ring_sweep(request, &state->done_taken, take_done);
	return sent && taken;
}

/* --- by messages -------------------------------------------------------------------------- */

static bool progress_by_messages(struct wring_request *request, struct state *state, bool all_taken)
{
	struct coll *coll = request->coll;

	if (owner_fits(coll, &request->call))
		return owner_progress(request, &state->owner, all_taken);
	state->ring.ready_sent = true;
	state->ring.ready_taken = all_taken;
	if (!ring_progress(request, &state->ring, all_taken) || !all_taken)
		return false;
	for (int i = 1; i < coll->size; i++) {
		turn_sent_last(request, ring_rank_after(coll, i));
		turn_took_last(request, ring_rank_after(coll, i));
	}
	return true;
}

static bool progress(struct wring_request *request)
{
	struct state *state = state_of(request);
	bool all_sent, all_taken;

	request->waiting_for = -1;
	all_sent = ring_sweep(request, &state->ready_sent, send_ready);
	all_taken = ring_sweep(request, &state->ready_taken, take_ready);
	if (!all_sent)
		return false;
	if (!state->by_pointer)
		return progress_by_messages(request, state, all_taken);
	return all_taken && progress_by_pointer(request, state);
}

const struct algorithm allreduce_direct = {
	.name = "allreduce_direct",
	.state_bytes = sizeof(struct state),
	.peer_bytes = sizeof(struct reached),
	.start = start,
	.progress = progress,
};
