/* request.h: one collective in flight, and the lanes on which it talks to its peers. */
#ifndef REQUEST_H
#define REQUEST_H

#include "coll/chunk.h"
#include "coll/coll.h"

/*
 * Operations do not overtake on a link: each takes a ticket for both directions of every link it
 * uses, in the order started, and sends (or takes messages) only while its ticket is served. It
 * passes the turn on when it has sent (or taken) its last message there. How many that are
 * follows from the call alone, so both ends agree.
 */
struct turn {
	uint64_t joined, serving;
};

struct lane {
	uint64_t tx_ticket, rx_ticket;
	bool used; /* lane_join was called */
};

/* An algorithm is a state machine; both functions do all they can and return. */
struct algorithm {
	const char *name;
	/* Join the links and set up the state; lanes are zero. */
	void (*start)(struct wring_request *request);
	/* Returns true when the operation is complete for the program, which may then change its
	 * buffers. If words are still to be sent or taken, it sets lingers and is called again. */
	bool (*progress)(struct wring_request *request);
};

/* One place in the ring's schedule, see allreduce_ring.c. */
struct ring_cursor {
	size_t block;
	int step;
	size_t segment; /* within block and step */
};

struct ring_state {
	struct ring_cursor tx, rx;
	size_t segment_elems; /* of a full segment */
	size_t block_elems;   /* of a chunk, that go around together */
	size_t blocks;
	bool tx_ended, rx_ended; /* the last segment was sent, taken */
	bool tx_left, rx_left;	 /* the turn was passed on */
	bool ready_sent, ready_taken;
	struct buffers next; /* where next's buffers are */
};

struct oneshot_state {
	int sent, arrived; /* peers done with, in ring order beginning after this rank */
};

struct owner_state {
	int parts_sent, parts_arrived, wholes_sent, wholes_taken; /* as in oneshot_state */
	bool reduced;						  /* the own chunk */
};

/* A peer's buffers, as pointers of this process. */
struct reached {
	const unsigned char *send;
	unsigned char *recv;
};

struct direct_state {
	struct buffers own; /* where this rank's buffers are: alike for all host peers */
	int sent, taken;    /* ready messages, in ring order beginning after this rank */
	int done_sent, done_taken;
	size_t reduced;	 /* elements of the own chunk */
	bool by_pointer; /* every rank's buffers are within reach */
	bool decided;
	bool reachable;		/* so far, all those heard of */
	struct ring_state ring; /* otherwise: of these two, owner where a chunk fits in a slot */
	struct owner_state owner;
};

struct chain_state {
	size_t segments, segment_bytes;
	size_t taken, sent; /* segments */
	bool is_root, is_last;
	bool ready_sent, ready_taken;
	struct buffers next;
};

struct tree_state {
	int root;     /* its position in the ring */
	int place;    /* of this rank, counted from there */
	int children; /* place + 2^i exists for i from 0 to children-1 */
	bool flat;    /* all are the root's children instead */
	int sent;     /* children */
	bool data_taken;
};

struct dissemination_state {
	int round;
	bool sent;
};

struct wring_request {
	struct coll *coll;
	struct wring_request *next; /* in the order started */
	const struct algorithm *algorithm;
	struct call call;
	struct signature signature;
	size_t bytes;
	size_t elem; /* bytes of one element */
	bool done;
	bool lingers;	 /* done, but for a ready that nobody waits for */
	bool released;	 /* the program has no pointer to it any more */
	int waiting_for; /* the peer without whom nothing moves, or -1 */
	union {
		struct ring_state ring;
		struct oneshot_state oneshot;
		struct owner_state owner;
		struct direct_state direct;
		struct chain_state chain;
		struct tree_state tree;
		struct dissemination_state dissemination;
	} state;
	struct lane *lanes;	 /* one per rank */
	struct reached *reached; /* direct: by places after this one */
};

/* See coll_prefer. */
struct wish {
	const struct candidate *candidate;
	bool above;
	uint64_t bytes;
};

struct coll {
	struct transport *transport;
	void *owner;
	struct wring_request *first, *last; /* in flight */
	struct wring_request *spare;	    /* to be used again */
	int lingering;			    /* how many of those in flight are done but linger */
	uint64_t operation;		    /* of the last call started */
	struct signature *calls;	    /* signature.c: the last ones, by operation */
	uint64_t calls_mask;
	uint64_t told_operation; /* link_tell_waiting: the last one ... */
	int told_peer;		 /* ... and to whom */
	struct turn *tx, *rx;	 /* one per rank */
	const void **inputs;	 /* reduce_inputs.c: by ring position */
	unsigned char *scratch;	 /* reduce_inputs.c, in place: a copy of the own input */
	struct buffers *readies; /* direct: by ring position */
	int rank, size, position;
	struct idle look; /* of coll_look */
	struct wish wishes[COLL_WISHES];
	int n_wishes;
};

#define SCRATCH_BYTES 65536 /* the largest eager_bytes */

/* --- places in the ring, as ranks --------------------------------------------------------- */

int next_rank(const struct coll *coll);
int prev_rank(const struct coll *coll);

/* The rank that is i places after this one, i from 1 to size-1. */
int rank_after(const struct coll *coll, int i);

/* --- lanes -------------------------------------------------------------------------------- */

/* Take tickets for the link with that peer, for one direction or (once) for both; in start only.
 * Every ticket must be given back by lane_sent_last or lane_took_last. */
void lane_join_tx(struct wring_request *request, int peer);
void lane_join_rx(struct wring_request *request, int peer);
void lane_join(struct wring_request *request, int peer);

/* The link, if this operation may send a message to that peer now; else NULL (and the peer is
 * what we wait for). */
struct link *lane_may_send(struct wring_request *request, int peer);

/* The head from that peer, if it is there, is this operation's and its signature agrees. */
bool lane_peek(struct wring_request *request, int peer, struct message *message);

/* The same for a message that must be of this kind; another kind fails the transport. */
bool lane_peek_kind(struct wring_request *request, int peer, enum message_kind kind,
		    struct message *message);

void lane_consume(struct wring_request *request, int peer);

/* This operation will send (take) nothing more there. */
void lane_sent_last(struct wring_request *request, int peer);
void lane_took_last(struct wring_request *request, int peer);

/* Every write from the program's memory has completed on that link. */
bool lane_drained(const struct wring_request *request, int peer);

/* Where this operation's buffers are for that peer. */
void lane_describe(const struct wring_request *request, int peer, struct buffers *buffers);

/* Say so; needs lane_may_send. */
void lane_send_buffers(struct wring_request *request, int peer, const struct buffers *buffers);
void lane_send_ready(struct wring_request *request, int peer);

/* --- reduce_inputs.c: one message from each peer, all of the same elements ----------------- */

/* Has the head come from every peer? arrived: how many are known to have, beginning after this
 * rank. They stay where they are. */
bool inputs_arrived(struct wring_request *request, int *arrived, size_t bytes);

/* Note where each position's input is; the own one is copied if the result would overwrite it.
 * False: what had arrived is not to be seen any more, for the transport has failed meanwhile. */
bool inputs_collect(struct wring_request *request, const void *own, size_t bytes);

/* Reduce a slice of owner's chunk into recvbuf, as owner does it; inputs begin at element first. */
void inputs_reduce(struct wring_request *request, int owner, struct slice slice, size_t first);

void inputs_consume(struct wring_request *request);

/* --- slices of the program's buffers ------------------------------------------------------ */

static inline const void *send_at(const struct wring_request *request, size_t element)
{
	return (const unsigned char *)request->call.sendbuf + element * request->elem;
}

static inline void *recv_at(const struct wring_request *request, size_t element)
{
	return (unsigned char *)request->call.recvbuf + element * request->elem;
}

/* A message from peer is not what this operation expects there. */
void request_fail_message(struct wring_request *request, int peer, const char *what);

/* A difference of signatures is MISMATCH and names both ranks and the field. */
bool signature_agrees(struct wring_request *request, int peer, const struct signature *theirs);

/* The slow look at every link: what stands at its head, and in which operation that peer waits for
 * this rank. */
void signature_watch(struct coll *coll);

/* This request has waited for a long time: tell the peer for which it waits. */
void signature_tell(struct wring_request *request);

/* --- algorithms --------------------------------------------------------------------------- */

extern const struct algorithm allreduce_ring, allreduce_oneshot, allreduce_owner, allreduce_direct;
extern const struct algorithm broadcast_chain, broadcast_tree, barrier_dissemination;
extern const struct algorithm collective_alone;

/* Does a chunk fit in every slot? */
bool owner_fits(const struct coll *coll, const struct call *call);

/* These two are also parts of allreduce_direct: links are joined, ready was exchanged. */
bool owner_progress(struct wring_request *request, struct owner_state *state, bool may_take);
void ring_begin(struct wring_request *request, struct ring_state *ring);
bool ring_progress(struct wring_request *request, struct ring_state *ring, bool may_take);

/* The smallest piece into which a pipeline cuts: what one more message costs must not count. */
size_t smallest_segment(const struct coll *coll);

/* select.c: one readable table. */
const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call,
					 size_t bytes);

#endif
