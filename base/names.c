/* names.c: what the numbers of wring.h are called. */
/* SPDX-License-Identifier: MIT */
#include "base/names.h"

static const struct {
	const char *name;
	size_t size;
	bool floating;
} datatypes[] = {
	[WRING_INT8] = {"int8", 1, false},	[WRING_UINT8] = {"uint8", 1, false},
	[WRING_INT32] = {"int32", 4, false},	[WRING_UINT32] = {"uint32", 4, false},
	[WRING_INT64] = {"int64", 8, false},	[WRING_UINT64] = {"uint64", 8, false},
	[WRING_FLOAT16] = {"float16", 2, true}, [WRING_BFLOAT16] = {"bfloat16", 2, true},
	[WRING_FLOAT32] = {"float32", 4, true}, [WRING_FLOAT64] = {"float64", 8, true},
};

enum { DATATYPES = sizeof(datatypes) / sizeof(datatypes[0]) };
const enum wring_datatype names_last_datatype = (enum wring_datatype)(DATATYPES - 1);

static const char *const op_names[] = {
	[WRING_SUM] = "sum", [WRING_PROD] = "prod", [WRING_MIN] = "min",
	[WRING_MAX] = "max", [WRING_AVG] = "avg",
};

enum { OPS = sizeof(op_names) / sizeof(op_names[0]) };
const enum wring_op names_last_op = (enum wring_op)(OPS - 1);

static const char *const transport_names[] = {
	[WRING_TRANSPORT_AUTO] = "auto",
	[WRING_TRANSPORT_SHM] = "shm",
	[WRING_TRANSPORT_VERBS] = "verbs",
};

const char *wring_version(void)
{
	return "0.1";
}

const char *wring_strerror(enum wring_status status)
{
	switch (status) {
	case WRING_OK:
		return "success";
	case WRING_ERR_INVALID:
		return "invalid argument";
	case WRING_ERR_STATE:
		return "not allowed in this state";
	case WRING_ERR_NOMEM:
		return "out of memory";
	case WRING_ERR_UNSUPPORTED:
		return "not supported";
	case WRING_ERR_NO_DEVICE:
		return "no usable RDMA device";
	case WRING_ERR_MISMATCH:
		return "ranks disagree";
	case WRING_ERR_PEER:
		return "a peer was lost";
	case WRING_ERR_TIMEOUT:
		return "timed out";
	case WRING_ERR_TRANSPORT:
		return "transport failure";
	case WRING_ERR_BOOTSTRAP:
		return "bootstrap failure";
	case WRING_ERR_SYSTEM:
		return "system call failed";
	case WRING_ERR_ABORTED:
		return "aborted by a rank";
	}
	return "unknown";
}

const char *wring_datatype_name(enum wring_datatype datatype)
{
	return (unsigned)datatype < DATATYPES ? datatypes[datatype].name : "unknown";
}

size_t wring_datatype_size(enum wring_datatype datatype)
{
	return (unsigned)datatype < DATATYPES ? datatypes[datatype].size : 0;
}

bool names_is_floating(enum wring_datatype datatype)
{
	return (unsigned)datatype < DATATYPES && datatypes[datatype].floating;
}

const char *wring_op_name(enum wring_op op)
{
	return (unsigned)op < OPS ? op_names[op] : "unknown";
}

const char *wring_transport_name(enum wring_transport transport)
{
	return (unsigned)transport <= WRING_TRANSPORT_VERBS ? transport_names[transport]
							    : "unknown";
}
