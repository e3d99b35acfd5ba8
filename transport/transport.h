/* transport.h: put these bytes in that peer's memory and tell it; all that coll/ may know of it. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/trace.h"
#include "wring.h"

/*
 * The contract in words
 *
 * A link joins this rank with one peer; each direction is a queue of messages. Message s stands
 * in slot s mod slots of the receiver's arena: a header of 64 bytes, which holds up to
 * MESSAGE_INLINE bytes of payload, and, if the payload is longer, the bytes behind it. A message
 * may instead announce bytes that were written straight into a buffer which the receiver named in
 * a ready message (MESSAGE_DIRECT). Every message uses one credit.
 *
 * order          messages of a link arrive in the order sent, between links there is no order.
 * notification   when link_peek shows a message, all bytes of it, and of everything sent or
 *                written earlier on that link, are visible to this rank.
 * completion     link_drained: every write of this link whose source is the program's memory has
 *                completed here, so the source may change. It says nothing of the remote CPU.
 * receives       are posted by the transport, enough for everything that credits allow; the
 *                collectives never see them.
 * blocking       nothing here blocks, but for transport_idle (100 ms at most), transport_settle
 *                (50 ms) and the calls that ask the system for memory (transport_alloc,
 *                transport_register).
 * failure        the data path returns no errors: the first failure is kept in the transport, all
 *                later posts do nothing, link_peek shows nothing and transport_status tells.
 */

struct transport;
struct link;

/* What every message of an operation must agree on, and where in the queue of operations it is. */
struct signature {
	uint64_t operation; /* counted from 1 */
	uint64_t count;
	int32_t root; /* -1 where there is none */
	uint8_t collective;
	uint8_t datatype;
	uint8_t op;
};

enum message_kind {
	MESSAGE_DATA = 1,   /* the payload is here */
	MESSAGE_READY = 2,  /* payload: struct buffers of the sender */
	MESSAGE_DIRECT = 3, /* the payload stands in the buffer that the receiver named */
	MESSAGE_DONE = 4,   /* no payload: the sender has finished with the receiver's buffers */
};

enum { MESSAGE_INLINE = 32 };

/* Where a buffer is for a peer; reach 0: nowhere, it must be sent through slots. */
struct remote {
	uint64_t address; /* verbs: virtual address; shm: offset in the owner's file */
	uint32_t rkey;
	uint32_t reach;
};

/* The payload of MESSAGE_READY. */
struct buffers {
	struct remote send;
	struct remote recv;
};

struct message {
	enum message_kind kind;
	const struct signature *signature; /* NULL for MESSAGE_DIRECT over verbs */
	const void *payload;		   /* borrowed until link_consume */
	size_t len;
};

int transport_rank(const struct transport *transport);
int transport_size(const struct transport *transport);
struct link *transport_link(struct transport *transport, int peer);

/* Ring positions: position -> rank and back. */
int transport_rank_at(const struct transport *transport, int position);
int transport_position(const struct transport *transport);

/* True when every peer is reached through shared memory. */
bool transport_all_shm(const struct transport *transport);

/* True when the ranks are on several hosts, or are to talk as if they were. */
bool transport_network(const struct transport *transport);

/* Of a link: how many messages may be under way. A power of two. */
unsigned transport_slots(const struct transport *transport);

/* What a slot between ring neighbours holds, at least. */
size_t transport_segment_bytes(const struct transport *transport);

/* The setting eager_bytes, which is for the collectives; -1: not set. */
int transport_eager_setting(const struct transport *transport);
struct trace *transport_trace(const struct transport *transport);

/* --- sending ------------------------------------------------------------------------------ */

/* How many messages may be sent now. */
unsigned link_credits(struct link *link);

/* Send a message without a payload. Needs a credit. */
void link_notify(struct link *link, enum message_kind kind, const struct signature *signature);

/* Copy len bytes from src into the next message; src may change at once. Needs a credit. */
void link_copy(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len);

/* Copy len bytes from src into the next message, or, if src is registered, send from there: then
 * it is borrowed until link_drained. Needs a credit; len fits a slot. */
void link_send(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len);

/* Write len bytes to remote + offset and announce them. Borrows src as link_send does. */
void link_write(struct link *link, const struct signature *signature, const struct remote *remote,
		uint64_t offset, const void *src, size_t len);

/* True when no write from the program's own memory is under way on this link. */
bool link_drained(struct link *link);

/* --- receiving ---------------------------------------------------------------------------- */

/* The message at the head, if one has arrived. */
bool link_peek(struct link *link, struct message *message);

/* Take the head away; its slot will be written again. */
void link_consume(struct link *link);

/* Tell the peer, beside the queue of messages, that this rank waits for it in that operation.
 * False: not now. */
bool link_tell_waiting(struct link *link, const struct signature *signature);

/* What the peer has told so last; operation 0: nothing yet, or it is just being written. */
void link_read_waiting(const struct link *link, struct signature *signature);

/* --- buffers ------------------------------------------------------------------------------ */

/* Say where [buf, buf + len) is for that peer. */
void link_describe(struct link *link, const void *buf, size_t len, struct remote *remote);

/* Can I reach this remote memory by pointer? NULL: no. */
void *link_reach(struct link *link, const struct remote *remote, size_t len);

/* Local memory; see wring.h. false: buf is not the start of such memory. */
enum wring_status transport_alloc(struct transport *transport, size_t len, void **buf,
				  struct wring_error *error);
bool transport_free(struct transport *transport, void *buf);
enum wring_status transport_register(struct transport *transport, void *buf, size_t len,
				     struct wring_error *error);
bool transport_deregister(struct transport *transport, void *buf);

/* Call visit for all memory of transport_alloc. */
void transport_each_owned(const struct transport *transport,
			  void (*visit)(void *ctx, void *base, size_t len), void *ctx);

/* --- progress and failure ----------------------------------------------------------------- */

/* Look at the completion queues and at what peers have said. Cheap. */
void transport_poll(struct transport *transport);

/* WRING_OK, or the first failure. */
enum wring_status transport_status(const struct transport *transport);

/* Record a failure that the caller has decided on. The first one counts; transport_settle tells it
 * to the peers. */
void transport_fail(struct transport *transport, const struct wring_error *error);

/* The same in one call: rank is at fault (-1: nobody in particular) in that operation (0: none).
 * Of a MISMATCH this rank is the other one. */
__attribute__((format(printf, 5, 6))) void transport_fail_at(struct transport *transport,
							     enum wring_status status, int rank,
							     uint64_t operation, const char *format,
							     ...);

/* After a failure, once: tell the peers, hear them for up to 50 ms, agree on the least error by
 * (operation, status, culprit), close all links. */
void transport_settle(struct transport *transport);

/* The error that broke this communicator (status WRING_OK: none). */
const struct wring_error *transport_error(const struct transport *transport);

/* The oldest operation of this rank that has not ended, and the peer without whom nothing moves
 * (-1: nobody in particular). */
struct awaited {
	uint64_t operation;
	int peer;
};

/* How long nothing has moved; kept by the caller, zero at first, from one call of transport_idle or
 * transport_look to the next. Only these two write and read it. */
struct idle {
	uint64_t progress;    /* transport_progress when it was last looked at */
	uint64_t rounds;      /* calls since something moved */
	uint64_t since_ns;    /* nothing has moved since; 0: the clock was not yet read */
	uint64_t listened_ns; /* last look for aborts and goodbyes */
	uint64_t looked_ns;   /* last look for deaths */
	uint64_t called_ns;   /* last call of transport_look */
	bool warned;
	bool armed; /* the next round may sleep */
};

/* Messages sent, consumed and completed so far: grows whenever something moves. */
uint64_t transport_progress(const struct transport *transport);

/* This rank has done a part of its work and has more: a rank that waits for nobody must not
 * sleep. */
void transport_worked(struct transport *transport);

/*
 * Nothing to do: spin, yield or sleep as the policy says, and look after the peers and the deadline
 * now and then. Returns 0, or, about every ms, for how many ns nothing has moved: the caller then
 * looks for what no message tells of.
 */
uint64_t transport_idle(struct transport *transport, struct idle *idle,
			const struct awaited *awaited);

/* The same look, without any waiting. Time between two calls counts for at most 100 ms, so that a
 * program that computes is not taken for one that waits. */
uint64_t transport_look(struct transport *transport, struct idle *idle,
			const struct awaited *awaited);

#endif
