/* allreduce_ring.c: long vectors: reduce-scatter, then all-gather, around the ring. */
/* SPDX-License-Identifier: MIT */
#include "coll/allreduce_ring.h"

/*
 * The walk is in ring.c, what its two phases do in ring_phases.c.
 *
 * Cost per rank: 2 (size-1)/size of the vector sent, (size-1)/size reduced, 2 (size-1) hops.
 *
 * Links: segments go to next; ready goes to prev, first, and comes from next. Once it has come,
 * gathered segments are written straight into next's recvbuf if that can be reached.
 */

struct state {
	struct ring_state ring;
	bool tx_left, rx_left; /* the turn was passed on */
};

static const struct ring_phase *const phases[] = {&ring_reduce_scatter, &ring_all_gather};

void allreduce_ring_begin(struct wring_request *request, struct ring_state *ring)
{
	ring_begin(request, ring, phases, (int)(sizeof(phases) / sizeof(phases[0])));
}

static void start(struct wring_request *request)
{
	struct state *state = request->state;

	turn_join(request, request->coll->next);
	turn_join(request, request->coll->prev);
	allreduce_ring_begin(request, &state->ring);
}

/* Of two ranks, next is prev: segments follow on the same turn. */
static void exchange_ready(struct wring_request *request, struct ring_state *ring)
{
	const struct coll *coll = request->coll;

	if (!ring->ready_sent) {
		ring->ready_sent = turn_send_ready(request, coll->prev);
		if (ring->ready_sent && coll->size > 2)
			turn_sent_last(request, coll->prev);
	}
	if (!ring->ready_taken) {
		ring->ready_taken = turn_take_ready(request, coll->next, &ring->next);
		if (ring->ready_taken && coll->size > 2)
			turn_took_last(request, coll->next);
	}
}

/* Pass the turn on as early as possible: the next operation may begin to send. */
static void leave_links(struct wring_request *request, struct state *state)
{
	const struct ring_state *ring = &state->ring;

	if (ring_ended(ring, &ring->tx) && ring->ready_sent && !state->tx_left) {
		state->tx_left = true;
		turn_sent_last(request, request->coll->next);
	}
	if (ring_ended(ring, &ring->rx) && ring->ready_taken && !state->rx_left) {
		state->rx_left = true;
		turn_took_last(request, request->coll->prev);
	}
}

static bool progress(struct wring_request *request)
{
	struct state *state = request->state;
	struct ring_state *ring = &state->ring;

	request->waiting_for = -1;
	exchange_ready(request, ring);
	(void)ring_progress(request, ring, ring->ready_taken || request->coll->size > 2);
	leave_links(request, state);
	return state->tx_left && state->rx_left && turn_drained(request, request->coll->next);
}

const struct algorithm allreduce_ring = {
	.name = "allreduce_ring",
	.state_bytes = sizeof(struct state),
	.start = start,
	.progress = progress,
};
