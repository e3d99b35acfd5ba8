/* reduce_inputs.c: every rank's input at hand at once: reduced in the order that the header fixes. */
#include <string.h>

#include "coll/reduce/reduce.h"
#include "coll/request.h"

bool inputs_arrived(struct wring_request *request, int *arrived, size_t bytes)
{
	struct message message;

	while (*arrived < request->coll->size - 1) {
		int peer = rank_after(request->coll, *arrived + 1);

		if (!lane_peek_kind(request, peer, MESSAGE_DATA, &message))
			return false;
		if (message.len != bytes) {
			request_fail_message(request, peer, "a vector of another length");
			return false;
		}
		++*arrived;
	}
	return true;
}

bool inputs_collect(struct wring_request *request, const void *own, size_t bytes)
{
	struct coll *coll = request->coll;
	struct message message;
	int i;

	coll->inputs[coll->position] = own;
	if (request->call.sendbuf == request->call.recvbuf && coll->size > 2 && bytes) {
		memcpy(coll->scratch, own, bytes);
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

void inputs_reduce(struct wring_request *request, int owner, struct slice slice, size_t first)
{
	const struct call *call = &request->call;
	int size = request->coll->size;
	int position = ring_next(owner, size);
	const void *acc = input_at(request, position, slice.offset - first);
	void *dst = recv_at(request, slice.offset);

	while (position != owner) {
		position = ring_next(position, size);
		reduce(dst, acc, input_at(request, position, slice.offset - first), slice.count,
		       call->datatype, call->op);
		acc = dst;
	}
	if (call->op == WRING_AVG)
		reduce_scale(dst, slice.count, call->datatype, size);
}

void inputs_consume(struct wring_request *request)
{
	int i;

	for (i = 1; i < request->coll->size; i++)
		lane_consume(request, rank_after(request->coll, i));
}
