/* turn.c: an operation's turn on a link, and what it says and hears there. */
/* SPDX-License-Identifier: MIT */
#include "coll/turn.h"

#include <string.h>

#include "coll/request.h"
#include "coll/signature.h"

void turn_join_tx(struct wring_request *request, int peer)
{
	request->tickets[peer].tx = request->coll->tx[peer].joined++;
}

void turn_join_rx(struct wring_request *request, int peer)
{
	request->tickets[peer].rx = request->coll->rx[peer].joined++;
}

void turn_join(struct wring_request *request, int peer)
{
	if (request->tickets[peer].both)
		return;
	request->tickets[peer].both = true;
	turn_join_tx(request, peer);
	turn_join_rx(request, peer);
}

void turn_join_all(struct wring_request *request)
{
	for (int peer = 0; peer < request->coll->size; peer++)
		if (peer != request->coll->rank)
			turn_join(request, peer);
}

static struct link *link_to(const struct wring_request *request, int peer)
{
	return transport_link(request->coll->transport, peer);
}

struct link *turn_may_send(struct wring_request *request, int peer)
{
	struct link *link = link_to(request, peer);

	if (request->coll->tx[peer].serving == request->tickets[peer].tx && link_credits(link) > 0)
		return link;
	request->waiting_for = peer;
	return NULL;
}

bool turn_peek(struct wring_request *request, int peer, struct message *message)
{
	if (request->coll->rx[peer].serving == request->tickets[peer].rx &&
	    link_peek(link_to(request, peer), message))
		return !message->signature || signature_agrees(request, peer, message->signature);
	request->waiting_for = peer;
	return false;
}

bool turn_peek_kind(struct wring_request *request, int peer, enum message_kind kind,
		    struct message *message)
{
	if (!turn_peek(request, peer, message))
		return false;
	if (message->kind == kind)
		return true;
	turn_refuse_message(request, peer, "an unexpected kind");
	return false;
}

void turn_consume(struct wring_request *request, int peer)
{
	link_consume(link_to(request, peer));
}

void turn_sent_last(struct wring_request *request, int peer)
{
	request->coll->tx[peer].serving++;
}

void turn_took_last(struct wring_request *request, int peer)
{
	request->coll->rx[peer].serving++;
}

bool turn_drained(const struct wring_request *request, int peer)
{
	return link_drained(link_to(request, peer));
}

void turn_refuse_message(struct wring_request *request, int peer, const char *what)
{
	uint64_t operation = request->signature.operation;

	transport_fail_at(
		request->coll->transport, WRING_ERR_TRANSPORT, peer, operation,
		"rank %d sent %s in operation %llu (%s); do all ranks run the same version?", peer,
		what, (unsigned long long)operation, request->algorithm->name);
}

/* --- ready --------------------------------------------------------------------------------- */

void turn_describe(const struct wring_request *request, int peer, struct buffers *buffers)
{
	const struct call *call = &request->call;
	struct link *link = link_to(request, peer);

	link_describe(link, call->sendbuf, call->bytes, &buffers->send);
	link_describe(link, call->recvbuf, call->bytes, &buffers->recv);
}

void turn_send_buffers(struct wring_request *request, int peer, const struct buffers *buffers)
{
	link_copy(link_to(request, peer), MESSAGE_READY, &request->signature, buffers,
		  sizeof(*buffers));
}

bool turn_send_ready(struct wring_request *request, int peer)
{
	struct buffers buffers;

	if (!turn_may_send(request, peer))
		return false;
	turn_describe(request, peer, &buffers);
	turn_send_buffers(request, peer, &buffers);
	return true;
}

bool turn_take_ready(struct wring_request *request, int peer, struct buffers *buffers)
{
	struct message message;

	if (!turn_peek_kind(request, peer, MESSAGE_READY, &message))
		return false;
	memcpy(buffers, message.payload, sizeof(*buffers));
	turn_consume(request, peer);
	return true;
}
