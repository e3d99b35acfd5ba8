/* collective.pml: ranks that run two collectives over links of slots and credits; one may crash. */

/*
 * Parameters, given as -D to spin; run.sh holds the sets that are verified.
 *
 *   RANKS     2 to 4
 *   SLOTS     of each direction of each link
 *   SEGMENTS  of a chunk (ring) or of the message (chain)
 *   FIRST     the collective that every rank calls first, and then
 *   SECOND    another one, or NOTHING
 *   CRASH     this rank may crash at any moment
 *   LENT      also after a crash, buffers are used only as long as they are lent
 *   ODD       rank 0 makes its two calls in the other order
 *
 * Mutations, each of which must be found: NO_CREDIT_CHECK, TAKE_NEEDS_CREDIT, NO_TICKETS,
 * NO_READY_WAIT, NO_LOOK, NO_ABORT, NO_WATCH, NO_TELL, and NO_FLUSH with a COALESCE above SLOTS.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef SEGMENTS
#define SEGMENTS 1
#endif
#ifndef FIRST
#define FIRST ALLREDUCE_RING
#endif
#ifndef SECOND
#define SECOND ALLREDUCE_RING
#endif

/* Credits go back when so many messages were consumed since the last time; see link_consume. */
#ifndef COALESCE
#define COALESCE (SLOTS / 2)
#endif

#define NOTHING		      0
#define ALLREDUCE_RING	      1
#define ALLREDUCE_DIRECT      2
#define BROADCAST_CHAIN	      3 /* root 0 */
#define BROADCAST_CHAIN_1     4 /* root 1 */
#define BARRIER_DISSEMINATION 5
#define BROADCAST_TREE	      6 /* root 0 */
#define BROADCAST_TREE_1      7 /* root 1 */

/* enum message_kind; EMPTY: what stood in the slot was consumed. */
#define EMPTY	       0
#define MESSAGE_DATA   1
#define MESSAGE_READY  2
#define MESSAGE_DIRECT 3
#define MESSAGE_DONE   4

/* --- transport: links ----------------------------------------------------------------------- */

typedef slot {
	byte operation; /* with the sender's call: the signature */
	byte kind;
	byte segment;
};

typedef turn {
	byte joined, serving;
};

/* One direction between two ranks; the code keeps each half at the end that is named. */
typedef link {
	byte sent;	  /* sender */
	byte credit_word; /* sender's memory, the receiver writes it */
	byte consumed;	  /* receiver */
	byte credited;	  /* receiver */
	slot slots[SLOTS];
	turn tx; /* sender's struct coll */
	turn rx; /* receiver's struct coll */
	byte abort; /* reserve slot: 1 + culprit */
	bool leave; /* reserve slot */
	bool left;  /* the receiver has seen leave */
	byte waiting; /* link_tell_waiting: the operation in which the sender waits */
};

link links[RANKS * RANKS];

#define from_to(a, b) links[(a) * RANKS + (b)]

/* --- what the ranks know -------------------------------------------------------------------- */

byte operation[RANKS];	   /* coll->operation: calls started */
bool blocking[RANKS];	   /* waits for its first call before it makes the second */
bool done[RANKS * 3];	   /* request->done, by rank and operation (1, 2) */
bool lingers[RANKS * 3];   /* request->lingers */
byte error[RANKS];	   /* transport->error: 1 + culprit; 0: WRING_OK */
bool crashed[RANKS];
bool gone[RANKS];	   /* the calls have returned, and the process has ended or may */

#define done_at(r, k) done[(r) * 3 + (k)]
#define lingers_at(r, k) lingers[(r) * 3 + (k)]
#define all_done(r)   (done_at(r, 1) && (SECOND == NOTHING || done_at(r, 2)))
#define alive(r)      (!crashed[r] && error[r] == 0)

/* The program is in a call of wring_wait, so that transport_idle runs now and then. */
#define waits(r)                                                                                   \
	(alive(r) && ((operation[r] >= 1 && !done_at(r, 1)) ||                                     \
		      (operation[r] >= 2 && !done_at(r, 2))))

/* Coll_progress and coll_start come to a request that is done only while the program calls them. */
#define may_linger (!done_at(me, k) || waits(me))

/* Its buffers of call k may be read and written by others. Without a crash nobody may do so at
 * another time; after one the first to end takes its buffers back before the last has heard. */
#if !defined(CRASH) && !defined(LENT)
#define LENT
#endif
#define lends_buffers(r, k) (operation[r] >= (k) && !done_at(r, k) && !gone[r])

#ifdef ODD
#define call(r, k) (((k) == 1) == ((r) != 0) -> FIRST : SECOND)
#else
#define call(r, k) ((k) == 1 -> FIRST : SECOND)
#endif

/* --- link.c --------------------------------------------------------------------------------- */

#ifdef NO_CREDIT_CHECK
#define link_credits(a, b) 1
#else
#define link_credits(a, b) (SLOTS - (from_to(a, b).sent - from_to(a, b).credit_word))
#endif

#define head(a, b)	from_to(a, b).slots[from_to(a, b).consumed % SLOTS]
#define link_peek(a, b) (head(a, b).kind != EMPTY)

/* link_post, link_send, link_write: me -> peer. */
inline link_post(peer, message_kind, number)
{
	/* no slot is overwritten before it was consumed */
	assert(from_to(me, peer).slots[from_to(me, peer).sent % SLOTS].kind == EMPTY);
	from_to(me, peer).slots[from_to(me, peer).sent % SLOTS].operation = k;
	from_to(me, peer).slots[from_to(me, peer).sent % SLOTS].kind = message_kind;
	from_to(me, peer).slots[from_to(me, peer).sent % SLOTS].segment = number;
	from_to(me, peer).sent++
}

inline link_flush_credit(peer)
{
	from_to(peer, me).credited = from_to(peer, me).consumed;
	/* read_credit_word: only a count that is possible is believed */
	assert(from_to(peer, me).credit_word <= from_to(peer, me).consumed);
	assert(from_to(peer, me).consumed <= from_to(peer, me).sent);
	from_to(peer, me).credit_word = from_to(peer, me).consumed
}

inline link_consume(peer)
{
	head(peer, me).operation = 0;
	head(peer, me).segment = 0;
	head(peer, me).kind = EMPTY;
	from_to(peer, me).consumed++;
	if
	:: from_to(peer, me).consumed - from_to(peer, me).credited >= COALESCE ->
		link_flush_credit(peer)
	:: else
	fi
}

/* --- turn.c --------------------------------------------------------------------------------- */

inline lane_join_tx(peer)
{
	tx_ticket[peer] = from_to(me, peer).tx.joined;
	from_to(me, peer).tx.joined++
}

inline lane_join_rx(peer)
{
	rx_ticket[peer] = from_to(peer, me).rx.joined;
	from_to(peer, me).rx.joined++
}

inline lane_join(peer)
{
	lane_join_tx(peer);
	lane_join_rx(peer)
}

#ifdef NO_TICKETS
#define tx_served(peer) true
#define rx_served(peer) true
#else
#define tx_served(peer) (from_to(me, peer).tx.serving == tx_ticket[peer])
#define rx_served(peer) (from_to(peer, me).rx.serving == rx_ticket[peer])
#endif

#define lane_may_send(peer) (alive(me) && tx_served(peer) && link_credits(me, peer) > 0)
#define lane_peek(peer)	    (alive(me) && rx_served(peer) && link_peek(peer, me))

inline lane_sent_last(peer)
{
	from_to(me, peer).tx.serving++
}

inline lane_took_last(peer)
{
	from_to(peer, me).rx.serving++
}

/* lane_peek_kind and lane_consume: signature_agrees, the kind and the place in the schedule. */
inline lane_take(peer, kind_agrees, number)
{
#ifdef ODD
	if
	:: head(peer, me).operation != k || call(peer, k) != call(me, k) -> error[me] = 1 + peer
	:: else ->
		assert(kind_agrees);
		link_consume(peer)
	fi
#else
	assert(head(peer, me).operation == k);
	assert(kind_agrees);
	assert(head(peer, me).segment == number);
	link_consume(peer)
#endif
}

/* --- queue.c -------------------------------------------------------------------------------- */

/* coll_start: calls are started in order, by a blocking program one after the other. */
#define may_start                                                                                  \
	(alive(me) && operation[me] == k - 1 && (k == 1 || !blocking[me] || done_at(me, 1)))

inline finish()
{
	done_at(me, k) = true
}

/* miss_leaver: this call waits for that peer, which has left; what it sent was taken. */
#define misses(peer) (waits(me) && from_to(peer, me).left && !link_peek(peer, me))

inline miss_leaver(peer)
{
	error[me] = 1 + peer
}

#define next_rank ((me + 1) % RANKS)
#define prev_rank ((me + RANKS - 1) % RANKS)

#include "algorithms.pml"

/* --- processes ------------------------------------------------------------------------------ */

/* One call: coll_start, then its algorithm's progress as often as coll_progress is called. When
 * all is done, or after a failure, no guard is true any more. */
proctype request(byte me; byte k)
{
	byte tx_ticket[RANKS], rx_ticket[RANKS]; /* its lanes */
	byte sent, taken, done_sent, done_taken;
	bool ready_sent, ready_taken, tx_left, rx_left, reduced;

	if
	:: call(me, k) == ALLREDUCE_RING -> allreduce_ring()
	:: call(me, k) == ALLREDUCE_DIRECT -> allreduce_direct()
	:: call(me, k) == BROADCAST_CHAIN -> broadcast_chain(0)
	:: call(me, k) == BROADCAST_CHAIN_1 -> broadcast_chain(1)
	:: call(me, k) == BARRIER_DISSEMINATION -> barrier_dissemination()
	:: call(me, k) == BROADCAST_TREE -> broadcast_tree(0)
	:: call(me, k) == BROADCAST_TREE_1 -> broadcast_tree(1)
	fi
}

/* watch_link: an operation that has ended here, or the same one with another content. */
#define has_ended(r, k)	    (done_at(r, k) && !lingers_at(r, k))
#define oldest_operation(r) (!has_ended(r, 1) -> 1 : (!has_ended(r, 2) -> 2 : 3))
#define head_differs(peer)                                                                         \
	(link_peek(peer, me) &&                                                                    \
	 (head(peer, me).operation < oldest_operation(me) ||                                       \
	  (head(peer, me).operation <= operation[me] &&                                            \
	   call(peer, head(peer, me).operation) != call(me, head(peer, me).operation))))

/* watch_waiting. */
#define waits_elsewhere(peer)                                                                      \
	(from_to(peer, me).waiting != 0 && from_to(peer, me).waiting <= operation[me] &&           \
	 call(peer, from_to(peer, me).waiting) != call(me, from_to(peer, me).waiting))

/* What transport_idle does about one peer while a call waits: flush_credits, transport_hear_aborts,
 * hear_leave, look_at_process; and signature_watch. miss_leaver is in each algorithm. */
proctype idle(byte me; byte peer)
{
	do
#ifndef NO_FLUSH
	:: d_step { waits(me) && from_to(peer, me).credited != from_to(peer, me).consumed ->
		link_flush_credit(peer) }
#endif
	:: d_step { waits(me) && from_to(peer, me).abort != 0 ->
		error[me] = from_to(peer, me).abort }
	:: d_step { waits(me) && from_to(peer, me).leave && !from_to(peer, me).left ->
		from_to(peer, me).left = true }
#ifndef NO_LOOK
	/* listen_to_peers comes before look_after_peers: what it said is heard first */
	:: d_step { waits(me) && (crashed[peer] || gone[peer]) && !from_to(peer, me).left &&
		    !from_to(peer, me).leave && from_to(peer, me).abort == 0 ->
		error[me] = 1 + peer }
#endif
#if defined(ODD) && !defined(NO_WATCH)
	:: d_step { waits(me) && (head_differs(peer) || waits_elsewhere(peer)) ->
		error[me] = 1 + peer }
#endif
	od
}

/* The end of a program: transport_settle after a failure, else transport_leave; one record at a
 * time. */
proctype end_of_rank(byte me)
{
	byte i = 1;

	do
	:: d_step { i < RANKS && !crashed[me] && error[me] != 0 ->
#ifndef NO_ABORT
		from_to(me, peer_after(i)).abort = error[me];
#endif
		i++;
		gone[me] = (i == RANKS) }
	:: d_step { i < RANKS && alive(me) && all_done(me) ->
		from_to(me, peer_after(i)).leave = true;
		i++;
		gone[me] = (i == RANKS) }
	od
}

#ifdef CRASH
/* SIGKILL between any two steps. */
proctype crash()
{
	d_step { !gone[CRASH] -> crashed[CRASH] = true }
}
#endif

/* Nobody can do anything more: so every call of every survivor must have ended. All counters only
 * grow, hence no run is infinite, and this moment always comes. */
proctype judge()
{
	byte r;

	timeout;
	for (r : 0 .. RANKS - 1) {
		assert(crashed[r] || gone[r]); /* every operation ends at every survivor */
#ifdef CRASH
		assert(crashed[r] || error[r] == 0 || error[r] == 1 + CRASH)
#else
#ifdef ODD
		assert(error[r] != 0)
#else
		assert(error[r] == 0 && all_done(r))
#endif
#endif
	}
}

init
{
	byte r, p;

	atomic {
		for (r : 0 .. RANKS - 1) {
			if
			:: blocking[r] = true
			:: blocking[r] = false
			fi;
			run request(r, 1);
			if
			:: SECOND != NOTHING -> run request(r, 2)
			:: else
			fi;
			run end_of_rank(r);
			for (p : 0 .. RANKS - 1) {
				if
				:: p != r -> run idle(r, p)
				:: else
				fi
			}
		}
#ifdef CRASH
		run crash();
#endif
		run judge()
	}
}
