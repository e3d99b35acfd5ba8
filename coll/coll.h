/* coll.h: the collectives of one communicator: a queue of requests over the links. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include "transport/transport.h"

enum collective { COLLECTIVE_ALLREDUCE = 1, COLLECTIVE_BROADCAST = 2, COLLECTIVE_BARRIER = 3 };

/* One call, as the program made it. Broadcast: sendbuf == recvbuf == buf. */
struct call {
	enum collective collective;
	const void *sendbuf;
	void *recvbuf;
	size_t count;
	enum wring_datatype datatype;
	enum wring_op op;
	int root;
	size_t elem;  /* bytes of one element */
	size_t bytes; /* of all; right once coll_check has accepted the call */
};

/* Fill in elem and bytes. */
static inline struct call call_measured(struct call call)
{
	call.elem = wring_datatype_size(call.datatype);
	call.bytes = call.count * call.elem;
	return call;
}

struct coll;
struct wring_request;

/* owner is what coll_owner gives back. Borrows transport until coll_close. */
enum wring_status coll_open(struct coll **coll, struct transport *transport, void *owner,
			    struct wring_error *error);

/*
 * Prefer `algorithm` ("ring") of a collective ("allreduce") for vectors up to (above: beyond)
 * `bytes`. The first preference that fits counts, where that algorithm can be used. Before the
 * first call, alike on all ranks. False: unknown names, or too many preferences.
 */
enum { COLL_PREFERENCES = 32 };
bool coll_prefer(struct coll *coll, const char *collective, const char *algorithm, bool above,
		 uint64_t bytes);

/* Row i of the table of algorithms that can be preferred, by name; false: there are no more. The
 * rows of one collective stand together. */
bool coll_candidate(size_t i, const char **collective, const char **algorithm);

/* Drops all requests in flight. NULL is fine. */
void coll_close(struct coll *coll);

/*
 * Are the arguments right? INVALID, UNSUPPORTED with a text that names the value. Changes
 * nothing.
 */
enum wring_status coll_check(const struct call *call, int size, struct wring_error *error);

/* Queue a checked call and post what credits allow. Gives *request. NOMEM: nothing has changed. */
enum wring_status coll_start(struct coll *coll, const struct call *call,
			     struct wring_request **request, struct wring_error *error);

/* Move every request in flight as far as it goes. Never blocks. */
void coll_progress(struct coll *coll);

/* True when the request has completed, well or because the transport has failed. */
bool coll_done(const struct wring_request *request);

/* Nothing moved: wait a little, as transport_idle says, on behalf of this request. */
void coll_idle(struct coll *coll, struct wring_request *request, struct idle *idle);

/* wring_test found nothing: look after the peers and the deadline, without waiting. */
void coll_look(struct coll *coll, struct wring_request *request);

/* Give back a request that is done. */
void coll_release(struct wring_request *request);

/* The owner given to coll_open. */
void *coll_owner(const struct wring_request *request);

/* Any that are not done, while all is well? Then coll_progress has something to do. */
bool coll_pending(const struct coll *coll);

/* See transport_progress. */
uint64_t coll_moved(const struct coll *coll);

/* WRING_OK if the request has completed well; else why the transport has failed. */
enum wring_status coll_status(const struct wring_request *request);

/* How many collectives have been started. */
uint64_t coll_operations(const struct coll *coll);

/* "allreduce"; "unknown" for any other number. */
const char *collective_name(int collective);

#endif
