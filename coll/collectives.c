/* collectives.c: the public collectives: check, start, wait. */
/* SPDX-License-Identifier: MIT */
#include "coll/comm.h"

enum wring_status comm_record(struct wring_comm *comm, const struct wring_error *error)
{
	comm->last = *error;
	return error->status;
}

enum wring_status comm_check(struct wring_comm *comm, const char *function)
{
	enum wring_status status;
	struct wring_error error;

	if (!comm)
		return WRING_ERR_INVALID;
	if (!comm->transport) {
		(void)error_set(&error, WRING_ERR_STATE, "%s: the communicator was destroyed",
				function);
		return comm_record(comm, &error);
	}
	engine_lock(&comm->engine);
	if (transport_status(comm->transport))
		transport_settle(comm->transport);
	status = transport_status(comm->transport);
	engine_unlock(&comm->engine);
	return status;
}

/* Check and queue; the lock is held. */
static enum wring_status start_call(struct wring_comm *comm, const struct call *call,
				    struct wring_request **request)
{
	struct wring_error error;
	enum wring_status status = coll_check(call, comm->size, &error);

	if (!status)
		status = coll_start(comm->coll, call, request, &error);
	return status ? comm_record(comm, &error) : WRING_OK;
}

/* The request is done: consume it. The first to see a failure settles it with the peers. */
static enum wring_status end_request(struct wring_comm *comm, struct wring_request **request)
{
	enum wring_status status = coll_status(*request);

	if (status) {
		transport_settle(comm->transport);
		status = transport_status(comm->transport);
	}
	coll_release(*request);
	*request = NULL;
	return status;
}

static enum wring_status wait_request(struct wring_comm *comm, struct wring_request **request)
{
	struct idle idle = {0};
	uint64_t moved;

	while (!coll_done(*request)) {
		moved = coll_moved(comm->coll);
		coll_progress(comm->coll);
		if (coll_moved(comm->coll) == moved && !coll_done(*request))
			coll_idle(comm->coll, *request, &idle);
	}
	return end_request(comm, request);
}

static enum wring_status run_call(struct wring_comm *comm, const char *function,
				  const struct call *call)
{
	enum wring_status status = comm_check(comm, function);
	struct wring_request *request;

	if (status)
		return status;
	engine_lock(&comm->engine);
	status = start_call(comm, call, &request);
	if (!status)
		status = wait_request(comm, &request);
	engine_unlock(&comm->engine);
	return status;
}

static enum wring_status run_icall(struct wring_comm *comm, const char *function,
				   const struct call *call, struct wring_request **request)
{
	enum wring_status status = comm_check(comm, function);
	struct wring_error error;

	if (status)
		return status;
	if (!request) {
		(void)error_set(&error, WRING_ERR_INVALID, "%s: request is NULL", function);
		return comm_record(comm, &error);
	}
	engine_lock(&comm->engine);
	status = start_call(comm, call, request);
	engine_wake(&comm->engine);
	engine_unlock(&comm->engine);
	return status;
}

static struct call allreduce_call(const void *sendbuf, void *recvbuf, size_t count,
				  enum wring_datatype datatype, enum wring_op op)
{
	return call_measured((struct call){
		.collective = COLLECTIVE_ALLREDUCE,
		.sendbuf = sendbuf,
		.recvbuf = recvbuf,
		.count = count,
		.datatype = datatype,
		.op = op,
		.root = -1,
	});
}

static struct call broadcast_call(void *buf, size_t count, enum wring_datatype datatype, int root)
{
	return call_measured((struct call){
		.collective = COLLECTIVE_BROADCAST,
		.sendbuf = buf,
		.recvbuf = buf,
		.count = count,
		.datatype = datatype,
		.root = root,
	});
}

static const struct call barrier_call = {.collective = COLLECTIVE_BARRIER, .root = -1, .elem = 1};

enum wring_status wring_allreduce(struct wring_comm *comm, const void *sendbuf, void *recvbuf,
				  size_t count, enum wring_datatype datatype, enum wring_op op)
{
	struct call call = allreduce_call(sendbuf, recvbuf, count, datatype, op);

	return run_call(comm, "wring_allreduce", &call);
}

enum wring_status wring_broadcast(struct wring_comm *comm, void *buf, size_t count,
				  enum wring_datatype datatype, int root)
{
	struct call call = broadcast_call(buf, count, datatype, root);

	return run_call(comm, "wring_broadcast", &call);
}

enum wring_status wring_barrier(struct wring_comm *comm)
{
	return run_call(comm, "wring_barrier", &barrier_call);
}

enum wring_status wring_iallreduce(struct wring_comm *comm, const void *sendbuf, void *recvbuf,
				   size_t count, enum wring_datatype datatype, enum wring_op op,
				   struct wring_request **request)
{
	struct call call = allreduce_call(sendbuf, recvbuf, count, datatype, op);

	return run_icall(comm, "wring_iallreduce", &call, request);
}

enum wring_status wring_ibroadcast(struct wring_comm *comm, void *buf, size_t count,
				   enum wring_datatype datatype, int root,
				   struct wring_request **request)
{
	struct call call = broadcast_call(buf, count, datatype, root);

	return run_icall(comm, "wring_ibroadcast", &call, request);
}

enum wring_status wring_ibarrier(struct wring_comm *comm, struct wring_request **request)
{
	return run_icall(comm, "wring_ibarrier", &barrier_call, request);
}

enum wring_status wring_test(struct wring_request **request, int *done)
{
	enum wring_status status = WRING_OK;
	struct wring_comm *comm;

	if (!request || !done)
		return WRING_ERR_INVALID;
	if (!*request) {
		*done = 1;
		return WRING_OK;
	}
	comm = coll_owner(*request);
	engine_lock(&comm->engine);
	if (!coll_done(*request))
		coll_progress(comm->coll);
	if (coll_done(*request))
		status = end_request(comm, request);
	else
		coll_look(comm->coll, *request);
	*done = !*request;
	engine_unlock(&comm->engine);
	return status;
}

enum wring_status wring_wait(struct wring_request **request)
{
	enum wring_status status;
	struct wring_comm *comm;

	if (!request)
		return WRING_ERR_INVALID;
	if (!*request)
		return WRING_OK;
	comm = coll_owner(*request);
	engine_lock(&comm->engine);
	status = wait_request(comm, request);
	engine_unlock(&comm->engine);
	return status;
}

enum wring_status wring_waitall(size_t n, struct wring_request **requests)
{
	enum wring_status status, first = WRING_OK;

	if (n && !requests)
		return WRING_ERR_INVALID;
	for (size_t i = 0; i < n; i++) {
		status = wring_wait(&requests[i]);
		if (status && !first)
			first = status;
	}
	return first;
}
