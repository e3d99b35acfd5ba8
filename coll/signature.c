/* signature.c: do the ranks call the same collective? Every first message says what it is. */
/* SPDX-License-Identifier: MIT */
#include "coll/signature.h"

#include <stdio.h>

#include "coll/request.h"

/* The first field that differs, as both see it. */
struct difference {
	const char *field;
	char ours[32], theirs[32];
};

static void show_number(struct difference *d, const char *field, long long ours, long long theirs)
{
	d->field = field;
	(void)snprintf(d->ours, sizeof(d->ours), "%lld", ours);
	(void)snprintf(d->theirs, sizeof(d->theirs), "%lld", theirs);
}

static void show_name(struct difference *d, const char *field, const char *ours, const char *theirs)
{
	d->field = field;
	(void)snprintf(d->ours, sizeof(d->ours), "%s", ours);
	(void)snprintf(d->theirs, sizeof(d->theirs), "%s", theirs);
}

static bool find_difference(const struct signature *ours, const struct signature *theirs,
			    struct difference *d)
{
	if (ours->collective != theirs->collective)
		show_name(d, "collective", collective_name(ours->collective),
			  collective_name(theirs->collective));
	else if (ours->count != theirs->count)
		show_number(d, "count", (long long)ours->count, (long long)theirs->count);
	else if (ours->datatype != theirs->datatype)
		show_name(d, "datatype", wring_datatype_name((enum wring_datatype)ours->datatype),
			  wring_datatype_name((enum wring_datatype)theirs->datatype));
	else if (ours->op != theirs->op)
		show_name(d, "op", wring_op_name((enum wring_op)ours->op),
			  wring_op_name((enum wring_op)theirs->op));
	else if (ours->root != theirs->root)
		show_number(d, "root", ours->root, theirs->root);
	else
		return false;
	return true;
}

static void fail_mismatch(const struct coll *coll, int peer, uint64_t operation,
			  const struct difference *d)
{
	transport_fail_at(coll->transport, WRING_ERR_MISMATCH, peer, operation,
			  "operation %llu: %s is %s on rank %d and %s on rank %d; every rank must "
			  "call the same collectives in the same order",
			  (unsigned long long)operation, d->field, d->ours, coll->rank, d->theirs,
			  peer);
}

/* The peer skipped this operation: it is already in another one. */
static void fail_order(const struct coll *coll, int peer, uint64_t ours, uint64_t theirs)
{
	struct difference d;

	show_number(&d, "the operation", (long long)ours, (long long)theirs);
	fail_mismatch(coll, peer, ours < theirs ? ours : theirs, &d);
}

static bool same(const struct signature *a, const struct signature *b)
{
	return a->operation == b->operation && a->count == b->count && a->root == b->root &&
	       a->collective == b->collective && a->datatype == b->datatype && a->op == b->op;
}

/* This rank's call number operation, if it was made lately or is in flight. */
static const struct signature *find_call(const struct coll *coll, uint64_t operation)
{
	const struct signature *call = &coll->calls[operation & coll->calls_mask];
	const struct wring_request *request = coll->first;

	if (call->operation == operation)
		return call;
	if (request && operation < request->signature.operation)
		return NULL;
	while (request && request->signature.operation != operation)
		request = request->next;
	return request ? &request->signature : NULL;
}

/* Did this rank start the same operation with other arguments? */
static bool differs_from_ours(const struct coll *coll, const struct signature *theirs,
			      struct difference *d)
{
	const struct signature *ours = find_call(coll, theirs->operation);

	return ours && find_difference(ours, theirs, d);
}

bool signature_agrees(struct wring_request *request, int peer, const struct signature *theirs)
{
	const struct signature *ours = &request->signature;
	struct difference d;

	if (same(ours, theirs))
		return true;
	if (differs_from_ours(request->coll, theirs, &d))
		fail_mismatch(request->coll, peer, theirs->operation, &d);
	else
		fail_order(request->coll, peer, ours->operation, theirs->operation);
	return false;
}

/* The oldest operation that has not ended: anything earlier at a head was never taken. */
static uint64_t oldest_operation(const struct coll *coll)
{
	const struct wring_request *request = coll->first;

	while (request && request->done && !request->lingers)
		request = request->next;
	return request ? request->signature.operation : coll->operation + 1;
}

static void watch_link(const struct coll *coll, int peer)
{
	struct message message;
	struct difference d;

	if (!link_peek(transport_link(coll->transport, peer), &message) || !message.signature)
		return;
	if (differs_from_ours(coll, message.signature, &d))
		fail_mismatch(coll, peer, message.signature->operation, &d);
	else if (message.signature->operation < oldest_operation(coll))
		fail_order(coll, peer, oldest_operation(coll), message.signature->operation);
}

/* Ranks that wait for each other in different calls may have sent nothing. */
static void watch_waiting(struct coll *coll, int peer)
{
	struct signature theirs;
	struct difference d;

	link_read_waiting(transport_link(coll->transport, peer), &theirs);
	if (theirs.operation && differs_from_ours(coll, &theirs, &d))
		fail_mismatch(coll, peer, theirs.operation, &d);
}

void signature_watch(struct coll *coll)
{
	for (int peer = 0; peer < coll->size && !transport_status(coll->transport); peer++)
		if (peer != coll->rank) {
			watch_link(coll, peer);
			watch_waiting(coll, peer);
		}
}

void signature_tell(struct wring_request *request)
{
	const struct signature *ours = &request->signature;
	struct coll *coll = request->coll;
	int peer = request->waiting_for;

	if (peer < 0 || (coll->told_operation == ours->operation && coll->told_peer == peer) ||
	    !link_tell_waiting(transport_link(coll->transport, peer), ours))
		return;
	coll->told_operation = ours->operation;
	coll->told_peer = peer;
}
