/* rank.c: what one rank does with the plan: it makes the calls, and the fault. */
/* SPDX-License-Identifier: MIT */
#include "tests/chaos/chaos.h"

#include "tests/harness/reference.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { FROM_WRING, FROM_MALLOC, REGISTERED, KINDS };

enum { BUFFER_BYTES = CHAOS_ELEMENTS * 8, SETS = CHAOS_IN_FLIGHT };

/* The buffers of one step in flight. */
struct set {
	unsigned char *send[KINDS], *recv[KINDS];
};

struct flight {
	int step;
	struct set *set;
	struct wring_request *request;
};

struct rank {
	const struct rank_context *context;
	const struct chaos_plan *plan;
	struct chaos_board *board;
	struct chaos_result *result;
	struct wring_comm *comm;
	struct set sets[SETS];
	struct flight flights[CHAOS_IN_FLIGHT];
	int first, n; /* in flight */
	bool is_victim;
	unsigned char *inputs[CHAOS_RANKS], *expected;
	uint64_t random; /* this rank's own: how it waits */
};

__attribute__((format(printf, 2, 3))) static void complain(struct rank *r, const char *what, ...)
{
	va_list args;

	if (r->result->complaint[0])
		return;
	va_start(args, what);
	(void)vsnprintf(r->result->complaint, sizeof(r->result->complaint), what, args);
	va_end(args);
}

/* --- buffers ------------------------------------------------------------------------------ */

static bool open_kind(struct rank *r, unsigned char **buf, enum kind kind)
{
	void *memory = NULL;

	if (kind == FROM_WRING)
		return wring_alloc(r->comm, BUFFER_BYTES, (void **)buf) == WRING_OK;
	memory = malloc(BUFFER_BYTES);
	*buf = memory;
	return memory &&
	       (kind == FROM_MALLOC || wring_register(r->comm, memory, BUFFER_BYTES) == WRING_OK);
}

static bool open_sets(struct rank *r)
{
	int s, k;

	for (s = 0; s < r->plan->in_flight; s++)
		for (k = 0; k < KINDS; k++)
			if (!open_kind(r, &r->sets[s].send[k], (enum kind)k) ||
			    !open_kind(r, &r->sets[s].recv[k], (enum kind)k))
				return false;
	for (s = 0; s < r->plan->ranks; s++)
		r->inputs[s] = malloc(BUFFER_BYTES);
	r->expected = malloc(BUFFER_BYTES);
	return r->expected != NULL;
}

/* Also on a broken communicator, and, for what wring_alloc gave, on a destroyed one. */
static void close_kind(struct rank *r, unsigned char *buf, enum kind kind, bool destroyed)
{
	if (kind == FROM_WRING && destroyed)
		wring_free(r->comm, buf);
	if (kind == REGISTERED && buf && !destroyed && wring_deregister(r->comm, buf) != WRING_OK)
		complain(r, "deregister was refused");
	if (kind != FROM_WRING && destroyed)
		free(buf);
}

static void close_sets(struct rank *r, bool destroyed)
{
	int s, k;

	for (s = 0; s < r->plan->in_flight; s++)
		for (k = 0; k < KINDS; k++) {
			close_kind(r, r->sets[s].send[k], (enum kind)k, destroyed);
			close_kind(r, r->sets[s].recv[k], (enum kind)k, destroyed);
		}
	for (s = 0; s < r->plan->ranks && destroyed; s++)
		free(r->inputs[s]);
	if (destroyed)
		free(r->expected);
}

static unsigned char *buffer_of(const struct rank *r, const struct flight *flight, bool sending)
{
	const struct chaos_step *step = &r->plan->step[flight->step];
	unsigned int kind = step->kinds >> (4 * r->context->rank + (sending ? 2 : 0)) & 3;
	unsigned char *const *bufs = sending ? flight->set->send : flight->set->recv;

	return bufs[kind % KINDS];
}

static unsigned char *send_of(const struct rank *r, const struct flight *flight)
{
	return buffer_of(r, flight, !r->plan->step[flight->step].in_place);
}

/* --- values ------------------------------------------------------------------------------- */

static void fill(const struct rank *r, void *buf, int step_index, int rank)
{
	const struct chaos_step *step = &r->plan->step[step_index];

	reference_fill(buf, step->count, step->datatype, step->op, rank,
		       r->plan->seed * 64 + (unsigned int)step_index, step->integers);
}

static bool is_nan_at(const unsigned char *at, enum wring_datatype datatype)
{
	uint16_t half;
	double real;
	float single;

	memcpy(&half, at, sizeof(half));
	if (datatype == WRING_FLOAT16)
		return isnan(reference_from_float16(half));
	if (datatype == WRING_BFLOAT16)
		return isnan(reference_from_bfloat16(half));
	memcpy(&single, at, sizeof(single));
	if (datatype == WRING_FLOAT32)
		return isnan(single);
	if (datatype != WRING_FLOAT64)
		return false;
	memcpy(&real, at, sizeof(real));
	return isnan(real);
}

/* All NaN are one; otherwise every bit counts. */
static void compare(struct rank *r, const struct chaos_step *step, const unsigned char *got,
		    int index)
{
	size_t len = reference_datatype_size(step->datatype), i;

	if (step->count == 0 || memcmp(got, r->expected, step->count * len) == 0)
		return;
	for (i = 0; i < step->count; i++) {
		const unsigned char *a = got + i * len, *b = r->expected + i * len;

		if (memcmp(a, b, len) == 0 ||
		    (is_nan_at(a, step->datatype) && is_nan_at(b, step->datatype)))
			continue;
		r->result->wrong_values++;
		complain(r, "step %d: element %zu of %zu is wrong", index, i, step->count);
	}
}

/* On one host the ring order is the rank order. */
/* The call in which the victim differs from the others. */
static bool is_deviant(const struct rank *r, const struct flight *flight)
{
	return r->is_victim && r->plan->fault == FAULT_MISMATCH && flight->step == r->plan->at_step;
}

/* Of a deviant call that ends well, a broadcast from the victim itself, no other rank knows. */
static void validate(struct rank *r, const struct flight *flight)
{
	const struct chaos_step *step = &r->plan->step[flight->step];
	int rank;

	if (step->collective == CHAOS_BARRIER || r->result->complaint[0] || is_deviant(r, flight))
		return;
	if (step->collective == CHAOS_BROADCAST) {
		fill(r, r->expected, flight->step, step->root);
	} else {
		for (rank = 0; rank < r->plan->ranks; rank++)
			fill(r, r->inputs[rank], flight->step, rank);
		reference_allreduce(r->expected, (const void *const *)r->inputs, r->plan->ranks,
				    step->count, step->datatype, step->op);
	}
	compare(r, step, buffer_of(r, flight, false), flight->step);
}

/* --- calls -------------------------------------------------------------------------------- */

static enum wring_status start(struct rank *r, struct flight *flight)
{
	struct chaos_step step = r->plan->step[flight->step];
	unsigned char *send = send_of(r, flight), *recv = buffer_of(r, flight, false);

	if (step.collective == CHAOS_BROADCAST)
		fill(r, recv, flight->step, r->context->rank);
	else if (step.collective == CHAOS_ALLREDUCE)
		fill(r, send, flight->step, r->context->rank);
	if (is_deviant(r, flight))
		step = r->plan->deviant;
	switch (step.collective) {
	case CHAOS_ALLREDUCE:
		return wring_iallreduce(r->comm, send, recv, step.count, step.datatype, step.op,
					&flight->request);
	case CHAOS_BROADCAST:
		return wring_ibroadcast(r->comm, recv, step.count, step.datatype, step.root,
					&flight->request);
	case CHAOS_BARRIER:
	default:
		return wring_ibarrier(r->comm, &flight->request);
	}
}

static enum wring_status wait_for(struct rank *r, struct flight *flight)
{
	enum wring_status status = WRING_OK;
	int done = 0;

	if (chaos_random(&r->random, 3))
		return wring_wait(&flight->request);
	while (!done && status == WRING_OK)
		status = wring_test(&flight->request, &done);
	return status;
}

static void fail(struct rank *r, enum wring_status status)
{
	if (r->result->status == WRING_OK) {
		r->result->status = status;
		r->result->ended_at = seconds_now();
		r->result->kept_waiting = seconds_kept_waiting();
		wring_comm_error(r->comm, &r->result->error);
	} else if (status != r->result->status) {
		complain(r, "a call gave %s after %s", wring_strerror(status),
			 wring_strerror(r->result->status));
	}
}

/* The oldest has ended. After a failure a request may still be one that had completed before. */
static void land(struct rank *r)
{
	struct flight *flight = &r->flights[r->first];
	enum wring_status status = wait_for(r, flight);

	if (flight->request)
		complain(r, "step %d: the request was not consumed", flight->step);
	if (status == WRING_OK) {
		validate(r, flight);
		r->result->steps_done++;
	} else {
		fail(r, status);
	}
	r->first = (r->first + 1) % r->plan->in_flight;
	r->n--;
}

/* --- the fault ---------------------------------------------------------------------------- */

/* Kill and stop come from another process, at any moment. */
static void send_signals(struct rank *r)
{
	pid_t self = getpid();

	if (fork() != 0)
		return;
	nap_us(r->plan->after_us);
	r->board->fault_at = seconds_now();
	(void)kill(self, r->plan->fault == FAULT_KILL ? SIGKILL : SIGSTOP);
	if (r->plan->fault == FAULT_STOP)
		nap_us(r->plan->us);
	(void)kill(self, SIGCONT);
	_exit(0);
}

/* Returns true when this rank makes no more calls. */
static bool make_fault(struct rank *r)
{
	enum wring_status status;

	switch (r->plan->fault) {
	case FAULT_KILL:
	case FAULT_STOP:
		send_signals(r);
		return false;
	case FAULT_EXIT:
		r->board->fault_at = seconds_now();
		_exit(0);
	case FAULT_DELAY:
		nap_us(r->plan->us);
		return false;
	case FAULT_ABORT:
		r->board->fault_at = seconds_now();
		status = wring_comm_abort(r->comm, "chaos");
		if (status != WRING_OK)
			complain(r, "abort gave %s", wring_strerror(status));
		fail(r, WRING_ERR_ABORTED);
		return false;
	case FAULT_LEAVE:
		r->board->fault_at = seconds_now();
		return true;
	case FAULT_MISMATCH:
		r->board->fault_at = seconds_now();
		return false;
	case FAULT_NONE:
	case CHAOS_FAULTS:
	default:
		return false;
	}
}

static void run_steps(struct rank *r)
{
	const struct chaos_plan *plan = r->plan;
	struct flight *flight;
	enum wring_status status;
	int i;

	for (i = 0; i < plan->steps && r->result->status == WRING_OK; i++) {
		if (r->is_victim && i == plan->at_step && make_fault(r))
			return;
		if (r->result->status != WRING_OK)
			break;
		/* Others may end a barrier well while a call before it has yet to fail here. */
		while (i == plan->steps - 1 && r->n > 0)
			land(r);
		if (r->result->status != WRING_OK)
			break;
		flight = &r->flights[(r->first + r->n) % plan->in_flight];
		*flight = (struct flight){.step = i, .set = &r->sets[i % plan->in_flight]};
		status = start(r, flight);
		if (status == WRING_OK)
			r->n++;
		else
			fail(r, status);
		while (r->n == plan->in_flight || (r->n > 0 && chaos_random(&r->random, 3) == 0))
			land(r);
	}
	while (r->n > 0)
		land(r);
}

/* After a failure every call says the same, and nothing is left. */
static void check_end(struct rank *r)
{
	struct wring_error now = {.status = WRING_OK};
	enum wring_status status = wring_barrier(r->comm);

	wring_comm_error(r->comm, &now);
	if (status != r->result->status)
		complain(r, "a barrier gave %s after %s", wring_strerror(status),
			 wring_strerror(r->result->status));
	if (now.rank != r->result->error.rank || strcmp(now.text, r->result->error.text) != 0)
		complain(r, "the first cause has changed to %s", now.text);
}

static void ignore_line(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

static bool open_comm(struct rank *r)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config;
	enum wring_status status = settings_parse(&config, r->plan->settings, &error);

	config.log = ignore_line;
	if (status == WRING_OK)
		status = wring_comm_create(r->context->bootstrap, &config, &r->comm, &error);
	if (status == WRING_OK)
		return true;
	complain(r, "create: %s", error.text);
	return false;
}

static void close_comm(struct rank *r, const struct usage *before)
{
	double began = seconds_now(), kept = seconds_kept_waiting(), took;
	char text[192];

	if (r->n == 0)
		close_sets(r, false);
	wring_comm_destroy(r->comm);
	took = seconds_now() - began - (seconds_kept_waiting() - kept);
	if (took > 1)
		complain(r, "destroy took %.3f s", took);
	close_sets(r, true);
	if (usage_grew(before, text, sizeof(text)))
		complain(r, "left behind: %s", text);
}

int chaos_rank(const struct rank_context *context)
{
	struct chaos_board *board = context->arg;
	struct rank r = {
		.context = context,
		.plan = board->plan,
		.board = board,
		.result = &board->results[context->rank],
		.is_victim = context->rank == board->plan->victim,
		.random = board->plan->seed + (uint64_t)context->rank * 1000003,
	};
	struct usage before = usage_now();

	if (!open_comm(&r)) {
		r.result->reported = true;
		return 1;
	}
	if (!open_sets(&r))
		complain(&r, "no memory");
	else if (ranks_meet(context) == 0)
		run_steps(&r);
	if (r.result->status != WRING_OK)
		check_end(&r);
	close_comm(&r, &before);
	while (wait(NULL) > 0)
		;
	r.result->reported = true;
	return 0;
}
