/* barrier_dissemination.c: in round k tell the rank 2^k places on, hear the one 2^k places back. */
/* SPDX-License-Identifier: MIT */
#include "coll/ring.h"

/*
 * After round k every rank has heard, directly or not, of the 2^(k+1) - 1 ranks before it; after
 * ceil(log2(size)) rounds of all. A link is used at most once in each direction.
 */

struct state {
	int round;
	bool sent; /* in this round */
};

static int peer_on(const struct coll *coll, int round)
{
	return transport_rank_at(coll->transport,
				 ring_back(coll->position, coll->size - (1 << round), coll->size));
}

static int peer_back(const struct coll *coll, int round)
{
	return transport_rank_at(coll->transport,
				 ring_back(coll->position, 1 << round, coll->size));
}

static void start(struct wring_request *request)
{
	struct coll *coll = request->coll;

	for (int round = 0; 1 << round < coll->size; round++) {
		turn_join_tx(request, peer_on(coll, round));
		turn_join_rx(request, peer_back(coll, round));
	}
}

/* Returns true when this rank has told and heard in the present round. */
static bool finish_round(struct wring_request *request, struct state *state)
{
	int on = peer_on(request->coll, state->round);
	int back = peer_back(request->coll, state->round);
	struct message message;

	if (!state->sent) {
		struct link *link = turn_may_send(request, on);

		if (!link)
			return false;
		link_notify(link, MESSAGE_DATA, &request->signature);
		turn_sent_last(request, on);
		state->sent = true;
	}
	if (!turn_peek_kind(request, back, MESSAGE_DATA, &message))
		return false;
	turn_consume(request, back);
	turn_took_last(request, back);
	return true;
}

static bool progress(struct wring_request *request)
{
	struct state *state = request->state;

	request->waiting_for = -1;
	while (1 << state->round < request->coll->size) {
		if (!finish_round(request, state))
			return false;
		state->round++;
		state->sent = false;
	}
	return true;
}

const struct algorithm barrier_dissemination = {
	.name = "barrier_dissemination",
	.state_bytes = sizeof(struct state),
	.start = start,
	.progress = progress,
};
