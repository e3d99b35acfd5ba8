/* arguments.c: what each collective takes; refuses wrong arguments before anything changes. */
/* SPDX-License-Identifier: MIT */
#include "base/names.h"
#include "coll/coll.h"

static const struct {
	const char *name;
	bool has_op, has_root, has_data;
} collectives[] = {
	[COLLECTIVE_ALLREDUCE] = {"allreduce", .has_op = true, .has_data = true},
	[COLLECTIVE_BROADCAST] = {"broadcast", .has_root = true, .has_data = true},
	[COLLECTIVE_BARRIER] = {"barrier", .has_data = false},
};

const char *collective_name(int collective)
{
	int n = (int)(sizeof(collectives) / sizeof(collectives[0]));

	return collective > 0 && collective < n ? collectives[collective].name : "unknown";
}

static const char *name_of(const struct call *call)
{
	return collectives[call->collective].name;
}

static enum wring_status check_datatype(const struct call *call, struct wring_error *error)
{
	if (call->elem == 0)
		return error_set(
			error, WRING_ERR_INVALID,
			"wring_%s: datatype %d is unknown; use 0 (%s) to %d (%s)", name_of(call),
			(int)call->datatype, wring_datatype_name((enum wring_datatype)0),
			(int)names_last_datatype, wring_datatype_name(names_last_datatype));
	if (call->count > SIZE_MAX / call->elem)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_%s: count %zu x %zu bytes overflows; count is in elements",
				 name_of(call), call->count, call->elem);
	return WRING_OK;
}

static enum wring_status check_op(const struct call *call, struct wring_error *error)
{
	if ((unsigned)call->op > (unsigned)names_last_op)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_%s: op %d is unknown; use 0 (%s) to %d (%s)", name_of(call),
				 (int)call->op, wring_op_name((enum wring_op)0), (int)names_last_op,
				 wring_op_name(names_last_op));
	if (call->op == WRING_AVG && !names_is_floating(call->datatype))
		return error_set(
			error, WRING_ERR_UNSUPPORTED,
			"wring_%s: op avg of %s is not defined here; use sum and divide, or a "
			"floating datatype",
			name_of(call), wring_datatype_name(call->datatype));
	return WRING_OK;
}

static enum wring_status refuse(const struct call *call, const char *what,
				struct wring_error *error)
{
	return error_set(error, WRING_ERR_INVALID, "wring_%s: %s", name_of(call), what);
}

static enum wring_status check_buffers(const struct call *call, struct wring_error *error)
{
	uintptr_t send = (uintptr_t)call->sendbuf, recv = (uintptr_t)call->recvbuf;
	uintptr_t gap = send < recv ? recv - send : send - recv;

	if (call->bytes == 0)
		return WRING_OK;
	if (!call->sendbuf)
		return refuse(call,
			      collectives[call->collective].has_root
				      ? "buf is NULL and count is not 0"
				      : "sendbuf is NULL and count is not 0; in place is "
					"sendbuf == recvbuf",
			      error);
	if (!call->recvbuf)
		return refuse(call, "recvbuf is NULL and count is not 0", error);
	if (gap != 0 && gap < call->bytes)
		return error_set(
			error, WRING_ERR_INVALID,
			"wring_%s: sendbuf %p and recvbuf %p overlap within %zu bytes; pass the "
			"same pointer twice for in place, or separate buffers",
			name_of(call), call->sendbuf, call->recvbuf, call->bytes);
	return WRING_OK;
}

static enum wring_status check_root(const struct call *call, int size, struct wring_error *error)
{
	if (call->root >= 0 && call->root < size)
		return WRING_OK;
	return error_set(error, WRING_ERR_INVALID, "wring_%s: root %d is outside 0..%d",
			 name_of(call), call->root, size - 1);
}

enum wring_status coll_check(const struct call *call, int size, struct wring_error *error)
{
	enum wring_status status;

	if (!collectives[call->collective].has_data)
		return WRING_OK;
	status = check_datatype(call, error);
	if (!status && collectives[call->collective].has_op)
		status = check_op(call, error);
	if (!status && collectives[call->collective].has_root)
		status = check_root(call, size, error);
	return status ? status : check_buffers(call, error);
}
