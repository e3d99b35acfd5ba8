/* death.c: a rank is killed, at any moment: all others are told, in time, by its name. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEER_TIMEOUT_MS = 500, VICTIM_STARTS = 3 };

enum moment {
	BEFORE_ANY,    /* it has made no call */
	WHILE_WAITING, /* the others are in the call, it is late */
	IN_THE_CALL,   /* it has started the call */
	BETWEEN,       /* all are busy with something else */
	AT_RANDOM,     /* a moment after it entered a series of calls */
};

struct death {
	enum moment moment;
	enum failure_call call;
	enum failure_wait how;
	int victim;	 /* its bit is in .killed, unless it exits */
	bool exits;	 /* without wring_comm_destroy */
	bool with_child; /* a process forked by the victim outlives it */
};

static const struct death *death_of(const struct failure_rank *f)
{
	return f->test->row;
}

static void die(struct failure_rank *f)
{
	const struct death *death = death_of(f);

	if (death->with_child && fork() == 0) {
		nap_s(3);
		_exit(0);
	}
	f->board->fault_at = seconds_now();
	if (death->exits)
		_exit(0);
	(void)raise(SIGKILL);
}

static void *die_soon(void *arg)
{
	struct failure_rank *f = arg;

	nap_us((unsigned int)(getpid() % 20) * 200);
	die(f);
	return NULL;
}

static void be_the_victim(struct failure_rank *f, int32_t *buf)
{
	const struct death *death = death_of(f);
	struct wring_request *request;
	pthread_t thread;

	if (death->moment == BEFORE_ANY || death->moment == BETWEEN)
		die(f);
	if (death->moment == WHILE_WAITING) {
		nap_s(0.3);
		die(f);
	}
	if (death->moment == IN_THE_CALL) {
		if (failure_start(f, death->call, buf, &request) == WRING_OK)
			die(f);
		return;
	}
	if (pthread_create(&thread, NULL, die_soon, f))
		return;
	for (;;)
		if (failure_start(f, death->call, buf, &request) || wring_wait(&request))
			nap_s(1);
}

/* Make the call until it fails; one may still succeed that had all it needed. */
static enum wring_status call_until_failure(struct failure_rank *f, int32_t *buf)
{
	const struct death *death = death_of(f);
	enum wring_status status = WRING_OK;
	struct wring_request *request;

	while (status == WRING_OK) {
		status = failure_start(f, death->call, buf, &request);
		if (status == WRING_OK)
			status = failure_wait(&request, death->how);
	}
	return status;
}

static void survive(struct failure_rank *f, int32_t *buf)
{
	const struct death *death = death_of(f);
	double began = seconds_now(), took, kept = seconds_kept_waiting();
	struct wring_error error;
	enum wring_status status;

	if (death->moment == BETWEEN) {
		nap_s(0.2 * f->rank);
		began = seconds_now();
	}
	status = call_until_failure(f, buf);
	if (f->board->fault_at > began)
		began = f->board->fault_at;
	took = seconds_now() - began;
	kept = seconds_kept_waiting() - kept;
	if (!failure_status(f, failure_call_name(death->call), status, WRING_ERR_PEER))
		return;
	error = failure_error(f, WRING_ERR_PEER);
	(void)failure_expect(f,
			     error.rank == death->victim && text_names_rank(error.text, error.rank),
			     "rank %d is named, not %d: %s", error.rank, death->victim, error.text);
	(void)failure_expect(f, took - kept < PEER_TIMEOUT_MS * 1e-3 + 1, "it took %.3f s", took);
	f->board->values[f->rank] = (int)(took * 1000);
}

static void body(struct failure_rank *f)
{
	int32_t *buf = NULL;

	if (!failure_open(f))
		return;
	if (failure_status(f, "alloc",
			   wring_alloc(f->comm, LARGE_COUNT * sizeof(*buf), (void **)&buf),
			   WRING_OK)) {
		memset(buf, 0, LARGE_COUNT * sizeof(*buf));
		if (death_of(f)->moment != BEFORE_ANY)
			failure_healthy(f);
		if (f->rank == death_of(f)->victim)
			be_the_victim(f, buf);
		else
			survive(f, buf);
		wring_free(f->comm, buf);
	}
	failure_close(f);
}

static const char *judge(const struct failure_test *test, const struct board *board)
{
	const struct death *death = test->row;
	int r, first = death->victim == 0 ? 1 : 0;

	for (r = first; r < test->ranks; r++) {
		if (r == death->victim)
			continue;
		if (board->errors[r].status != board->errors[first].status ||
		    board->errors[r].rank != board->errors[first].rank)
			return "the survivors do not agree";
	}
	return NULL;
}

static void run_death(const char *name, int ranks, const char *settings, struct death death)
{
	const struct failure_test test = {
		.name = name,
		.ranks = ranks,
		.body = body,
		.settings = settings,
		.row = &death,
		.killed = death.exits ? 0 : 1 << death.victim,
		.judge = judge,
	};

	failure_run(&test);
}

static void run_every_call(enum moment moment, const char *when, enum failure_wait how,
			   const char *settings)
{
	char name[160];
	int call;

	for (call = 0; call < FAILURE_CALLS; call++) {
		struct death death = {
			.moment = moment, .call = (enum failure_call)call, .how = how};

		death.victim = (call + (int)moment) % 3;
		(void)snprintf(name, sizeof(name), "death_%s_%s_names_the_dead%s%s", when,
			       failure_call_name(death.call), settings ? " with " : "",
			       settings ? settings : "");
		run_death(name, 3, settings, death);
	}
}

static void run_at_random(void)
{
	char name[96];
	int i;

	for (i = 0; i < 2 * FAILURE_CALLS; i++) {
		struct death death = {.moment = AT_RANDOM,
				      .call = (enum failure_call)(i % FAILURE_CALLS)};

		death.victim = i % 4;
		death.how = i % 2 ? BY_TEST : BY_WAIT;
		(void)snprintf(name, sizeof(name), "death_at_random_in_%s_of_rank_%d",
			       failure_call_name(death.call), death.victim);
		run_death(name, 4, i % 3 ? NULL : "wait=event", death);
	}
}

/* Two die at once: whichever is named, all name the same. */
static void body_of_two(struct failure_rank *f)
{
	int32_t x[7] = {0};
	enum wring_status status = WRING_OK;
	struct wring_error error;

	if (!failure_open(f))
		return;
	failure_healthy(f);
	if (f->rank == 1 || f->rank == 3) {
		nap_s(0.2);
		(void)raise(SIGKILL);
	}
	while (status == WRING_OK)
		status = wring_allreduce(f->comm, x, x, 7, WRING_INT32, WRING_SUM);
	if (failure_status(f, "allreduce", status, WRING_ERR_PEER)) {
		error = failure_error(f, WRING_ERR_PEER);
		(void)failure_expect(f, error.rank == 1 || error.rank == 3, "rank %d is named: %s",
				     error.rank, error.text);
	}
	failure_close(f);
}

static const char *judge_two(const struct failure_test *test, const struct board *board)
{
	(void)test;
	return board->errors[0].rank == board->errors[2].rank &&
			       board->errors[0].rank == board->errors[4].rank
		       ? NULL
		       : "the survivors do not agree";
}

void failure_deaths(void)
{
	const struct failure_test two = {
		.name = "death_of_two_ranks_is_told_alike_to_all",
		.ranks = 5,
		.body = body_of_two,
		.killed = 1 << 1 | 1 << 3,
		.judge = judge_two,
	};

	run_every_call(BEFORE_ANY, "before_any", BY_WAIT, NULL);
	run_every_call(WHILE_WAITING, "while_others_wait_in", BY_WAIT, NULL);
	run_every_call(WHILE_WAITING, "while_others_test_in", BY_TEST, NULL);
	run_every_call(WHILE_WAITING, "while_others_sleep_in", BY_WAIT, "wait=event");
	run_every_call(WHILE_WAITING, "while_others_spin_in", BY_WAIT, "wait=spin");
	run_every_call(IN_THE_CALL, "after_starting", BY_WAIT, NULL);
	run_every_call(BETWEEN, "between_calls_before", BY_WAIT, NULL);
	run_death("death_is_told_with_a_progress_thread", 3, "progress=thread",
		  (struct death){.moment = WHILE_WAITING, .call = CALL_BARRIER, .victim = 1});
	run_death("exit_without_destroy_is_a_death", 3, NULL,
		  (struct death){
			  .moment = BETWEEN, .call = CALL_BARRIER, .victim = 1, .exits = true});
	run_death("death_is_noticed_though_a_forked_child_lives_on", 2, NULL,
		  (struct death){.moment = WHILE_WAITING,
				 .call = CALL_ALLREDUCE_SMALL,
				 .victim = 1,
				 .with_child = true});
	run_at_random();
	failure_run(&two);
}
