/* turn.c: an operation's turn on a link, and what it says and hears there. */
#include <string.h>

#include "coll/request.h"

int next_rank(const struct coll *coll)
{
	return transport_rank_at(coll->transport, ring_next(coll->position, coll->size));
}

int prev_rank(const struct coll *coll)
{
	return transport_rank_at(coll->transport, ring_prev(coll->position, coll->size));
}

int rank_after(const struct coll *coll, int i)
{
	return transport_rank_at(coll->transport,
				 ring_back(coll->position, coll->size - i, coll->size));
}

void lane_join_tx(struct wring_request *request, int peer)
{
	request->lanes[peer].tx_ticket = request->coll->tx[peer].joined++;
}

void lane_join_rx(struct wring_request *request, int peer)
{
	request->lanes[peer].rx_ticket = request->coll->rx[peer].joined++;
}

void lane_join(struct wring_request *request, int peer)
{
	if (request->lanes[peer].used)
		return;
	request->lanes[peer].used = true;
	lane_join_tx(request, peer);
	lane_join_rx(request, peer);
}

struct link *lane_may_send(struct wring_request *request, int peer)
{
	struct coll *coll = request->coll;
	struct link *link = transport_link(coll->transport, peer);

	if (coll->tx[peer].serving == request->lanes[peer].tx_ticket && link_credits(link) > 0)
		return link;
	request->waiting_for = peer;
	return NULL;
}

bool lane_peek(struct wring_request *request, int peer, struct message *message)
{
	struct coll *coll = request->coll;

	if (coll->rx[peer].serving == request->lanes[peer].rx_ticket &&
	    link_peek(transport_link(coll->transport, peer), message))
		return !message->signature || signature_agrees(request, peer, message->signature);
	request->waiting_for = peer;
	return false;
}

bool lane_peek_kind(struct wring_request *request, int peer, enum message_kind kind,
		    struct message *message)
{
	if (!lane_peek(request, peer, message))
		return false;
	if (message->kind == kind)
		return true;
	request_fail_message(request, peer, "an unexpected kind");
	return false;
}

void lane_consume(struct wring_request *request, int peer)
{
	link_consume(transport_link(request->coll->transport, peer));
}

void lane_sent_last(struct wring_request *request, int peer)
{
	request->coll->tx[peer].serving++;
}

void lane_took_last(struct wring_request *request, int peer)
{
	request->coll->rx[peer].serving++;
}

bool lane_drained(const struct wring_request *request, int peer)
{
	return link_drained(transport_link(request->coll->transport, peer));
}

void lane_describe(const struct wring_request *request, int peer, struct buffers *buffers)
{
	struct link *link = transport_link(request->coll->transport, peer);

	link_describe(link, request->call.sendbuf, request->bytes, &buffers->send);
	link_describe(link, request->call.recvbuf, request->bytes, &buffers->recv);
}

void lane_send_buffers(struct wring_request *request, int peer, const struct buffers *buffers)
{
	link_copy(transport_link(request->coll->transport, peer), MESSAGE_READY,
		  &request->signature, buffers, sizeof(*buffers));
}

void lane_send_ready(struct wring_request *request, int peer)
{
	struct buffers buffers;

	lane_describe(request, peer, &buffers);
	lane_send_buffers(request, peer, &buffers);
}
