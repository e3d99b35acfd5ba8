/* comm.c: the public functions on a communicator itself: errors, abort, memory. */
/* SPDX-License-Identifier: MIT */
#include "coll/comm.h"

#include <stdlib.h>
#include <sys/mman.h>

int wring_comm_rank(const struct wring_comm *comm)
{
	return comm ? comm->rank : -1;
}

int wring_comm_size(const struct wring_comm *comm)
{
	return comm ? comm->size : -1;
}

void wring_comm_error(const struct wring_comm *comm, struct wring_error *error)
{
	if (!comm || !error)
		return;
	*error = comm->last;
	if (comm->transport && transport_status(comm->transport))
		*error = *transport_error(comm->transport);
}

enum wring_status wring_comm_abort(struct wring_comm *comm, const char *text)
{
	struct wring_error error;

	if (!comm)
		return WRING_ERR_INVALID;
	if (!comm->transport || transport_status(comm->transport)) {
		(void)error_set(
			&error, WRING_ERR_STATE,
			"wring_comm_abort: the communicator is broken or destroyed already");
		return comm_record(comm, &error);
	}
	engine_lock(&comm->engine);
	transport_fail_at(comm->transport, WRING_ERR_ABORTED, comm->rank,
			  coll_operations(comm->coll), "rank %d aborted: %s", comm->rank,
			  text && text[0] ? text : "no reason given");
	transport_settle(comm->transport);
	engine_unlock(&comm->engine);
	return WRING_OK;
}

/* --- memory ------------------------------------------------------------------------------- */

/* Memory calls need a communicator that is whole. */
static enum wring_status check_whole(struct wring_comm *comm, const char *function)
{
	struct wring_error error;

	if (!comm)
		return WRING_ERR_INVALID;
	if (comm->transport && !transport_status(comm->transport))
		return WRING_OK;
	(void)error_set(&error, WRING_ERR_STATE, "%s: the communicator is %s; create a new one",
			function, comm->transport ? "broken" : "destroyed");
	return comm_record(comm, &error);
}

static enum wring_status refuse_null(struct wring_comm *comm, const char *function,
				     const char *argument)
{
	struct wring_error error;

	(void)error_set(&error, WRING_ERR_INVALID, "%s: %s is NULL or 0", function, argument);
	return comm_record(comm, &error);
}

enum wring_status wring_alloc(struct wring_comm *comm, size_t len, void **buf)
{
	enum wring_status status = check_whole(comm, "wring_alloc");
	struct wring_error error;

	if (status)
		return status;
	if (!buf)
		return refuse_null(comm, "wring_alloc", "buf");
	engine_lock(&comm->engine);
	status = transport_alloc(comm->transport, len, buf, &error);
	engine_unlock(&comm->engine);
	return status ? comm_record(comm, &error) : WRING_OK;
}

enum wring_status wring_register(struct wring_comm *comm, void *buf, size_t len)
{
	enum wring_status status = check_whole(comm, "wring_register");
	struct wring_error error;

	if (status)
		return status;
	if (!buf || !len)
		return refuse_null(comm, "wring_register", buf ? "len" : "buf");
	engine_lock(&comm->engine);
	status = transport_register(comm->transport, buf, len, &error);
	engine_unlock(&comm->engine);
	return status ? comm_record(comm, &error) : WRING_OK;
}

static enum wring_status refuse_deregister(struct wring_comm *comm, enum wring_status status,
					   const void *buf, const char *why)
{
	struct wring_error error;

	(void)error_set(&error, status, "wring_deregister: %p %s", buf, why);
	return comm_record(comm, &error);
}

enum wring_status wring_deregister(struct wring_comm *comm, void *buf)
{
	enum wring_status status = WRING_OK;

	if (!comm)
		return WRING_ERR_INVALID;
	if (!comm->transport)
		return refuse_deregister(comm, WRING_ERR_STATE, buf,
					 "went with its communicator, which was destroyed");
	engine_lock(&comm->engine);
	if (coll_pending(comm->coll))
		status = refuse_deregister(comm, WRING_ERR_STATE, buf,
					   "may be in use: requests are in flight; wait for them");
	else if (!transport_deregister(comm->transport, buf))
		status = refuse_deregister(comm, WRING_ERR_INVALID, buf,
					   "is not the start of memory given to wring_register");
	engine_unlock(&comm->engine);
	return status;
}

static void keep_orphan(void *ctx, void *base, size_t len)
{
	struct wring_comm *comm = ctx;
	struct orphan *orphans = realloc(comm->orphans, (comm->n_orphans + 1) * sizeof(*orphans));

	if (!orphans)
		return; /* it stays mapped until the process ends */
	comm->orphans = orphans;
	orphans[comm->n_orphans++] = (struct orphan){.base = base, .len = len};
}

void comm_keep_orphans(struct wring_comm *comm)
{
	transport_each_owned(comm->transport, keep_orphan, comm);
}

void comm_free_if_empty(struct wring_comm *comm)
{
	if (comm->transport || comm->n_orphans)
		return;
	free(comm->orphans);
	free(comm);
}

static void free_orphan(struct wring_comm *comm, void *buf)
{
	size_t i = 0;

	while (i < comm->n_orphans && comm->orphans[i].base != buf)
		i++;
	if (i == comm->n_orphans)
		return;
	(void)munmap(buf, comm->orphans[i].len);
	comm->orphans[i] = comm->orphans[--comm->n_orphans];
	comm_free_if_empty(comm);
}

void wring_free(struct wring_comm *comm, void *buf)
{
	if (!comm || !buf)
		return;
	if (!comm->transport) {
		free_orphan(comm, buf);
		return;
	}
	engine_lock(&comm->engine);
	(void)transport_free(comm->transport, buf);
	engine_unlock(&comm->engine);
}
