/* reduce_inputs.c: every rank's input at once, reduced in the order that wring.h fixes. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce_inputs.h"

#include <string.h>

#include "coll/reduce/reduce.h"

bool reduce_inputs_arrived(struct wring_request *request, int *arrived, size_t bytes)
{
	struct message message;

	while (*arrived < request->coll->size - 1) {
		int peer = ring_rank_after(request->coll, *arrived + 1);

		if (!turn_peek_kind(request, peer, MESSAGE_DATA, &message))
			return false;
		if (message.len != bytes) {
			turn_refuse_message(request, peer, "a vector of another length");
			return false;
		}
		++*arrived;
	}
	return true;
}

bool reduce_inputs_collect(struct wring_request *request, const void *own, size_t bytes)
{
	struct coll *coll = request->coll;
	struct message message;

	coll->inputs[coll->position] = own;
	if (request->call.sendbuf == request->call.recvbuf && coll->size > 2 && bytes) {
		memcpy(coll->scratch, own, bytes);
		coll->inputs[coll->position] = coll->scratch;
	}
	for (int i = 1; i < coll->size; i++) {
		if (!turn_peek(request, ring_rank_after(coll, i), &message))
			return false;
		coll->inputs[ring_after(coll, i)] = message.payload;
	}
	return true;
}

static const void *input_at(const struct wring_request *request, int position, size_t element)
{
	return (const unsigned char *)request->coll->inputs[position] +
	       element * request->call.elem;
}

void reduce_inputs(struct wring_request *request, int owner, struct slice slice, size_t first)
{
	const struct call *call = &request->call;
	int size = request->coll->size;
	int position = ring_next(owner, size);
	const void *acc = input_at(request, position, slice.offset - first);
	void *dst = request_recv_at(request, slice.offset);

	while (position != owner) {
		position = ring_next(position, size);
		reduce(dst, acc, input_at(request, position, slice.offset - first), slice.count,
		       call->datatype, call->op);
		acc = dst;
	}
	if (call->op == WRING_AVG)
		reduce_scale(dst, slice.count, call->datatype, size);
}

void reduce_inputs_consume(struct wring_request *request)
{
	for (int i = 1; i < request->coll->size; i++)
		turn_consume(request, ring_rank_after(request->coll, i));
}
