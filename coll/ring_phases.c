/* ring_phases.c: what a walk around the ring does with segments: reduce-scatter, all-gather. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "coll/reduce/reduce.h"
#include "coll/ring.h"

/*
 * The story, for 4 ranks in ring order 0 1 2 3 and chunks a b c d (owned by 0 1 2 3):
 *
 *                    position 0   position 1   position 2   position 3
 *   reduce-scatter
 *     step 0            d ->         a ->         b ->         c ->     own input goes to next
 *     step 1            c ->         d ->         a ->         b ->     what came + own input
 *     step 2            b ->         c ->         d ->         a ->     likewise; a is reduced at 0
 *   all-gather
 *     step 0            a ->         b ->         c ->         d ->     reduced chunks go around
 *     step 1            d ->         a ->         b ->         c ->
 *     step 2            c ->         d ->         a ->         b ->
 *
 * Partial sums live in recvbuf, so a message is always taken without sending anything: however
 * few credits there are, the links cannot fill each other up.
 */

/* --- reduce-scatter ------------------------------------------------------------------------- */

static void scatter_send(struct wring_request *request, const struct ring_state *ring,
			 struct link *link, struct slice slice)
{
	const void *src = ring->tx.step == 0 ? request_send_at(request, slice.offset)
					     : request_recv_at(request, slice.offset);

	link_send(link, MESSAGE_DATA, &request->signature, src, slice.count * request->call.elem);
}

static void scatter_take(struct wring_request *request, const struct ring_state *ring,
			 struct slice slice, const struct message *message)
{
	const struct call *call = &request->call;
	int size = request->coll->size;
	void *dst = request_recv_at(request, slice.offset);

	reduce(dst, message->payload, request_send_at(request, slice.offset), slice.count,
	       call->datatype, call->op);
	if (call->op == WRING_AVG && ring->rx.step == size - 2)
		reduce_scale(dst, slice.count, call->datatype, size);
}

const struct ring_phase ring_reduce_scatter = {
	.first = 1,
	.send = scatter_send,
	.take = scatter_take,
	.direct = false,
};

/* --- all-gather ----------------------------------------------------------------------------- */

/* Once next's ready has come, straight into its recvbuf if that can be reached. */
static void gather_send(struct wring_request *request, const struct ring_state *ring,
			struct link *link, struct slice slice)
{
	const void *src = request_recv_at(request, slice.offset);
	size_t elem = request->call.elem;

	if (ring->ready_taken && ring->next.recv.reach)
		link_write(link, &request->signature, &ring->next.recv, slice.offset * elem, src,
			   slice.count * elem);
	else
		link_send(link, MESSAGE_DATA, &request->signature, src, slice.count * elem);
}

static void gather_take(struct wring_request *request, const struct ring_state *ring,
			struct slice slice, const struct message *message)
{
	(void)ring;
	if (message->kind == MESSAGE_DATA)
		memcpy(request_recv_at(request, slice.offset), message->payload,
		       slice.count * request->call.elem);
}

const struct ring_phase ring_all_gather = {
	.first = 0,
	.send = gather_send,
	.take = gather_take,
	.direct = true,
};
