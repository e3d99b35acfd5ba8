/* broadcast_tree.c: small messages: a binomial or a flat tree, one message per link. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "coll/ring.h"

/*
 * Places are counted from the root along the ring. The parent of place v is v without its lowest
 * set bit; its children are v + 1, v + 2, v + 4, ... below that bit. For 8 ranks:
 *
 *   0 -> 4, 2, 1      4 -> 6, 5      2 -> 3      6 -> 7
 *
 * Few ranks of one host take the message from the root itself: a store into each one's memory costs
 * less than a hop, above all where the ranks share CPUs and a hop is a context switch.
 *
 * The children say nothing: a root runs ahead of them as far as its credits go. A child notices a
 * difference of signatures; a root hears of it when it waits the next time. Cost: log2(size) hops,
 * or 1.
 */

enum { FLAT_RANKS = 8 };

struct state {
	int root;     /* its position in the ring */
	int place;    /* of this rank, counted from there */
	int children; /* place + 2^i exists for i from 0 to children-1 */
	bool flat;    /* all are the root's children instead */
	int sent;     /* children */
	bool data_taken;
};

static struct state *state_of(const struct wring_request *request)
{
	return request->state;
}

static int rank_at_place(const struct wring_request *request, int place)
{
	const struct coll *coll = request->coll;

	return transport_rank_at(coll->transport, ring_back(state_of(request)->root,
							    coll->size - place, coll->size));
}

static void find_place(const struct wring_request *request, struct state *tree)
{
	const struct coll *coll = request->coll;

	tree->root = ring_position_of(coll, request->call.root);
	tree->place = ring_back(coll->position, tree->root, coll->size);
	tree->flat = coll->size <= FLAT_RANKS && transport_all_shm(coll->transport);
	if (tree->flat) {
		tree->children = tree->place ? 0 : coll->size - 1;
		return;
	}
	while (tree->place + (1 << tree->children) < coll->size &&
	       !(tree->place & (1 << tree->children)))
		tree->children++;
}

static int parent_of(const struct wring_request *request)
{
	const struct state *tree = state_of(request);

	return rank_at_place(request, tree->flat ? 0 : tree->place & (tree->place - 1));
}

/* Child number i; the one with the largest subtree is served first. */
static int child_of(const struct wring_request *request, int i)
{
	const struct state *tree = state_of(request);

	if (tree->flat)
		return rank_at_place(request, i + 1);
	return rank_at_place(request, tree->place + (1 << (tree->children - 1 - i)));
}

static void start(struct wring_request *request)
{
	struct state *tree = state_of(request);

	find_place(request, tree);
	if (tree->place)
		turn_join_rx(request, parent_of(request));
	for (int i = 0; i < tree->children; i++)
		turn_join_tx(request, child_of(request, i));
}

/* True when the data is here. */
static bool take_data(struct wring_request *request, struct state *state, int parent)
{
	struct message message;

	if (state->data_taken)
		return true;
	if (!turn_peek_kind(request, parent, MESSAGE_DATA, &message))
		return false;
	if (message.len != request->call.bytes) {
		turn_refuse_message(request, parent, "a message of another length");
		return false;
	}
	if (request->call.bytes)
		memcpy(request->call.recvbuf, message.payload, request->call.bytes);
	turn_consume(request, parent);
	turn_took_last(request, parent);
	state->data_taken = true;
	return true;
}

static bool send_data(struct wring_request *request, struct state *state)
{
	while (state->sent < state->children) {
		int child = child_of(request, state->sent);
		struct link *link = turn_may_send(request, child);

		if (!link)
			return false;
		link_copy(link, MESSAGE_DATA, &request->signature, request->call.recvbuf,
			  request->call.bytes);
		turn_sent_last(request, child);
		state->sent++;
	}
	return true;
}

static bool progress(struct wring_request *request)
{
	struct state *state = state_of(request);

	request->waiting_for = -1;
	if (state->place && !take_data(request, state, parent_of(request)))
		return false;
	return send_data(request, state);
}

const struct algorithm broadcast_tree = {
	.name = "broadcast_tree",
	.state_bytes = sizeof(struct state),
	.start = start,
	.progress = progress,
};
