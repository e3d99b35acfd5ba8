/* mixed.c: random collectives, many in flight, waited for in every way, between allocations. */
#include "tests/exact/exact.h"

#include "tests/harness/reference.h"

#include <stdlib.h>
#include <string.h>

enum { FLIGHTS = 16, MOST = 40000, TURNS = 3000, QUICK_TURNS = 300 };

enum collective { ALLREDUCE, BROADCAST, BARRIER };

/* What all ranks agree on for one operation. */
struct plan {
	enum collective collective;
	struct exact_call call;
	unsigned int seed;
};

/* One operation between its start and its validation. */
struct flight {
	struct plan plan;
	struct wring_request *request;
	struct exact_buffer send, recv;
};

/* Flights first, first + 1, ..., first + n - 1 (modulo FLIGHTS) are in flight. */
struct mix {
	struct exact *x;
	struct exact_random common; /* the same numbers on every rank */
	struct exact_random own;
	struct exact_inputs inputs;
	struct flight flights[FLIGHTS];
	struct exact_buffer pool[FLIGHTS][2]; /* registered send and receive buffers */
	unsigned int first, n;
};

static struct flight *flight_at(struct mix *mix, unsigned int i)
{
	return &mix->flights[(mix->first + i) % FLIGHTS];
}

static size_t choose_count(struct exact_random *random)
{
	static const uint32_t limits[] = {4, 64, 300, 300, 3000, 3000, 9000, MOST};

	return exact_random_below(random, limits[exact_random_below(random, 8)] + 1);
}

static struct plan choose_plan(struct mix *mix)
{
	struct exact_random *random = &mix->common;
	uint32_t what = exact_random_below(random, 10);
	struct plan plan = {.collective = what < 6 ? ALLREDUCE : what < 9 ? BROADCAST : BARRIER};

	plan.call.datatype = (enum wring_datatype)exact_random_below(random, EXACT_DATATYPES);
	plan.call.op = (enum wring_op)exact_random_below(random, EXACT_OPS);
	if (!exact_exists(plan.call.datatype, plan.call.op))
		plan.call.op = WRING_SUM;
	plan.call.count = choose_count(random);
	plan.call.root = (int)exact_random_below(random, (uint32_t)mix->x->size);
	plan.seed = exact_random_next(random);
	plan.call.in_place = exact_random_below(&mix->own, 2) == 1;
	plan.call.kind = (enum exact_kind)exact_random_below(&mix->own, EXACT_MIXED);
	return plan;
}

static int open_pool(struct mix *mix)
{
	for (int i = 0; i < FLIGHTS; i++) {
		for (int j = 0; j < 2; j++) {
			if (exact_buffer_open(mix->x, &mix->pool[i][j], EXACT_REGISTERED,
					      MOST * sizeof(double)))
				return -1;
		}
	}
	return 0;
}

static void close_pool(struct mix *mix)
{
	for (int i = 0; i < FLIGHTS; i++) {
		for (int j = 0; j < 2; j++)
			exact_buffer_close(mix->x, &mix->pool[i][j]);
	}
}

/* Nothing is in flight: give some memory back to the system and register it anew. */
static void register_anew(struct mix *mix)
{
	uint32_t i = exact_random_below(&mix->own, FLIGHTS), j = exact_random_below(&mix->own, 2);
	struct exact_buffer *buffer = &mix->pool[i][j];

	exact_buffer_close(mix->x, buffer);
	if (!mix->x->broken)
		(void)exact_buffer_open(mix->x, buffer, EXACT_REGISTERED, MOST * sizeof(double));
}

static int take_buffers(struct mix *mix, struct flight *flight)
{
	size_t i = (size_t)(flight - mix->flights);
	const struct exact_call *call = &flight->plan.call;
	size_t bytes = call->count * wring_datatype_size(call->datatype);

	if (call->kind == EXACT_REGISTERED) {
		flight->send = mix->pool[i][0];
		flight->recv = mix->pool[i][1];
		return 0;
	}
	if (exact_buffer_open(mix->x, &flight->send, call->kind, bytes))
		return -1;
	if (exact_buffer_open(mix->x, &flight->recv, call->kind, bytes)) {
		exact_buffer_close(mix->x, &flight->send);
		return -1;
	}
	return 0;
}

static void give_buffers_back(struct mix *mix, struct flight *flight)
{
	if (flight->plan.call.kind == EXACT_REGISTERED)
		return;
	exact_buffer_close(mix->x, &flight->send);
	exact_buffer_close(mix->x, &flight->recv);
}

static unsigned char *data_of(const struct exact_buffer *buffer)
{
	return buffer->base + EXACT_GUARD;
}

static unsigned char *sendbuf_of(const struct flight *flight)
{
	return data_of(flight->plan.call.in_place ? &flight->recv : &flight->send);
}

static void write_input(struct mix *mix, struct flight *flight)
{
	const struct plan *plan = &flight->plan;
	size_t bytes = plan->call.count * wring_datatype_size(plan->call.datatype);

	memset(data_of(&flight->recv), 0x77, bytes);
	if (plan->collective == ALLREDUCE)
		reference_fill(sendbuf_of(flight), plan->call.count, plan->call.datatype,
			       plan->call.op, mix->x->rank, plan->seed, true);
	else if (plan->collective == BROADCAST && mix->x->rank == plan->call.root)
		exact_pattern_bytes(data_of(&flight->recv), bytes, plan->seed);
	exact_guard(data_of(&flight->recv), bytes);
}

static void validate(struct mix *mix, struct flight *flight)
{
	const struct plan *plan = &flight->plan;
	const struct exact_call *call = &plan->call;
	size_t bytes = call->count * wring_datatype_size(call->datatype);
	struct exact *x = mix->x;

	x->report.operations++;
	if (plan->collective == BARRIER)
		return;
	if (plan->collective == BROADCAST) {
		exact_pattern_bytes(mix->inputs.expected, bytes, plan->seed);
	} else {
		exact_inputs_fill(x, &mix->inputs, call->count, call, true, plan->seed);
		exact_inputs_expect(x, &mix->inputs, call);
	}
	exact_compare(x, call, data_of(&flight->recv), mix->inputs.expected, 0, call->count);
	if (!exact_guarded(data_of(&flight->recv), bytes))
		exact_complain(x, "bytes around a buffer of %zu bytes were changed", bytes);
}

static enum wring_status start(struct mix *mix, struct flight *flight)
{
	const struct plan *plan = &flight->plan;
	const struct exact_call *call = &plan->call;
	struct wring_comm *comm = mix->x->comm;
	unsigned char *recv = data_of(&flight->recv);

	if (plan->collective == BARRIER)
		return wring_ibarrier(comm, &flight->request);
	if (plan->collective == BROADCAST)
		return wring_ibroadcast(comm, recv, call->count, call->datatype, call->root,
					&flight->request);
	return wring_iallreduce(comm, sendbuf_of(flight), recv, call->count, call->datatype,
				call->op, &flight->request);
}

static enum wring_status call_blocking(struct mix *mix, struct flight *flight)
{
	const struct plan *plan = &flight->plan;
	const struct exact_call *call = &plan->call;
	struct wring_comm *comm = mix->x->comm;
	unsigned char *recv = data_of(&flight->recv);

	if (plan->collective == BARRIER)
		return wring_barrier(comm);
	if (plan->collective == BROADCAST)
		return wring_broadcast(comm, recv, call->count, call->datatype, call->root);
	return wring_allreduce(comm, sendbuf_of(flight), recv, call->count, call->datatype,
			       call->op);
}

/* The oldest has completed. */
static void land(struct mix *mix)
{
	struct flight *flight = flight_at(mix, 0);

	if (flight->request)
		exact_complain(mix->x, "a completed request is not NULL");
	validate(mix, flight);
	give_buffers_back(mix, flight);
	mix->first++;
	mix->n--;
}

static void wait_for_oldest(struct mix *mix)
{
	enum wring_status status = wring_wait(&flight_at(mix, 0)->request);

	if (exact_ok(mix->x, status, "wait"))
		land(mix);
}

static void test_oldest(struct mix *mix)
{
	enum wring_status status = WRING_OK;
	int done = 0;

	while (!done && status == WRING_OK)
		status = wring_test(&flight_at(mix, 0)->request, &done);
	if (exact_ok(mix->x, status, "test"))
		land(mix);
}

/* Requests complete in order: once the newest is done, a single test finds each of the others. */
static void wait_for_newest(struct mix *mix)
{
	unsigned int newest = mix->n - 1;

	if (!exact_ok(mix->x, wring_wait(&flight_at(mix, newest)->request), "wait for newest"))
		return;
	for (unsigned int i = 0; i < newest; i++) {
		int done = 0;
		enum wring_status status = wring_test(&flight_at(mix, 0)->request, &done);

		if (!exact_ok(mix->x, status, "test after wait for a later one"))
			return;
		if (!done) {
			exact_complain(mix->x, "a request completed before an earlier one");
			mix->x->broken = true;
			return;
		}
		land(mix);
	}
	land(mix);
}

static void wait_for_all(struct mix *mix)
{
	struct wring_request *requests[FLIGHTS];
	unsigned int n = mix->n;
	enum wring_status status;

	for (unsigned int i = 0; i < n; i++)
		requests[i] = flight_at(mix, i)->request;
	status = wring_waitall(n, requests);
	for (unsigned int i = 0; i < n; i++)
		flight_at(mix, i)->request = requests[i];
	if (!exact_ok(mix->x, status, "waitall of %u", n))
		return;
	while (mix->n > 0)
		land(mix);
}

static void wait_somehow(struct mix *mix)
{
	switch (exact_random_below(&mix->own, 8)) {
	case 0:
		wait_for_all(mix);
		break;
	case 1:
		wait_for_newest(mix);
		break;
	case 2:
	case 3:
	case 4:
		test_oldest(mix);
		break;
	default:
		wait_for_oldest(mix);
		break;
	}
}

static void finish_blocking(struct mix *mix, struct flight *flight)
{
	if (!exact_ok(mix->x, call_blocking(mix, flight), "blocking call, %u in flight", mix->n))
		return;
	mix->n++;
	if (mix->n == 1)
		land(mix);
	else
		wait_for_newest(mix);
}

static void take_turn(struct mix *mix)
{
	struct flight *flight = flight_at(mix, mix->n);

	*flight = (struct flight){.plan = choose_plan(mix)};
	if (take_buffers(mix, flight))
		return;
	write_input(mix, flight);
	if (exact_random_below(&mix->own, 6) == 0) {
		finish_blocking(mix, flight);
	} else if (exact_ok(mix->x, start(mix, flight), "start, %u in flight", mix->n)) {
		mix->n++;
	}
	while (!mix->x->broken && mix->n > 0 &&
	       (mix->n == FLIGHTS || exact_random_below(&mix->own, 3) == 0))
		wait_somehow(mix);
	if (!mix->x->broken && mix->n == 0 && exact_random_below(&mix->own, 2) == 0)
		register_anew(mix);
}

void exact_mixed(struct exact *x)
{
	struct mix *mix = calloc(1, sizeof(*mix));
	int turns = x->test->quick ? QUICK_TURNS : TURNS;

	if (!mix || exact_inputs_open(&mix->inputs, x->size, MOST)) {
		exact_complain(x, "no memory for inputs");
		free(mix);
		return;
	}
	mix->x = x;
	mix->common.state = (uint64_t)x->test->seed << 32;
	mix->own.state = mix->common.state + ((uint64_t)x->rank + 1) * 1000003;
	if (open_pool(mix) == 0) {
		for (int i = 0; i < turns && !x->broken; i++)
			take_turn(mix);
		if (!x->broken && mix->n > 0)
			wait_for_all(mix);
	}
	if (!x->broken)
		close_pool(mix);
	exact_inputs_close(&mix->inputs, x->size);
	free(mix);
}
