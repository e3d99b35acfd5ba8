/* queue.c: the queue of requests of one communicator. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/cache_line.h"
#include "coll/reduce/reduce.h"
#include "coll/request.h"
#include "coll/ring.h"
#include "coll/select.h"
#include "coll/signature.h"

/* A rank runs at most `slots` operations ahead of a peer. Keep the last 2 x slots calls, so that
 * a late peer's call can still be compared. */
static bool allocate_tables(struct coll *coll)
{
	size_t n = (size_t)coll->size;
	size_t calls = 2 * (size_t)transport_slots(coll->transport);

	coll->tx = calloc(n, sizeof(*coll->tx));
	coll->rx = calloc(n, sizeof(*coll->rx));
	coll->inputs = calloc(n, sizeof(*coll->inputs));
	coll->calls_mask = calls - 1;
	coll->calls = calloc(calls, sizeof(*coll->calls));
	coll->scratch = malloc(SCRATCH_BYTES);
	return coll->tx && coll->rx && coll->inputs && coll->calls && coll->scratch;
}

enum wring_status coll_open(struct coll **coll, struct transport *transport, void *owner,
			    struct wring_error *error)
{
	struct coll *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*c));
	reduce_choose();
	c->transport = transport;
	c->owner = owner;
	c->rank = transport_rank(transport);
	c->size = transport_size(transport);
	c->position = transport_position(transport);
	c->next = transport_rank_at(transport, ring_next(c->position, c->size));
	c->prev = transport_rank_at(transport, ring_prev(c->position, c->size));
	c->state_bytes = cache_line_round_up(select_state_bytes(c->size));
	if (!allocate_tables(c)) {
		coll_close(c);
		return error_set(error, WRING_ERR_NOMEM, "no memory for the tables of %d ranks",
				 transport_size(transport));
	}
	*coll = c;
	return WRING_OK;
}

static void free_list(struct wring_request *request)
{
	while (request) {
		struct wring_request *next = request->next;

		free(request);
		request = next;
	}
}

void coll_close(struct coll *coll)
{
	if (!coll)
		return;
	free_list(coll->first);
	free_list(coll->spare);
	free(coll->tx);
	free(coll->rx);
	free(coll->inputs);
	free(coll->calls);
	free(coll->scratch);
	free(coll);
}

/* A request with state and tickets behind it, tickets zeroed, or NULL. */
static struct wring_request *take_request(struct coll *coll)
{
	size_t tickets_len = (size_t)coll->size * sizeof(struct ticket);
	size_t state_at = cache_line_round_up(sizeof(struct wring_request));
	struct wring_request *request = coll->spare;

	if (request) {
		coll->spare = request->next;
		memset(request->tickets, 0, tickets_len);
		return request;
	}
	request = calloc(1, state_at + coll->state_bytes + tickets_len);
	if (!request)
		return NULL;
	request->state = (unsigned char *)request + state_at;
	request->tickets = (void *)((unsigned char *)request + state_at + coll->state_bytes);
	return request;
}

static void fill(struct coll *coll, struct wring_request *request, const struct call *call)
{
	request->coll = coll;
	request->next = NULL;
	request->call = *call;
	request->done = request->lingers = request->released = false;
	request->waiting_for = -1;
	request->signature = (struct signature){
		.operation = ++coll->operation,
		.count = call->count,
		.root = call->root,
		.collective = (uint8_t)call->collective,
		.datatype = (uint8_t)call->datatype,
		.op = (uint8_t)call->op,
	};
	coll->calls[coll->operation & coll->calls_mask] = request->signature;
	request->algorithm = select_algorithm(coll, call);
	memset(request->state, 0, request->algorithm->state_bytes);
}

static void enqueue(struct coll *coll, struct wring_request *request)
{
	if (coll->last)
		coll->last->next = request;
	else
		coll->first = request;
	coll->last = request;
}

static void finish(struct wring_request *request)
{
	request->done = true;
	request->coll->lingering += request->lingers;
	trace_end(transport_trace(request->coll->transport), request->algorithm->name,
		  request->signature.operation);
}

static void take_out(struct wring_request *request)
{
	struct coll *coll = request->coll;
	struct wring_request *before = NULL, *r;

	for (r = coll->first; r != request; r = r->next)
		before = r;
	if (before)
		before->next = request->next;
	else
		coll->first = request->next;
	if (coll->last == request)
		coll->last = before;
	request->next = coll->spare;
	coll->spare = request;
}

/* A finished request may still owe control messages. Recycle it once none is left and the
 * program has released it. */
static void linger(struct wring_request *request)
{
	(void)request->algorithm->progress(request);
	if (request->lingers)
		return;
	request->coll->lingering--;
	if (request->released)
		take_out(request);
}

/* A rank that always finds its next operation complete at once never comes to coll_progress. */
static void linger_all(struct coll *coll)
{
	struct wring_request *request, *next;
	int left = coll->lingering;

	for (request = coll->first; request && left; request = next) {
		next = request->next;
		if (!request->done || !request->lingers)
			continue;
		left--;
		linger(request);
	}
}

enum wring_status coll_start(struct coll *coll, const struct call *call,
			     struct wring_request **request, struct wring_error *error)
{
	struct wring_request *r = take_request(coll);

	if (!r)
		return error_set(error, WRING_ERR_NOMEM, "no memory for a request");
	linger_all(coll);
	fill(coll, r, call);
	enqueue(coll, r);
	trace_begin(transport_trace(coll->transport), r->algorithm->name, r->signature.operation);
	r->algorithm->start(r);
	if (r->algorithm->progress(r))
		finish(r);
	*request = r;
	return WRING_OK;
}

/* Slots limit how many requests can move; looking at more than the 8 oldest costs time. */
enum { MOST_AT_WORK = 8 };

void coll_progress(struct coll *coll)
{
	struct wring_request *request;
	int at_work = 0;

	transport_poll(coll->transport);
	linger_all(coll);
	for (request = coll->first; request && at_work < MOST_AT_WORK; request = request->next) {
		if (request->done)
			continue;
		at_work++;
		if (request->algorithm->progress(request))
			finish(request);
	}
}

/* Requests complete in the order started: this one and all before it must have ended. */
static bool completed(const struct wring_request *request)
{
	const struct wring_request *before = request->coll->first;

	if (!request->done)
		return false;
	while (before != request && before->done)
		before = before->next;
	return before == request;
}

bool coll_done(const struct wring_request *request)
{
	return completed(request) || transport_status(request->coll->transport);
}

enum wring_status coll_status(const struct wring_request *request)
{
	return completed(request) ? WRING_OK : transport_status(request->coll->transport);
}

/* Longer than a rank waits when all is well; then the others get to know it. */
#define TELL_NS ((uint64_t)20 * 1000 * 1000)

/* The one for which the others wait. */
static struct wring_request *oldest_pending(struct coll *coll, struct wring_request *request)
{
	struct wring_request *oldest = coll->first;

	while (oldest != request && oldest->done)
		oldest = oldest->next;
	return oldest;
}

/* About every ms of waiting (waited_ns, else 0): look for ranks that have made another call. */
static void watch_signatures(struct wring_request *oldest, uint64_t waited_ns)
{
	if (!waited_ns)
		return;
	signature_watch(oldest->coll);
	if (waited_ns >= TELL_NS)
		signature_tell(oldest);
}

static struct awaited awaited_by(const struct wring_request *request)
{
	return (struct awaited){
		.operation = request->signature.operation,
		.peer = request->waiting_for,
	};
}

void coll_idle(struct coll *coll, struct wring_request *request, struct idle *idle)
{
	struct wring_request *oldest = oldest_pending(coll, request);
	struct awaited awaited = awaited_by(oldest);

	watch_signatures(oldest, transport_idle(coll->transport, idle, &awaited));
}

void coll_look(struct coll *coll, struct wring_request *request)
{
	struct wring_request *oldest = oldest_pending(coll, request);
	struct awaited awaited = awaited_by(oldest);

	watch_signatures(oldest, transport_look(coll->transport, &coll->look, &awaited));
}

void coll_release(struct wring_request *request)
{
	request->released = true;
	if (!request->done || !request->lingers)
		take_out(request);
}

void *coll_owner(const struct wring_request *request)
{
	return request->coll->owner;
}

bool coll_pending(const struct coll *coll)
{
	const struct wring_request *request = coll->first;

	while (request && request->done)
		request = request->next;
	return request && !transport_status(coll->transport);
}

uint64_t coll_moved(const struct coll *coll)
{
	return transport_progress(coll->transport);
}

uint64_t coll_operations(const struct coll *coll)
{
	return coll->operation;
}
