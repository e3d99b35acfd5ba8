/* plan.c: from a seed to a plan. */
/* SPDX-License-Identifier: MIT */
#include "tests/chaos/chaos.h"

#include <stdio.h>
#include <string.h>

const char *chaos_fault_name(enum chaos_fault fault)
{
	static const char *const names[CHAOS_FAULTS] = {
		"nothing", "kill", "exit", "stop", "delay", "mismatch", "abort", "leave",
	};

	return names[fault];
}

unsigned int chaos_random(uint64_t *state, unsigned int bound)
{
	uint64_t bits = *state += 0x9e3779b97f4a7c15u;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	bits ^= bits >> 31;
	return (unsigned int)((bits >> 32) * bound >> 32);
}

static size_t choose_count(uint64_t *state)
{
	unsigned int bits = chaos_random(state, 17);
	size_t most = (size_t)1 << bits;

	if (bits == 16)
		most = CHAOS_ELEMENTS;
	return chaos_random(state, (unsigned int)most);
}

static void choose_step(uint64_t *state, struct chaos_step *step, int ranks)
{
	static const enum chaos_collective likely[] = {
		CHAOS_ALLREDUCE, CHAOS_ALLREDUCE, CHAOS_ALLREDUCE,
		CHAOS_BROADCAST, CHAOS_BROADCAST, CHAOS_BARRIER,
	};

	*step = (struct chaos_step){.collective = likely[chaos_random(state, 6)]};
	step->datatype = (enum wring_datatype)chaos_random(state, WRING_FLOAT64 + 1);
	step->op = (enum wring_op)chaos_random(state, WRING_AVG + 1);
	if (step->op == WRING_AVG && step->datatype < WRING_FLOAT16)
		step->op = WRING_SUM;
	step->count = choose_count(state);
	step->root = (int)chaos_random(state, (unsigned int)ranks);
	step->in_place = chaos_random(state, 2);
	step->integers = chaos_random(state, 2);
	/* Often all ranks have wring_alloc memory: that is an algorithm of its own. */
	step->kinds = chaos_random(state, 2) ? 0 : chaos_random(state, 1u << 24);
	if (step->collective == CHAOS_BARRIER)
		*step = (struct chaos_step){.collective = CHAOS_BARRIER};
}

/* The same step, but for one thing that the other ranks must notice. */
static void deviate(uint64_t *state, struct chaos_step *step, int ranks)
{
	unsigned int what = chaos_random(state, 4);

	if (step->collective == CHAOS_BARRIER || what == 0) {
		*step = (struct chaos_step){
			.collective =
				step->collective == CHAOS_BARRIER ? CHAOS_ALLREDUCE : CHAOS_BARRIER,
			.datatype = WRING_INT32,
			.count = choose_count(state),
		};
		if (step->collective == CHAOS_BARRIER)
			step->count = 0;
	} else if (what == 1) {
		step->count += step->count ? (size_t)-1 : 1;
	} else if (what == 2 && step->collective == CHAOS_BROADCAST) {
		step->root = (step->root + 1) % ranks;
	} else if (what == 2) {
		step->op = step->op == WRING_MAX ? WRING_MIN : WRING_MAX;
	} else if (step->datatype < WRING_FLOAT16) {
		step->datatype = step->datatype == WRING_INT32 ? WRING_UINT32 : WRING_INT32;
	} else {
		step->datatype = step->datatype == WRING_FLOAT16 ? WRING_BFLOAT16 : WRING_FLOAT16;
	}
}

static void choose_settings(uint64_t *state, struct chaos_plan *plan, const char *transport)
{
	static const char *const waits[] = {"auto", "auto", "event", "yield"};
	static const char *const segments[] = {"-1", "1024", "8192", "65536"};
	static const char *const slots[] = {"-1", "2", "4", "16"};
	static const char *const eagers[] = {"-1", "0", "256", "65536"};
	bool thread = chaos_random(state, 8) == 0;

	plan->peer_timeout_ms = strcmp(transport, "shm") == 0 ? 300 : 1000;
	(void)snprintf(plan->settings, sizeof(plan->settings),
		       "transport=%s wait=%s segment_bytes=%s slots=%s eager_bytes=%s ring=%s "
		       "progress=%s peer_timeout_ms=%d timeout_ms=15000 stall_ms=100",
		       transport, waits[chaos_random(state, 4)], segments[chaos_random(state, 4)],
		       slots[chaos_random(state, 4)], eagers[chaos_random(state, 4)],
		       chaos_random(state, 2) ? "host" : "rank", thread ? "thread" : "none",
		       plan->peer_timeout_ms);
}

static void choose_fault(uint64_t *state, struct chaos_plan *plan)
{
	static const enum chaos_fault likely[] = {
		FAULT_NONE,  FAULT_KILL,     FAULT_KILL,  FAULT_KILL,  FAULT_EXIT, FAULT_STOP,
		FAULT_DELAY, FAULT_MISMATCH, FAULT_ABORT, FAULT_LEAVE, FAULT_KILL, FAULT_MISMATCH,
	};

	plan->fault = likely[chaos_random(state, sizeof(likely) / sizeof(likely[0]))];
	plan->victim = (int)chaos_random(state, (unsigned int)plan->ranks);
	plan->at_step = (int)chaos_random(state, (unsigned int)plan->steps);
	plan->after_us = chaos_random(state, 4) ? chaos_random(state, 2000) : 0;
	plan->us = 1000 * (1 + chaos_random(state, chaos_random(state, 4) ? 20 : 300));
	plan->deviant = plan->step[plan->at_step];
	deviate(state, &plan->deviant, plan->ranks);
}

void chaos_make_plan(struct chaos_plan *plan, unsigned int seed, int ranks, const char *transport)
{
	uint64_t state = (uint64_t)seed * 0xd1342543de82ef95u + 1;
	int i;

	*plan = (struct chaos_plan){.seed = seed};
	plan->ranks = 2 + (int)chaos_random(&state, CHAOS_RANKS - 1);
	if (ranks)
		plan->ranks = ranks;
	plan->steps = 2 + (int)chaos_random(&state, CHAOS_STEPS - 1);
	plan->in_flight = 1 + (int)chaos_random(&state, CHAOS_IN_FLIGHT);
	choose_settings(&state, plan, transport);
	for (i = 0; i < plan->steps; i++)
		choose_step(&state, &plan->step[i], plan->ranks);
	plan->step[plan->steps - 1] = (struct chaos_step){.collective = CHAOS_BARRIER};
	choose_fault(&state, plan);
}
