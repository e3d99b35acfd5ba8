/* link.h: slots, credits and sequence of one link; what link.c and the two back ends share. */
#ifndef LINK_H
#define LINK_H

#include "transport/transport.h"

/*
 * Who owns what
 *
 * The receiver's arena holds, per peer, an *area*: a credit word (written by the peer: how many of
 * our messages it has consumed) with the signature of the operation in which the peer waits for us
 * behind it, slots for the peer's messages, and two reserve slots (abort, leave). All but the
 * slots are outside the credits. A slot is one struct line and, behind it, slot_bytes of
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
struct line {
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

#define WAITING_WORDS 4 /* a signature, and a check: it may arrive torn */

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

struct link_ops {
	/* Message number link->sent: its line, and len > MESSAGE_INLINE bytes of payload if any,
	 * have been built at link_slot(link, link->sent). Publish them. */
	void (*post)(struct link *link, struct line *line, size_t len);

	/* The same, but the payload (len > MESSAGE_INLINE) is taken from src: copied, or, if src lies
	 * in a registered region, read by the HCA until drained. */
	void (*post_from)(struct link *link, struct line *line, const void *src, size_t len);

	/* Write len bytes from src to remote + offset; announce them as message link->sent of kind
	 * MESSAGE_DIRECT (line: over shm the header). */
	void (*write)(struct link *link, struct line *line, const struct remote *remote,
		      uint64_t offset, const void *src, size_t len);

	/* Has message number link->consumed arrived? Then fill *message. */
	bool (*peek)(struct link *link, struct message *message);

	/* Write link->consumed into the peer's credit word. */
	void (*credit)(struct link *link);

	/* Put these into the peer's area_waiting_at; false: not now. The peer need not wake. */
	bool (*waiting)(struct link *link, const uint64_t words[WAITING_WORDS]);

	/* Put a record into the peer's reserve slot; best effort, once each. */
	void (*reserve)(struct link *link, enum reserve which, const struct reserve_record *record);

	/* Has the peer put a record into ours? NULL: not (yet). */
	const struct reserve_record *(*reserved)(struct link *link, enum reserve which);

	/* See transport.h. */
	bool (*drained)(struct link *link);
	bool (*flushed)(struct link *link); /* nothing at all outstanding locally */
	void (*describe)(struct link *link, const void *buf, size_t len, struct remote *remote);
	void *(*reach)(struct link *link, const struct remote *remote, size_t len);

	/* Nothing more may arrive or leave: verbs: QP -> ERROR. shm: nothing. */
	void (*close)(struct link *link);
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
	bool ended;	  /* it has left or its process has ended, when moved was moved_at_end */
	uint64_t moved_at_end;
	bool closed; /* ops->close was called */
	bool reserve_sent[RESERVES];

	void *back_end; /* struct shm_link or struct verbs_link */
};

/* Where message number s is built (outgoing) or stands (incoming). */
static inline struct line *link_tx_line(const struct link *link, uint64_t s)
{
	return (struct line *)(link->tx_area +
			       area_slot_at(&link->tx, (uint32_t)(s & (link->tx.slots - 1))));
}

static inline struct line *link_rx_line(const struct link *link, uint64_t s)
{
	return (struct line *)(link->rx_area +
			       area_slot_at(&link->rx, (uint32_t)(s & (link->rx.slots - 1))));
}

/* The checks that every back end makes before it shows a message that has a header; on a bad one
 * the transport fails with TRANSPORT and false is returned. */
bool link_read_line(struct link *link, const struct line *line, struct message *message);

/* The peer has consumed that many of our messages: more than credits_seen, not more than sent. */
void link_believe_credit(struct link *link, uint64_t consumed);

/* Tell the peer the consumed count if it does not know it yet. */
void link_flush_credit(struct link *link);

#endif
