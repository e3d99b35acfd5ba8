/* receive.pml: a queue pair's receives, completions and credit notices, whatever is sent on it. */

/*
 * Two ranks; each sends whenever it may and consumes whenever it can, for ever. Counters are kept
 * as differences, so that the search covers runs of any length.
 *
 *   SLOTS     of each direction
 *   COALESCE  messages after which a credit goes back at the latest (link_consume)
 *   DEPTH     of the receive queue (verbs_receive_depth)
 *
 * Mutations, each of which must be found: a DEPTH that is one too small, LATE_RECEIVES (they are
 * posted again only at the next look, after the credit), NO_REUSE_CHECK (link_credits does not ask
 * for the completions of what was sent), NO_CREDIT_CHECK.
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef COALESCE
#define COALESCE (SLOTS / 2)
#endif

#ifndef RESERVES
#define RESERVES 2 /* abort and leave, whenever they like */
#endif

#ifndef DEPTH
#define DEPTH (3 * SLOTS + RESERVES)
#endif

/* enum notice */
#define NOTICE_MESSAGE 0
#define NOTICE_CREDIT  1
#define NOTICE_RESERVE 2

/* What a rank knows of its queue pair and its link, and what the HCA has put there. */
typedef end {
	/* outgoing */
	byte used;     /* sent - credits_seen */
	byte returned; /* credit word - credits_seen: it stands in memory and can be read */
	byte building; /* sent - reusable */
	byte acked;    /* of these: have completed, which was not yet seen */
	byte reserves; /* already sent */
	/* incoming */
	byte receives; /* posted */
	byte landed;   /* completions of receives that were not yet seen; messages among them: */
	byte messages;
	byte owed;    /* receives to post again */
	byte present; /* arrived - consumed */
	byte uncounted; /* consumed - credited */
	bool polling; /* in verbs_poll */
};

end ends[2];

/* Writes with immediate that a rank has posted, oldest first: they land in this order. */
#define WIRE (4 * SLOTS + RESERVES)
chan wire[2] = [WIRE] of { byte /* notice */, byte /* by how much the credit word grows */ };

#define mine   ends[me]
#define theirs ends[1 - me]

#ifdef NO_CREDIT_CHECK
#define link_credits (len(wire[me]) <= SLOTS) /* or the wire would be too short */
#else
#ifdef NO_REUSE_CHECK
#define link_credits (mine.used < SLOTS)
#else
#define link_credits (mine.used < SLOTS && mine.building < SLOTS)
#endif
#endif

inline post_write(notice, credit)
{
	assert(len(wire[me]) < WIRE); /* the model's, not the code's: nothing is held back here */
	wire[me]!notice,credit
}

inline link_flush_credit()
{
	post_write(NOTICE_CREDIT, mine.uncounted);
	mine.uncounted = 0
}

/* The HCA of the other rank: the oldest write lands, and is acknowledged. */
inline land()
{
	wire[me]?notice,grown;
	assert(theirs.receives > 0); /* the receive queue is never empty when a write lands */
	theirs.receives--;
	theirs.landed++;
	if
	:: notice == NOTICE_MESSAGE ->
		/* no slot is overwritten before it was consumed */
		assert(theirs.messages + theirs.present < SLOTS);
		theirs.messages++;
		mine.acked++
	:: notice == NOTICE_CREDIT -> theirs.returned = theirs.returned + grown
	:: else
	fi;
	notice = 0;
	grown = 0
}

/* received and message_arrived, for all that has landed. */
inline look()
{
	mine.polling = true;
#ifdef LATE_RECEIVES
	mine.receives = mine.receives + mine.owed;
	mine.owed = 0;
#endif
	mine.owed = mine.owed + mine.landed;
	mine.present = mine.present + mine.messages;
	mine.landed = 0;
	mine.messages = 0
}

proctype rank(byte me)
{
	byte notice, grown;

	do
	/* read_credit_word: at any time, also when nobody has looked at the notice */
	:: d_step { !mine.polling && mine.returned > 0 ->
		assert(mine.returned <= mine.used);
		mine.used = mine.used - mine.returned;
		mine.returned = 0 }
	/* link_post */
	:: d_step { !mine.polling && link_credits ->
		mine.used++;
		mine.building++;
		post_write(NOTICE_MESSAGE, 0) }
	/* reserve in verbs/send.c */
	:: d_step { !mine.polling && mine.reserves < RESERVES ->
		mine.reserves++;
		post_write(NOTICE_RESERVE, 0) }
	/* link_consume */
	:: d_step { !mine.polling && mine.present > 0 ->
		mine.present--;
		mine.uncounted++;
		if
		:: mine.uncounted >= COALESCE -> link_flush_credit()
		:: else
		fi }
	/* flush_credits */
	:: d_step { !mine.polling && mine.uncounted > 0 -> link_flush_credit() }
	/* verbs_poll: all completions that are there; those of sends may come later: not every write
	 * is signalled */
	:: d_step { !mine.polling && mine.landed > 0 -> look() }
	:: d_step { !mine.polling && mine.acked > 0 ->
		look();
		mine.building = mine.building - mine.acked;
		mine.acked = 0 }
	/* repay_receives */
	:: d_step { mine.polling ->
#ifndef LATE_RECEIVES
		mine.receives = mine.receives + mine.owed;
		mine.owed = 0;
#endif
		mine.polling = false }
	:: d_step { nempty(wire[me]) -> land() }
	od
}

init
{
	atomic {
		ends[0].receives = DEPTH;
		ends[1].receives = DEPTH;
		run rank(0);
		run rank(1)
	}
}
