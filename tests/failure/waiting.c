/* waiting.c: a rank that waits leaves the processor alone, and wakes in time. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_S = 2, WAKES = 41, ROUNDS = 3000, CROWD_CALLS = 300 };

/* Rank 1 is late by two seconds. */
static void body_idle(struct failure_rank *f)
{
	double cpu, cpu_after;
	long sleeps;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 1)
		nap_s(LATE_S);
	cpu = seconds_of_cpu();
	sleeps = sleeps_so_far();
	(void)failure_status(f, "barrier", wring_barrier(f->comm), WRING_OK);
	cpu_after = seconds_of_cpu();
	sleeps = sleeps_so_far() - sleeps;
	if (f->rank == 0) {
		(void)failure_expect(f, cpu_after - cpu < 0.05 * LATE_S,
				     "%.1f %% of a CPU while idle",
				     (cpu_after - cpu) * 100 / LATE_S);
		(void)failure_expect(f, sleeps < 20 * LATE_S, "%ld wake-ups in %d s", sleeps,
				     LATE_S);
		(void)failure_expect(f, sleeps > 0, "it did not sleep at all");
	}
	failure_close(f);
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Rank 1 comes 30 ms late, again and again: how long after it does rank 0 return? */
static void body_wake(struct failure_rank *f)
{
	double took[WAKES], kept, limit = failure_over_verbs() ? 0.02 : 0.001;
	int i;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	for (i = 0; i < WAKES && !f->failed; i++) {
		if (f->rank == 1) {
			nap_s(0.03);
			f->board->fault_at = seconds_now();
		}
		kept = seconds_kept_waiting();
		(void)failure_status(f, "barrier", wring_barrier(f->comm), WRING_OK);
		took[i] = seconds_now() - f->board->fault_at - (seconds_kept_waiting() - kept);
		(void)failure_status(f, "barrier", wring_barrier(f->comm), WRING_OK);
	}
	if (f->rank == 0 && !f->failed) {
		qsort(took, WAKES, sizeof(took[0]), compare_doubles);
		(void)failure_expect(f, took[WAKES / 2] < limit,
				     "typically %.3f ms to wake, %.3f at most",
				     took[WAKES / 2] * 1000, took[WAKES - 1] * 1000);
	}
	failure_close(f);
}

static void burn_us(unsigned int us)
{
	double until = seconds_now() + us * 1e-6;

	while (seconds_now() < until)
		;
}

/*
 * Rank 1 answers just when rank 0 goes to sleep, which is 200 us after it began to wait. A wake-up
 * that is lost shows as a sleep of 100 ms.
 */
static void body_no_wake_lost(struct failure_rank *f)
{
	int rounds = failure_over_verbs() ? ROUNDS / 10 : ROUNDS, i, slow = 0;
	double began, kept, took;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	for (i = 0; i < rounds && !f->failed; i++) {
		if (f->rank == 1)
			burn_us(180 + (unsigned int)i % 60);
		began = seconds_now();
		kept = seconds_kept_waiting();
		(void)failure_status(f, "barrier", wring_barrier(f->comm), WRING_OK);
		took = seconds_now() - began;
		if (took > 0.08 && took - (seconds_kept_waiting() - kept) > 0.08)
			slow++;
	}
	f->board->values[f->rank] = slow;
	failure_close(f);
}

/* Where the other rank was kept from the processor, both were slow: only one is a lost wake-up. */
static const char *judge_no_wake_lost(const struct failure_test *test, const struct board *board)
{
	static char text[96];

	(void)snprintf(text, sizeof(text), "%d and %d of %d rounds took 80 ms or more",
		       board->values[0], board->values[1], ROUNDS);
	(void)test;
	return board->values[0] + board->values[1] > ROUNDS / 300 ? text : NULL;
}

/* Eight ranks on one CPU: each call needs all of them to run once. */
static void body_crowd(struct failure_rank *f)
{
	int32_t *buf = calloc(LARGE_COUNT, sizeof(*buf));
	cpu_set_t all, one;
	double cpu;
	size_t cpu_number = 0;
	int i;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) == 0)
		while (cpu_number < CPU_SETSIZE && !CPU_ISSET(cpu_number, &all))
			cpu_number++;
	CPU_SET(cpu_number, &one);
	(void)failure_expect(f, sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
	if (failure_expect(f, buf != NULL, "calloc") && failure_open(f)) {
		failure_healthy(f);
		cpu = seconds_of_cpu();
		for (i = 0; i < CROWD_CALLS && !f->failed; i++)
			(void)failure_status(
				f, "allreduce",
				wring_allreduce(f->comm, buf, buf, 100, WRING_INT32, WRING_SUM),
				WRING_OK);
		cpu = (seconds_of_cpu() - cpu) / CROWD_CALLS;
		(void)failure_expect(f, cpu < 0.001, "%.3f ms of CPU for each call", cpu * 1000);
		for (i = 0; i < 3; i++)
			(void)failure_status(f, "large allreduce",
					     wring_allreduce(f->comm, buf, buf, LARGE_COUNT,
							     WRING_INT32, WRING_SUM),
					     WRING_OK);
		failure_close(f);
	}
	free(buf);
}

void failure_waits(void)
{
	const struct failure_test tests[] = {
		{.name = "sleeping_rank_leaves_the_processor_alone",
		 .ranks = 2,
		 .body = body_idle,
		 .settings = "wait=event"},
		{.name = "sleeping_rank_wakes_within_a_millisecond",
		 .ranks = 2,
		 .body = body_wake,
		 .settings = "wait=event"},
		{.name = "no_wake_up_is_lost",
		 .ranks = 2,
		 .body = body_no_wake_lost,
		 .settings = "wait=event",
		 .judge = judge_no_wake_lost},
		{.name = "eight_ranks_share_one_processor",
		 .ranks = 8,
		 .body = body_crowd,
		 .settings = "wait=auto",
		 .timeout_s = 120},
	};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failure_run(&tests[i]);
}
