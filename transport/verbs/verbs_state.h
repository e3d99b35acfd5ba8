/* verbs_state.h: what the verbs back end keeps of a port and of a link. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_VERBS_VERBS_STATE_H
#define TRANSPORT_VERBS_VERBS_STATE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport_state.h"
#include "transport/verbs/counters.h"
#include "transport/verbs/gid.h"
#include "transport/verbs/verbs.h"

/*
 * How deep the queues are
 *
 * send      every message that credits allow (slots, times the writes one takes), credit_room
 *           credits, and SEND_RESERVE for what is outside the credits: abort, leave, two probes.
 * receive   every message that credits allow (slots), abort and leave, and one for each credit
 *           that comes as a notice: between two looks at the completion queue the peer can
 *           consume the slots messages that were under way, and slots more that were sent since;
 *           more cannot be sent, because send slots are reused only after their completions were
 *           seen. All receives that a look has found used are posted again at its end, hence
 *           before any credit for these messages is sent back.
 * completion  the sum over all links: when a queue pair breaks, every work request completes.
 */
#define SEND_RESERVE 4u

/* One opened port. Owns everything but transport. */
struct verbs {
	struct back_end base;
	struct transport *transport;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *arena;
	struct ibv_device_attr limits;
	struct ibv_port_attr attr;
	char device[64];
	int port;
	bool software; /* rxe or siw */
	struct verbs_gid gid;
	unsigned writes_per_message; /* 1, or more where max_msg_sz is small */
	uint32_t credit_room;	     /* credits that fit into a send queue beside the messages */
	union ibv_gid *confirmed;    /* remote GIDs that ibv_create_ah has accepted */
	int n_confirmed, room_confirmed;
	struct verbs_link *to_repost;	/* links that have used receives */
	struct wring_error error;	/* found while completions were handled, told afterwards */
	struct verbs_counters counters; /* of the port, when it was opened */
};

/* One queue pair. Owns qp, mr, memory, sent_at and kinds. */
struct verbs_link {
	struct verbs *verbs;
	struct link *link;
	struct ibv_qp *qp;
	struct ibv_mr *mr;     /* of memory */
	unsigned char *memory; /* send slots as in an area, behind them the sources of credits */
	size_t memory_len;
	uint32_t psn;
	struct verbs_offer remote;
	uint32_t mtu; /* enum ibv_mtu, of both ends the smaller */

	/* send queue; the counters count work requests */
	uint32_t depth;
	uint32_t signal_every;
	uint32_t max_inline;
	bool two_sources; /* a write may gather header and payload */
	uint64_t posted;
	uint64_t signaled; /* the last one that was signaled */
	uint64_t completed;
	uint64_t borrowed; /* the last one whose source is the program's memory */
	uint64_t *sent_at; /* by work request: messages whose last write it or an earlier one is */
	uint64_t *credits; /* by work request: where a credit that is not inline is read from */
	uint32_t index_mask; /* of the two */
	bool credit_due;     /* a credit that had no room */
	bool dead;	     /* the queue pair is in ERROR: nothing is outstanding */
	bool ended;	     /* it was moved there on purpose */
	bool stranded;	     /* flushed, and no cause was seen yet */

	/* receive queue */
	uint32_t receives;
	uint32_t used; /* receives to repost */
	struct verbs_link *next_to_repost;
	uint8_t *kinds; /* by message: NOTICE_MESSAGE or NOTICE_DIRECT */
	bool record_arrived[RESERVES];
};

/*
 * What an immediate says: 4 bits kind, 14 bits of the message's number, 14 bits of the consumed
 * count. So whatever is sent returns credits too, and where messages go both ways a credit hardly
 * ever needs a write of its own.
 */
enum notice {
	NOTICE_MESSAGE = 1, /* that message is in its slot */
	NOTICE_DIRECT = 2,  /* that message is in the program's buffer */
	NOTICE_CREDIT = 3,  /* only the consumed count; it is in the credit word as well */
	NOTICE_ABORT = 4,
	NOTICE_LEAVE = 5
};

enum { NOTICE_KIND_SHIFT = 28 };
enum { NOTICE_NUMBER_SHIFT = 14 };
#define NOTICE_MASK 0x3fffu /* wider than all that can be under way, see receive depth */

static inline uint32_t notice_pack(enum notice kind, uint64_t number, uint64_t consumed)
{
	return (uint32_t)kind << NOTICE_KIND_SHIFT |
	       ((uint32_t)number & NOTICE_MASK) << NOTICE_NUMBER_SHIFT |
	       ((uint32_t)consumed & NOTICE_MASK);
}

static inline uint32_t notice_number(uint32_t notice)
{
	return notice >> NOTICE_NUMBER_SHIFT & NOTICE_MASK;
}

/* A work request's id: whose it is, which queue, and how many of that send queue it completes. */
#define ID_RECEIVE ((uint64_t)1 << 63)

static inline uint64_t verbs_send_id(int peer, uint64_t number)
{
	return (uint64_t)(uint32_t)peer << 32 | (uint32_t)number;
}

static inline uint64_t verbs_receive_id(int peer)
{
	return ID_RECEIVE | (uint64_t)(uint32_t)peer << 32;
}

static inline int verbs_id_peer(uint64_t id)
{
	return (int)(id >> 32 & 0x7fffffff);
}

/* The verbs side of a link; NULL if it is not (or no longer) a verbs link. */
static inline struct verbs_link *verbs_link_of(const struct link *link)
{
	return link->kind == WRING_TRANSPORT_VERBS ? link->back_end : NULL;
}

/* enum ibv_mtu counts 256, 512, ... from 1. */
static inline int verbs_mtu_bytes(uint32_t mtu)
{
	return 128 << mtu;
}

/* --- ops.c ---------------------------------------------------------------------------------- */

extern const struct link_ops verbs_link_ops;

/* --- device.c ----------------------------------------------------------------------------- */

/* Open the device of that name. NO_DEVICE (with those there are), TRANSPORT. */
enum wring_status verbs_device_open(const char *name, struct ibv_context **context,
				    struct wring_error *error);

/* Look at a port of verbs->context: fill device, port, limits, attr, gid. NO_DEVICE, INVALID (a GID
 * index that is empty), TRANSPORT. */
enum wring_status verbs_port_look(struct verbs *verbs, int port, int gid_index,
				  struct wring_error *error);

/* --- queues.c: depths and limits ---------------------------------------------------------- */

uint32_t verbs_send_depth(const struct verbs *verbs, uint32_t slots, uint32_t credits);
uint32_t verbs_receive_depth(uint32_t slots);

/* Make completion channel and queue for queue_pairs links; chooses verbs->credit_room. */
enum wring_status verbs_make_cq(struct verbs *verbs, uint32_t queue_pairs, uint32_t slots,
				struct wring_error *error);

/* Make the queue pair of a link; chooses depth, max_inline, two_sources. */
enum wring_status verbs_make_qp(struct verbs_link *vl, struct wring_error *error);

/* --- port.c: set-up ------------------------------------------------------------------------- */

/* See verbs_open; the table is the caller's to set. */
enum wring_status verbs_open_port(struct verbs **verbs, struct transport *transport,
				  const char *device, int port, int queue_pairs, int slots,
				  struct wring_error *error);
void verbs_close_port(struct verbs *verbs); /* after all links are freed; NULL is fine */
void verbs_get_address(const struct verbs *verbs, struct verbs_address *address);
void verbs_describe_port(const struct verbs *verbs, struct wring_peer_info *info);

/* Register the arena for remote write. */
enum wring_status verbs_use_arena(struct verbs *verbs, void *base, size_t len,
				  struct wring_error *error);
enum wring_status verbs_register(struct verbs *verbs, struct region *region,
				 struct wring_error *error);
void verbs_deregister(struct region *region);

/* --- connect.c: one queue pair's life ------------------------------------------------------- */

/* Make the QP of a link (RESET -> INIT) and its send slots; link->rx, rx_area and peer are set,
 * link->tx geometry too. Sets back_end, kind and tx_area; the caller sets ops. */
enum wring_status verbs_link_open(struct verbs *verbs, struct link *link,
				  struct wring_error *error);
void verbs_link_make_offer(const struct link *link, struct transport_offer *offer);

/* Can this remote port be addressed at all? (ibv_create_ah once per distinct GID.) Then post all
 * receives, INIT -> RTR -> RTS. */
enum wring_status verbs_link_connect(struct link *link, const struct transport_offer *offer,
				     struct wring_error *error);

/* Nothing more may arrive or leave: the queue pair goes to ERROR. */
void verbs_link_to_error(struct link *link);
void verbs_link_free(struct link *link); /* QP -> ERROR, destroy; accepts a half-made link */
void verbs_link_describe(const struct link *link, struct wring_peer_info *info);

/* --- send.c: see link_ops ------------------------------------------------------------------- */

void verbs_post(struct link *link, struct slot_header *header, size_t len);
void verbs_post_from(struct link *link, struct slot_header *header, const void *src, size_t len);
void verbs_write(struct link *link, struct slot_header *header, const struct remote *remote,
		 uint64_t offset, const void *src, size_t len);
void verbs_return_credit(struct link *link);
bool verbs_tell_waiting(struct link *link, const uint64_t words[WAITING_WORDS]);
void verbs_send_record(struct link *link, enum reserve which, const struct reserve_record *record);
bool verbs_drained(struct link *link);
bool verbs_flushed(struct link *link);

/* Work requests of this send queue up to the one with that (32 bits of a) number are complete. */
void verbs_sent(struct verbs_link *vl, uint32_t number);

/* Return a credit for which there was no room before. */
void verbs_retry_credit(struct verbs_link *vl);

/* Write the credit word once more, signaled. */
void verbs_probe(struct verbs_link *vl);

/* Nothing of this queue pair is outstanding any more, and nothing will be posted. */
static inline void verbs_mark_dead(struct verbs_link *vl)
{
	vl->dead = true;
	vl->completed = vl->posted;
	vl->signaled = vl->posted;
}

/* --- receive_queue.c ------------------------------------------------------------------------ */

/* Post n receives; 0 or an errno value. */
int verbs_post_receives(struct verbs_link *vl, uint32_t n);

/* A receive of this link was used: verbs_repost_receives is to post it again. */
void verbs_receive_used(struct verbs_link *vl);
void verbs_repost_receives(struct verbs *verbs);
void verbs_forget_receives(struct verbs_link *vl);

/* --- completions.c -------------------------------------------------------------------------- */

/* Drain the CQ in batches. Failures go to transport_fail. */
void verbs_poll(struct verbs *verbs);
bool verbs_peek(struct link *link, struct message *message);
const struct reserve_record *verbs_find_record(struct link *link, enum reserve which);

/* --- events.c ------------------------------------------------------------------------------- */

/* For sleeping: the two descriptors to poll(2), arming, and what to do on waking. */
int verbs_fds(const struct verbs *verbs, struct pollfd *fds);
void verbs_arm(struct verbs *verbs);
void verbs_acknowledge(struct verbs *verbs);

/* The slow look: async events; when nothing is outstanding on a link, write its credit word once
 * more, signaled, so that a vanished QP shows. */
void verbs_watch(struct verbs *verbs);

/*
 * --- error.c: errors begin with device, port and peer ---------------------------------------
 *
 * A call that fails during set-up fills the caller's struct wring_error. On the data path nobody
 * can take an error back, so it goes another way: verbs_note keeps the first cause while
 * completions and events are handled, and verbs_tell hands it to transport_fail when all of them
 * have been, so that one completion cannot hide another that came before it.
 */

/* "loss on this path: ...": how the port's counts of lost and repeated packets have grown since
 * verbs_open; "" if they have not. Reads files. */
void verbs_loss(const struct verbs *verbs, char *text, size_t len);

/* A call has failed with an errno value; next is what to try. Returns TRANSPORT. */
enum wring_status verbs_call_failed(const struct verbs *verbs, int peer, const char *call,
				    int native, const char *next, struct wring_error *error);

/* A call that pins bytes of memory has failed: NOMEM and RLIMIT_MEMLOCK, or TRANSPORT. */
enum wring_status verbs_pin_failed(const struct verbs *verbs, const char *call, int native,
				   size_t bytes, struct wring_error *error);

/* Keep the first failure seen while completions or events are handled; its rank is the peer, or
 * this rank (peer -1) where device or port are at fault... */
__attribute__((format(printf, 4, 5))) void verbs_note(struct verbs *verbs, int peer, int native,
						      const char *format, ...);
void verbs_note_completion(struct verbs_link *vl, const struct ibv_wc *wc);
/* ... and tell the transport, when all of them have been handled. */
void verbs_tell(struct verbs *verbs);

#endif
