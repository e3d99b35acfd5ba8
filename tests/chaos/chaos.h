/* chaos.h: one seed's plan, what each rank does with it, and how it is judged. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CHAOS_CHAOS_H
#define TESTS_CHAOS_CHAOS_H

#include "tests/harness/usage.h"
#include "tests/harness/ranks.h"

/*
 * A seed decides everything but the timing: how many ranks, the settings, a list of steps, and at
 * most one fault. All ranks compute the same plan. The last step is a barrier, so that no rank can
 * end well unless all have come that far.
 */

enum {
	CHAOS_RANKS = 6,
	CHAOS_STEPS = 24,
	CHAOS_ELEMENTS = 60000,
	CHAOS_IN_FLIGHT = 4,
};

enum chaos_collective { CHAOS_ALLREDUCE, CHAOS_BROADCAST, CHAOS_BARRIER };

struct chaos_step {
	enum chaos_collective collective;
	enum wring_datatype datatype;
	enum wring_op op;
	size_t count;
	int root;
	bool in_place, integers;
	unsigned int kinds; /* two bits per rank and buffer: see rank.c */
};

enum chaos_fault {
	FAULT_NONE,
	FAULT_KILL,	/* SIGKILL, at any moment */
	FAULT_EXIT,	/* without wring_comm_destroy, between two calls */
	FAULT_STOP,	/* SIGSTOP, and later SIGCONT */
	FAULT_DELAY,	/* late, between two calls */
	FAULT_MISMATCH, /* another signature in one step */
	FAULT_ABORT,
	FAULT_LEAVE, /* wring_comm_destroy with steps left */
	CHAOS_FAULTS
};

struct chaos_plan {
	unsigned int seed;
	int ranks, steps, in_flight, peer_timeout_ms;
	struct chaos_step step[CHAOS_STEPS];
	char settings[256];
	enum chaos_fault fault;
	int victim, at_step;	   /* the fault is made just before, or soon after, that step */
	unsigned int after_us, us; /* kill, stop: how long after; stop, delay: for how long */
	struct chaos_step deviant;
};

const char *chaos_fault_name(enum chaos_fault fault);

/* ranks 0: let the seed choose. transport: "shm", "verbs" or "auto". */
void chaos_make_plan(struct chaos_plan *plan, unsigned int seed, int ranks, const char *transport);

/* What one rank has come to. */
struct chaos_result {
	bool reported;
	enum wring_status status; /* WRING_OK: all steps are done */
	struct wring_error error;
	double ended_at, kept_waiting;
	int steps_done, wrong_values;
	char complaint[256]; /* "": none */
};

/* Shared by the ranks and their launcher. */
struct chaos_board {
	const struct chaos_plan *plan;
	double fault_at;    /* seconds_now; 0: it never came to it, or the victim is far */
	bool victim_is_far; /* on another machine, with another board */
	struct chaos_result results[RANKS_MAX];
};

/* A body for ranks_run; arg is a struct chaos_board in shared memory. */
int chaos_rank(const struct rank_context *context);

/* NULL, or what is wrong. */
const char *chaos_judge(const struct chaos_plan *plan, const struct chaos_board *board,
			const struct ranks_outcome *outcome);

/* Numbers below a bound, from a state that the seed begins. */
unsigned int chaos_random(uint64_t *state, unsigned int bound);

#endif
