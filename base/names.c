/* names.c: what the numbers of wring.h are called. */
#include "wring.h"

static const size_t datatype_sizes[] = {
	[WRING_INT8] = 1,    [WRING_UINT8] = 1,	  [WRING_INT32] = 4,   [WRING_UINT32] = 4,
	[WRING_INT64] = 8,   [WRING_UINT64] = 8,  [WRING_FLOAT16] = 2, [WRING_BFLOAT16] = 2,
	[WRING_FLOAT32] = 4, [WRING_FLOAT64] = 8,
};

static const char *const datatype_names[] = {
	[WRING_INT8] = "int8",	     [WRING_UINT8] = "uint8",	    [WRING_INT32] = "int32",
	[WRING_UINT32] = "uint32",   [WRING_INT64] = "int64",	    [WRING_UINT64] = "uint64",
	[WRING_FLOAT16] = "float16", [WRING_BFLOAT16] = "bfloat16", [WRING_FLOAT32] = "float32",
	[WRING_FLOAT64] = "float64",
};

static const char *const op_names[] = {
	[WRING_SUM] = "sum", [WRING_PROD] = "prod", [WRING_MIN] = "min",
	[WRING_MAX] = "max", [WRING_AVG] = "avg",
};

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
	return (unsigned)datatype <= WRING_FLOAT64 ? datatype_names[datatype] : "unknown";
}

size_t wring_datatype_size(enum wring_datatype datatype)
{
	return (unsigned)datatype <= WRING_FLOAT64 ? datatype_sizes[datatype] : 0;
}

const char *wring_op_name(enum wring_op op)
{
	return (unsigned)op <= WRING_AVG ? op_names[op] : "unknown";
}

const char *wring_transport_name(enum wring_transport transport)
{
	return (unsigned)transport <= WRING_TRANSPORT_VERBS ? transport_names[transport]
							    : "unknown";
}
