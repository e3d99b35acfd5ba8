/* turn.h: an operation's turn on a link, and what it says and hears there. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_TURN_H
#define COLL_TURN_H

#include "transport/transport.h"

struct wring_request;

/*
 * Operations do not overtake on a link: each takes a ticket for both directions of every link it
 * uses, in the order started, and sends (or takes messages) only while its ticket is served. It
 * passes the turn on when it has sent (or taken) its last message there. How many messages that
 * are follows from the call alone, so both ends agree.
 */
struct turn {
	uint64_t joined, serving;
};

struct ticket {
	uint64_t tx, rx;
	bool both; /* turn_join was called */
};

/* Take tickets for the link with that peer, for one direction or (once) for both; in start only.
 * Every ticket must be given back by turn_sent_last or turn_took_last. */
void turn_join_tx(struct wring_request *request, int peer);
void turn_join_rx(struct wring_request *request, int peer);
void turn_join(struct wring_request *request, int peer);

/* turn_join with every peer. */
void turn_join_all(struct wring_request *request);

/* The link, if this operation may send a message to that peer now; else NULL (and the peer is
 * what we wait for). */
struct link *turn_may_send(struct wring_request *request, int peer);

/* The head from that peer, if it is there, is this operation's and its signature agrees. */
bool turn_peek(struct wring_request *request, int peer, struct message *message);

/* The same for a message that must be of this kind; another kind fails the transport. */
bool turn_peek_kind(struct wring_request *request, int peer, enum message_kind kind,
		    struct message *message);

void turn_consume(struct wring_request *request, int peer);

/* This operation will send (take) nothing more there. */
void turn_sent_last(struct wring_request *request, int peer);
void turn_took_last(struct wring_request *request, int peer);

/* Every write from the program's memory has completed on that link. */
bool turn_drained(const struct wring_request *request, int peer);

/* A message from peer is not what this operation expects there: the transport fails. */
void turn_refuse_message(struct wring_request *request, int peer, const char *what);

/* --- ready: where this operation's buffers are --------------------------------------------- */

void turn_describe(const struct wring_request *request, int peer, struct buffers *buffers);

/* Tell the peer; needs turn_may_send. */
void turn_send_buffers(struct wring_request *request, int peer, const struct buffers *buffers);

/* Describe and tell; false: not now. */
bool turn_send_ready(struct wring_request *request, int peer);

/* Take the peer's ready; false: it has not come. */
bool turn_take_ready(struct wring_request *request, int peer, struct buffers *buffers);

#endif
