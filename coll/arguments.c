/* arguments.c: refuses wrong arguments before anything is changed. */
#include "coll/coll.h"

static enum wring_status refuse(struct wring_error *error, const char *function, const char *what)
{
	return error_set(error, WRING_ERR_INVALID, "%s: %s", function, what);
}

static const char *function_name(const struct call *call)
{
	switch (call->collective) {
	case COLLECTIVE_ALLREDUCE:
		return "wring_allreduce";
	case COLLECTIVE_BROADCAST:
		return "wring_broadcast";
	case COLLECTIVE_BARRIER:
	default:
		return "wring_barrier";
	}
}

static enum wring_status check_datatype(const struct call *call, struct wring_error *error)
{
	size_t elem = wring_datatype_size(call->datatype);

	if (elem == 0)
		return error_set(
			error, WRING_ERR_INVALID,
			"%s: datatype %d is unknown; use WRING_INT8 (0) to WRING_FLOAT64 (9)",
			function_name(call), (int)call->datatype);
	if (call->count > SIZE_MAX / elem)
		return error_set(error, WRING_ERR_INVALID,
				 "%s: count %zu x %zu bytes overflows; count is in elements",
				 function_name(call), call->count, elem);
	return WRING_OK;
}

static bool is_floating(enum wring_datatype datatype)
{
	return datatype >= WRING_FLOAT16 && datatype <= WRING_FLOAT64;
}

static enum wring_status check_op(const struct call *call, struct wring_error *error)
{
	if ((int)call->op < WRING_SUM || (int)call->op > WRING_AVG)
		return error_set(error, WRING_ERR_INVALID,
				 "%s: op %d is unknown; use WRING_SUM (0) to WRING_AVG (4)",
				 function_name(call), (int)call->op);
	if (call->op == WRING_AVG && !is_floating(call->datatype))
		return error_set(error, WRING_ERR_UNSUPPORTED,
				 "%s: op avg of %s is not defined here; use sum and divide, or a "
				 "floating datatype",
				 function_name(call), wring_datatype_name(call->datatype));
	return WRING_OK;
}

static enum wring_status check_buffers(const struct call *call, struct wring_error *error)
{
	uintptr_t send = (uintptr_t)call->sendbuf, recv = (uintptr_t)call->recvbuf;
	size_t bytes = call->count * wring_datatype_size(call->datatype);
	uintptr_t gap = send < recv ? recv - send : send - recv;

	if (bytes == 0)
		return WRING_OK;
	if (!call->sendbuf)
		return refuse(error, function_name(call),
			      call->collective == COLLECTIVE_BROADCAST
				      ? "buf is NULL and count is not 0"
				      : "sendbuf is NULL and count is not 0; in place is "
					"sendbuf == recvbuf");
	if (!call->recvbuf)
		return refuse(error, function_name(call), "recvbuf is NULL and count is not 0");
	if (gap != 0 && gap < bytes)
		return error_set(error, WRING_ERR_INVALID,
				 "%s: sendbuf %p and recvbuf %p overlap within %zu bytes; pass the "
				 "same pointer twice for in place, or separate buffers",
				 function_name(call), call->sendbuf, call->recvbuf, bytes);
	return WRING_OK;
}

enum wring_status coll_check(const struct call *call, int size, struct wring_error *error)
{
	enum wring_status status;

	if (call->collective == COLLECTIVE_BARRIER)
		return WRING_OK;
	status = check_datatype(call, error);
	if (!status && call->collective == COLLECTIVE_ALLREDUCE)
		status = check_op(call, error);
	if (!status && call->collective == COLLECTIVE_BROADCAST &&
	    (call->root < 0 || call->root >= size))
		return error_set(error, WRING_ERR_INVALID,
				 "wring_broadcast: root %d is outside 0..%d", call->root, size - 1);
	return status ? status : check_buffers(call, error);
}
