/* link.h: slots, credits and sequence of one link; what link.c and the two back ends share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_LINK_H
#define TRANSPORT_LINK_H

#include "transport/transport.h"

struct transport_offer;

/*
 * Who owns what
 *
 * The receiver's arena holds, per peer, an *area*: a credit word (written by the peer: how many of
 * our messages it has consumed) with the signature of the operation in which the peer waits for us
 * behind it, slots for the peer's messages, and two reserve slots (abort, leave). All but the
 * slots are outside the credits. A slot is one struct slot_header and, behind it, slot_bytes of
 * payload. link.c counts; a back end (shm, verbs) moves bytes:
 *
 *   sent      messages that were handed to the back end            (link.c)
 *   arrived   messages that the back end has seen arrive           (back end)
 *   consumed  messages that the collective has taken               (link.c)
 *   credited  consumed count that the peer has been told           (link.c; verbs: every notice)
 *   reusable  messages whose local write has completed             (verbs; shm: SENT_AT_ONCE)
 *
 * credits = slots - (sent - credits_seen), and over verbs not more than free send slots. The peer
 * tells by its credit word, over verbs also in every notice: each may be behind the other.
 */

/* The first 64 bytes of a slot. sequence is written last over shm. */
struct slot_header {
	uint32_t sequence; /* low 32 bits of message number + 1: never equal to what was there */
	uint32_t len;	   /* bytes of payload */
	uint64_t operation;
	uint64_t count;
	int32_t root;
	uint8_t collective, datatype, op, kind;
	unsigned char payload[MESSAGE_INLINE];
};

enum reserve { RESERVE_ABORT = 0, RESERVE_LEAVE = 1, RESERVES = 2 };

/* What stands in a reserve slot; sequence (written last over shm) is 1 when it is there. */
struct reserve_record {
	uint32_t sequence;
	int32_t status, rank, peer, native;
	uint32_t reserved;
	uint64_t operation;
	uint64_t consumed; /* leave: final consumed count */
	char text[472];
};

#define SENT_AT_ONCE UINT64_MAX

enum { WAITING_WORDS = 4 }; /* a signature, and a check: it may arrive torn */

/* Geometry of one area; both ends compute it from slots and slot_bytes. */
struct area {
	uint64_t offset; /* of the area in the owner's arena */
	uint32_t slots;
	uint32_t slot_bytes; /* payload of one slot, a multiple of 64 */
};

size_t area_len(const struct area *area);
size_t area_credit_at(void);  /* offset within the area */
size_t area_waiting_at(void); /* WAITING_WORDS, in the line of the credit word */
size_t area_slot_at(const struct area *area, uint32_t slot);
size_t area_reserve_at(const struct area *area, enum reserve which);

/*
 * What a back end does for one link. No slot is NULL. The data path returns no errors: it reports
 * them by transport_fail, and after a failure of the transport it may be called and does nothing,
 * but for send_record, find_record and close. No slot blocks, but for connect and free. src is
 * borrowed as transport.h says of the calls with the same names.
 */
struct link_ops {
	/* --- set-up: back_end.h's lay_out, or shm_link_open, has opened the link -------------- */

	/* Say to the peer, in its part of the offer, where to send. */
	void (*make_offer)(const struct link *link, struct transport_offer *offer);

	/* Take the peer's offer. Nobody writes before all ranks have done so. May block. A failure
	 * leaves what free accepts. */
	enum wring_status (*connect)(struct link *link, const struct transport_offer *offer,
				     struct wring_error *error);

	/* Fill in the transport and what is known of this path, for wring_comm_peer. */
	void (*describe_path)(const struct link *link, struct wring_peer_info *info);

	/* --- data path ---------------------------------------------------------------------- */

	/* Publish message number link->sent: its header and, if len > MESSAGE_INLINE, len bytes of
	 * payload behind it stand at link_tx_header(link, link->sent). */
	void (*post)(struct link *link, struct slot_header *header, size_t len);

	/* The same, but the payload (len > MESSAGE_INLINE) is at src: copied, or, if src lies in a
	 * registered region, read by the HCA until drained. */
	void (*post_from)(struct link *link, struct slot_header *header, const void *src,
			  size_t len);

	/* Write len bytes from src to remote + offset; announce them as message link->sent of kind
	 * MESSAGE_DIRECT (header: over shm what announces it). */
	void (*write)(struct link *link, struct slot_header *header, const struct remote *remote,
		      uint64_t offset, const void *src, size_t len);

	/* Has message number link->consumed arrived? Then fill *message; its payload stays the back
	 * end's until link_consume. */
	bool (*peek)(struct link *link, struct message *message);

	/* Write link->consumed into the peer's credit word. */
	void (*return_credit)(struct link *link);

	/* Put these into the peer's area_waiting_at; false: not now. The peer need not wake. */
	bool (*tell_waiting)(struct link *link, const uint64_t words[WAITING_WORDS]);

	/* Put a record into the peer's reserve slot; best effort, once each. Copies it. */
	void (*send_record)(struct link *link, enum reserve which,
			    const struct reserve_record *record);

	/* Has the peer put a record into ours? NULL: not (yet). */
	const struct reserve_record *(*find_record)(struct link *link, enum reserve which);

	/* See link_drained. */
	bool (*drained)(struct link *link);

	/* Nothing at all is outstanding locally. */
	bool (*flushed)(struct link *link);

	/* See link_describe and link_reach. */
	void (*describe)(struct link *link, const void *buf, size_t len, struct remote *remote);
	void *(*reach)(struct link *link, const struct remote *remote, size_t len);

	/* --- the end ------------------------------------------------------------------------ */

	/* Has the peer's process ended? False where that cannot be seen. */
	bool (*has_ended)(const struct link *link);

	/* Nothing more may arrive or leave: verbs: QP -> ERROR. shm: nothing. Once. */
	void (*close)(struct link *link);

	/* Free what the link holds; ops and back_end are NULL afterwards. Accepts a half-made
	 * link. */
	void (*free)(struct link *link);
};

struct link {
	struct transport *transport;
	const struct link_ops *ops;
	enum wring_transport kind; /* SHM or VERBS */
	int peer;

	/* outgoing */
	uint64_t sent;
	uint64_t reusable;
	uint64_t credits_seen;	     /* the most that the peer has consumed, as far as we know */
	uint64_t word_seen;	     /* last believed value of the credit word */
	const uint64_t *credit_word; /* in our arena, the peer writes it */
	unsigned char *tx_area;	     /* shm: the peer's area in our map; verbs: own send slots */
	struct area tx;		     /* geometry of the peer's area for us */

	/* incoming */
	uint64_t arrived;
	uint64_t consumed;
	uint64_t credited;
	unsigned char *rx_area; /* in our arena */
	struct area rx;

	bool peer_sleeps; /* the peer's wait policy may sleep: credits must raise a completion */
	bool left;	  /* a leave record has been seen */
	bool ended;	  /* it has left or its process has ended, seen when progress stood there */
	uint64_t progress_at_end;
	bool closed; /* ops->close was called */
	bool record_sent[RESERVES];

	void *back_end; /* struct shm_link or struct verbs_link */
};

/* Where message number s is built (outgoing) or stands (incoming). */
static inline struct slot_header *link_tx_header(const struct link *link, uint64_t s)
{
	return (struct slot_header *)(link->tx_area +
				      area_slot_at(&link->tx,
						   (uint32_t)(s & (link->tx.slots - 1))));
}

static inline struct slot_header *link_rx_header(const struct link *link, uint64_t s)
{
	return (struct slot_header *)(link->rx_area +
				      area_slot_at(&link->rx,
						   (uint32_t)(s & (link->rx.slots - 1))));
}

/* The checks that every back end makes before it shows a message that has a header; on a bad one
 * the transport fails with TRANSPORT and false is returned. */
bool link_read_header(struct link *link, const struct slot_header *header, struct message *message);

/* The peer has consumed that many of our messages: more than credits_seen, not more than sent. */
void link_believe_credit(struct link *link, uint64_t consumed);

/* Tell the peer the consumed count if it does not know it yet. */
void link_flush_credit(struct link *link);

#endif
