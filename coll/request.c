/* request.c: the queue of requests of one communicator. */
#include "coll/request.h"

#include <stdlib.h>
#include <string.h>

static bool allocate_tables(struct coll *coll)
{
	size_t n = (size_t)coll->size;

	coll->tx = calloc(n, sizeof(*coll->tx));
	coll->rx = calloc(n, sizeof(*coll->rx));
	coll->inputs = calloc(n, sizeof(*coll->inputs));
	coll->scratch = malloc(SCRATCH_BYTES);
	return coll->tx && coll->rx && coll->inputs && coll->scratch;
}

enum wring_status coll_open(struct coll **coll, struct transport *transport, void *owner,
			    struct wring_error *error)
{
	struct coll *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set(error, WRING_ERR_NOMEM, "malloc(%zu) failed", sizeof(*c));
	c->transport = transport;
	c->owner = owner;
	c->rank = transport_rank(transport);
	c->size = transport_size(transport);
	c->position = transport_position(transport);
	if (!allocate_tables(c)) {
		coll_close(c);
		return error_set(error, WRING_ERR_NOMEM, "malloc for the tables of %d ranks failed",
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
	free(coll->scratch);
	free(coll);
}

/* A request with its tables behind it, lanes zeroed, or NULL. */
static struct wring_request *take_request(struct coll *coll)
{
	size_t lanes_len = (size_t)coll->size * sizeof(struct lane);
	struct wring_request *request = coll->spare;

	if (request) {
		coll->spare = request->next;
		memset(request->lanes, 0, lanes_len);
		return request;
	}
	request = calloc(1, sizeof(*request) + lanes_len +
				    (size_t)coll->size * sizeof(struct reached));
	if (!request)
		return NULL;
	request->lanes = (struct lane *)(request + 1);
	request->reached = (struct reached *)(request->lanes + coll->size);
	return request;
}

static void fill(struct coll *coll, struct wring_request *request, const struct call *call)
{
	request->coll = coll;
	request->next = NULL;
	request->call = *call;
	request->elem = wring_datatype_size(call->datatype);
	request->bytes = call->count * request->elem;
	request->done = false;
	request->waiting_for = -1;
	memset(&request->state, 0, sizeof(request->state));
	request->signature = (struct signature){
		.operation = ++coll->operation,
		.count = call->count,
		.root = call->root,
		.collective = (uint8_t)call->collective,
		.datatype = (uint8_t)call->datatype,
		.op = (uint8_t)call->op,
	};
	request->algorithm = select_algorithm(coll, call, request->bytes);
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
	trace_end(transport_trace(request->coll->transport), request->algorithm->name,
		  request->signature.operation);
}

enum wring_status coll_start(struct coll *coll, const struct call *call,
			     struct wring_request **request, struct wring_error *error)
{
	struct wring_request *r = take_request(coll);

	if (!r)
		return error_set(error, WRING_ERR_NOMEM, "malloc for a request failed");
	fill(coll, r, call);
	enqueue(coll, r);
	trace_begin(transport_trace(coll->transport), r->algorithm->name, r->signature.operation);
	r->algorithm->start(r);
	if (r->algorithm->progress(r))
		finish(r);
	*request = r;
	return WRING_OK;
}

/* With a thousand requests in flight, only so many can have found slots on any link. */
#define MOST_AT_WORK 8

void coll_progress(struct coll *coll)
{
	struct wring_request *request;
	int at_work = 0;

	transport_poll(coll->transport);
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

/* The one for which the others wait. */
static struct wring_request *oldest_pending(struct coll *coll, struct wring_request *request)
{
	struct wring_request *oldest = coll->first;

	while (oldest != request && oldest->done)
		oldest = oldest->next;
	return oldest;
}

static void watch_signatures(struct coll *coll, struct idle *idle)
{
	if (idle->listened_ns == idle->scanned_ns)
		return;
	idle->scanned_ns = idle->listened_ns;
	signature_watch(coll);
}

void coll_idle(struct coll *coll, struct wring_request *request, struct idle *idle)
{
	struct wring_request *oldest = oldest_pending(coll, request);

	watch_signatures(coll, idle);
	transport_idle(coll->transport, idle, oldest->signature.operation, oldest->waiting_for);
}

void coll_look(struct coll *coll, struct wring_request *request)
{
	struct wring_request *oldest = oldest_pending(coll, request);

	watch_signatures(coll, &coll->look);
	transport_look(coll->transport, &coll->look, oldest->signature.operation,
		       oldest->waiting_for);
}

void coll_release(struct wring_request *request)
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
	return transport_moved(coll->transport);
}

uint64_t coll_operations(const struct coll *coll)
{
	return coll->operation;
}
