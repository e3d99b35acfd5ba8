/* broadcast_tree.c: small messages: a binomial or a flat tree, one message per link. */
#include <string.h>

#include "coll/request.h"

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

#define FLAT_RANKS 8

static int root_position(const struct coll *coll, int root)
{
	int position = 0;

	while (transport_rank_at(coll->transport, position) != root)
		position++;
	return position;
}

static int rank_at_place(const struct wring_request *request, int place)
{
	const struct coll *coll = request->coll;

	return transport_rank_at(coll->transport, ring_back(request->state.tree.root,
							    coll->size - place, coll->size));
}

static void find_place(const struct wring_request *request, struct tree_state *tree)
{
	const struct coll *coll = request->coll;

	tree->root = root_position(coll, request->call.root);
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
	const struct tree_state *tree = &request->state.tree;

	return rank_at_place(request, tree->flat ? 0 : tree->place & (tree->place - 1));
}

/* Child number i; the one with the largest subtree is served first. */
static int child_of(const struct wring_request *request, int i)
{
	const struct tree_state *tree = &request->state.tree;

	if (tree->flat)
		return rank_at_place(request, i + 1);
	return rank_at_place(request, tree->place + (1 << (tree->children - 1 - i)));
}

static void start(struct wring_request *request)
{
	struct tree_state *tree = &request->state.tree;
	int i;

	find_place(request, tree);
	if (tree->place)
		lane_join_rx(request, parent_of(request));
	for (i = 0; i < tree->children; i++)
		lane_join_tx(request, child_of(request, i));
}

/* True when the data is here. */
static bool take_data(struct wring_request *request, struct tree_state *state, int parent)
{
	struct message message;

	if (state->data_taken)
		return true;
	if (!lane_peek_kind(request, parent, MESSAGE_DATA, &message))
		return false;
	if (message.len != request->bytes) {
		request_fail_message(request, parent, "a message of another length");
		return false;
	}
	if (request->bytes)
		memcpy(request->call.recvbuf, message.payload, request->bytes);
	lane_consume(request, parent);
	lane_took_last(request, parent);
	state->data_taken = true;
	return true;
}

static bool send_data(struct wring_request *request, struct tree_state *state)
{
	while (state->sent < state->children) {
		int child = child_of(request, state->sent);
		struct link *link = lane_may_send(request, child);

		if (!link)
			return false;
		link_copy(link, MESSAGE_DATA, &request->signature, request->call.recvbuf,
			  request->bytes);
		lane_sent_last(request, child);
		state->sent++;
	}
	return true;
}

static bool progress(struct wring_request *request)
{
	struct tree_state *state = &request->state.tree;

	request->waiting_for = -1;
	if (state->place && !take_data(request, state, parent_of(request)))
		return false;
	return send_data(request, state);
}

const struct algorithm broadcast_tree = {
	.name = "broadcast_tree",
	.start = start,
	.progress = progress,
};
