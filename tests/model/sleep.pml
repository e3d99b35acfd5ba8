/* sleep.pml: is a sleeping rank always woken? Flag, fence and second look, with store buffers. */

/*
 * One rank sleeps, WRITERS peers send it MESSAGES messages each. As on x86, every rank has a store
 * buffer: its stores reach memory later, in order; a load looks into the own buffer first; a fence
 * waits until the buffer is empty. transport_idle sleeps at most 100 ms; here it sleeps for ever,
 * so a wake-up that was lost shows as a deadlock.
 *
 * Mutations, each of which must be found: NO_FENCE_IN_WAKE, NO_FENCE_IN_ARM, NO_SECOND_LOOK, and
 * two that show on what else it rests: UNORDERED_DOORBELL (write(2) did not order the flag before
 * the byte; the lock of the pipe does) and WRITER_DIES (between them; why sleep is bounded).
 */
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif

#define SLEEPER WRITERS /* its rank */
#define RANKS	(WRITERS + 1)

/* --- memory --------------------------------------------------------------------------------- */

#define SEQUENCE(writer) (writer) /* of the newest line; or the credit word */
#define ASLEEP		 WRITERS  /* arena_header.asleep, in the sleeper's arena */
#define WORDS		 (WRITERS + 1)

#define BUFFERED 3

byte memory[WORDS];
chan buffer[RANKS] = [BUFFERED] of { byte /* word */, byte /* value */ };

byte doorbell; /* bytes in the pipe */

inline store(word, value)
{
	buffer[me]!word,value
}

/* The own newest store to that word, if it is still in the buffer; only asleep is both stored and
 * loaded by one rank, and then always 0. */
inline load(word, result)
{
	d_step {
		if
		:: buffer[me]??[eval(word),0] -> result = 0
		:: else -> result = memory[word]
		fi
	}
}

inline fence()
{
	empty(buffer[me])
}

/* The hardware: the oldest store of a rank reaches memory. */
proctype store_buffer(byte me)
{
	byte word, value;

end:	do
	:: d_step { buffer[me]?word,value -> memory[word] = value; word = 0; value = 0 }
	od
}

/* --- transport ------------------------------------------------------------------------------ */

/* wake in shm/data.c */
inline wake()
{
#ifndef NO_FENCE_IN_WAKE
	fence();
#endif
	load(ASLEEP, asleep);
	if
	:: !asleep
	:: asleep ->
		asleep = 0;
		store(ASLEEP, 0);
#ifdef WRITER_DIES
		if
		:: me == 0 && sequence == MESSAGES -> fence(); goto end_dead
		:: true
		fi;
#endif
#ifndef UNORDERED_DOORBELL
		fence();
#endif
		doorbell++
	fi
}

/* publish and credit in shm/data.c: store, then wake. */
proctype writer(byte me)
{
	byte sequence, asleep;

	do
	:: sequence < MESSAGES ->
		sequence++;
		store(SEQUENCE(me), sequence);
		wake()
	:: else -> break
	od;
end_dead:
	sequence == MESSAGES
}

#define all_consumed (consumed[0] == MESSAGES && (WRITERS < 2 || consumed[WRITERS - 1] == MESSAGES))

/* coll_progress: take what has come from anyone. */
inline look()
{
	moved = false;
	peer = 0;
	do
	:: peer < WRITERS ->
		d_step {
			if
			:: memory[SEQUENCE(peer)] > consumed[peer] ->
				consumed[peer] = memory[SEQUENCE(peer)];
				moved = true
			:: else
			fi;
			peer++
		}
	:: else -> break
	od
}

/* wait.c */
inline arm()
{
	store(ASLEEP, 1);
#ifndef NO_FENCE_IN_ARM
	fence()
#endif
}

inline sleep_until_event()
{
	doorbell > 0; /* poll(2) */
	store(ASLEEP, 0);
	doorbell = 0 /* shm_answer_doorbell */
}

/* wait_request and transport_idle: look, arm, look again, sleep. */
proctype sleeper(byte me)
{
	byte consumed[WRITERS], peer;
	bool moved;

	do
	:: all_consumed -> break
	:: else ->
		look();
		if
		:: moved
		:: !moved && !all_consumed ->
			arm();
#ifndef NO_SECOND_LOOK
			look();
#endif
			if
			:: moved -> store(ASLEEP, 0) /* start_over */
			:: else -> sleep_until_event()
			fi
		fi
	od
}

init
{
	byte r;

	atomic {
		for (r : 0 .. WRITERS - 1) {
			run writer(r)
		}
		run sleeper(SLEEPER);
		for (r : 0 .. WRITERS) {
			run store_buffer(r)
		}
	}
}
