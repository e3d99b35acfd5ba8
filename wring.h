/* wring.h: the public interface of Wring, collectives by RDMA Write around a ring. */
/* SPDX-License-Identifier: MIT */
#ifndef WRING_H
#define WRING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define WRING_VERSION_MAJOR 0
#define WRING_VERSION_MINOR 1

#if defined(__GNUC__)
#define WRING_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WRING_MUST_CHECK
#endif

/*
 * How to read this header
 *
 * count        elements, never bytes; any value up to SIZE_MAX / size of the datatype; 0 is an
 *              ordinary small operation with an empty payload: it waits for the other ranks.
 * len          bytes.
 * outputs      are written only on success (struct wring_error: only on failure).
 * threads      a communicator belongs to one thread at a time. Two communicators may be used
 *              by two threads at once.
 * in place     sendbuf == recvbuf. Buffers that overlap in any other way are refused.
 * order        every rank starts the same collectives of a communicator in the same order.
 *
 * What every rank receives is bit-identical, and the order of the reduction is fixed:
 *
 *   the vector is cut into size chunks; each holds the same number of elements, rounded up to
 *   64 bytes, the last ones less or none: chunk c begins at element
 *   min(count, c * L) where L = ceil(ceil(count / size) / A) * A and A = 64 / datatype size.
 *   Chunk c is owned by the rank at ring position c. Its elements are reduced in ring order
 *   beginning after the owner: acc = x[c+1]; acc = acc op x[c+2]; ...; acc = acc op x[c]
 *   (positions modulo size). The accumulator is always the left operand; a NaN in MIN or MAX
 *   gives NaN, and every NaN that comes out is the positive quiet one; MIN and MAX of equal
 *   numbers keep the accumulator. FLOAT16 and BFLOAT16 are computed in float and rounded to
 *   nearest even after each step. AVG is SUM, divided once by size at the end. Integers wrap
 *   around.
 *
 * It depends on the ring order, count and datatype; never on timing, segment size, transport,
 * kind of buffer or algorithm.
 */

/* What a call came to. The classes say what has happened to the communicator. */
enum wring_status {
	WRING_OK = 0,

	/* You have a bug; nothing was changed, no operation number was consumed. */
	WRING_ERR_INVALID = 10, /* an argument; the text names it and its value */
	WRING_ERR_STATE = 11,	/* not in this state: already destroyed, MPI not initialised... */

	/* Not possible here; nothing was changed. */
	WRING_ERR_NOMEM = 20,	    /* memory; the text says how much was wanted */
	WRING_ERR_UNSUPPORTED = 21, /* e.g. WRING_AVG of integers */
	WRING_ERR_NO_DEVICE = 22,   /* no RDMA device fits; the text says what to run next */

	/* The communicator is broken: only free, deregister, test, wait, error, destroy remain. */
	WRING_ERR_MISMATCH = 30,  /* ranks disagree on collective, count, datatype, op or root */
	WRING_ERR_PEER = 31,	  /* a peer died or became unreachable */
	WRING_ERR_TIMEOUT = 32,	  /* nothing moved for timeout_ms */
	WRING_ERR_TRANSPORT = 33, /* a verbs call or a completion failed */
	WRING_ERR_BOOTSTRAP = 34, /* the ranks could not be introduced to each other */
	WRING_ERR_SYSTEM = 35,	  /* a system call failed; native holds errno */
	WRING_ERR_ABORTED = 36	  /* a rank called wring_comm_abort */
};

enum wring_datatype {
	WRING_INT8 = 0,
	WRING_UINT8 = 1,
	WRING_INT32 = 2,
	WRING_UINT32 = 3,
	WRING_INT64 = 4,
	WRING_UINT64 = 5,
	WRING_FLOAT16 = 6,
	WRING_BFLOAT16 = 7,
	WRING_FLOAT32 = 8,
	WRING_FLOAT64 = 9
};

/* WRING_AVG: floating datatypes only. */
enum wring_op { WRING_SUM = 0, WRING_PROD = 1, WRING_MIN = 2, WRING_MAX = 3, WRING_AVG = 4 };

enum wring_transport {
	WRING_TRANSPORT_AUTO = 0,
	WRING_TRANSPORT_SHM = 1,
	WRING_TRANSPORT_VERBS = 2
};

enum wring_ring { WRING_RING_HOST = 0, WRING_RING_RANK = 1 };

enum wring_wait_policy {
	WRING_WAIT_AUTO = 0,
	WRING_WAIT_SPIN = 1,
	WRING_WAIT_YIELD = 2,
	WRING_WAIT_EVENT = 3
};

enum wring_progress { WRING_PROGRESS_NONE = 0, WRING_PROGRESS_THREAD = 1 };

/* All that is known about a failure. Filled only when a call fails; may always be NULL. */
struct wring_error {
	enum wring_status status;
	int rank;	    /* the rank at fault in this communicator, or -1 */
	int peer;	    /* the other one of a mismatch, or -1 */
	int native;	    /* errno, ibv_wc_status or MPI code; 0 if none */
	uint64_t operation; /* which collective of this communicator, from 1; 0 if none */
	char text[512];	    /* one line: the failed call, the cause, the next thing to try */
	int reserved[4];
};

/*
 * Settings. wring_config_init fills in the defaults; what the program then sets (a field, or
 * wring_config_set) overrides the environment variable named on the right. -1, or an empty
 * string, means "choose", and lets the environment speak. Fields are only ever appended.
 */
struct wring_config {
	size_t size; /* sizeof(struct wring_config) of the program, set by wring_config_init */
	uint64_t set_mask; /* which fields wring_config_set has set; do not touch */

	int transport;	   /* enum wring_transport               WRING_TRANSPORT auto|shm|verbs */
	char device[64];   /* HCA, e.g. "mlx5_0"                 WRING_DEVICE */
	int port;	   /* 1..254                             WRING_PORT */
	int gid_index;	   /* 0..255                             WRING_GID_INDEX */
	int traffic_class; /* 0..255                             WRING_TRAFFIC_CLASS */
	int service_level; /* 0..15                              WRING_SERVICE_LEVEL */
	int qp_timeout;	   /* 1..31, 4.096 us x 2^n              WRING_QP_TIMEOUT */
	int qp_retry;	   /* 0..7                               WRING_QP_RETRY */
	int segment_bytes; /* 1024..8388608, multiple of 64      WRING_SEGMENT_BYTES */
	int slots;	   /* 2..1024, a power of two            WRING_SLOTS */
	int eager_bytes;   /* 0..65536                           WRING_EAGER_BYTES */
	int ring;	   /* enum wring_ring                    WRING_RING host|rank */
	int wait;	   /* enum wring_wait_policy             WRING_WAIT auto|spin|yield|event */
	int progress;	   /* enum wring_progress                WRING_PROGRESS none|thread */
	int stall_ms;	   /* 1..86400000, warn                  WRING_STALL_MS */
	int timeout_ms;	   /* 1..86400000, fail                  WRING_TIMEOUT_MS */
	int peer_timeout_ms; /* 10..600000, a dead peer is noticed WRING_PEER_TIMEOUT_MS */
	char trace[256];     /* file for Chrome trace events       WRING_TRACE */
	char tuning[256];    /* file of algorithm choices          WRING_TUNING */

	/* Warnings go here, one line without newline; NULL: stderr. No environment variable. */
	void (*log)(void *log_ctx, const char *line);
	void *log_ctx;
};

/*
 * Fill config with "choose everything". size is sizeof(struct wring_config) as the program was
 * compiled; nothing beyond it is ever written.
 * INVALID: config is NULL, or size is smaller than the first release's.
 */
WRING_MUST_CHECK enum wring_status wring_config_init(struct wring_config *config, size_t size,
						     struct wring_error *error);

/*
 * Set one field by its name ("segment_bytes", "wait", ...) from text, as its environment
 * variable would. INVALID: NULL, unknown name (the text has the nearest known one), a value out
 * of range (the text has the range).
 */
WRING_MUST_CHECK enum wring_status wring_config_set(struct wring_config *config, const char *name,
						    const char *value, struct wring_error *error);

/*
 * How the ranks reach each other until they are connected. Both calls are blocking and
 * collective, are made in the same order on every rank, only in the thread that is in
 * wring_comm_create, and must end within a time of their own. They return 0 for success.
 */
struct wring_bootstrap {
	size_t struct_size; /* sizeof(struct wring_bootstrap) */
	int rank, size;
	int (*allgather)(void *ctx, const void *in, void *out, size_t len); /* len from each */
	int (*alltoall)(void *ctx, const void *in, void *out, size_t len);  /* len for each */
	void *ctx;
};

struct wring_comm;
struct wring_request;

/*
 * Connect all ranks of bootstrap; collective. config may be NULL. Borrows both until it returns.
 * Gives *comm; end it with wring_comm_destroy. If one rank fails, every rank fails with the same
 * status and text, and nothing remains.
 * INVALID (arguments, settings, WRING_* variables), NOMEM, NO_DEVICE, MISMATCH (settings that must
 * agree differ), PEER, TRANSPORT, BOOTSTRAP, SYSTEM, UNSUPPORTED.
 */
WRING_MUST_CHECK enum wring_status wring_comm_create(const struct wring_bootstrap *bootstrap,
						     const struct wring_config *config,
						     struct wring_comm **comm,
						     struct wring_error *error);

/*
 * Leave the communicator and free it; local, bounded (200 ms for the goodbye), never fails.
 * Requests still in flight are dropped: their handles are dead. NULL is fine. Memory from
 * wring_alloc stays valid, and comm remains good for wring_free of it alone.
 */
void wring_comm_destroy(struct wring_comm *comm);

/*
 * Break the communicator: every rank's calls end with ABORTED and this text. Local, bounded.
 * INVALID: comm is NULL. STATE: it is already broken.
 */
WRING_MUST_CHECK enum wring_status wring_comm_abort(struct wring_comm *comm, const char *text);

/* This rank, and how many there are; -1 for NULL. */
int wring_comm_rank(const struct wring_comm *comm);
int wring_comm_size(const struct wring_comm *comm);

/* The last failed call's error; once the communicator is broken, the first cause for ever. */
void wring_comm_error(const struct wring_comm *comm, struct wring_error *error);

/* How a peer is reached. What does not apply is -1, 0 or "". */
struct wring_peer_info {
	enum wring_transport transport;
	int port, gid_index, lid, mtu, numa_node;
	uint32_t qpn, remote_qpn;
	char device[64], gid[46], host[64];
};

/*
 * Describe the path to a peer; for the own rank: host, numa_node and the device in use. Writes
 * at most size bytes. INVALID: NULL, size 0, peer outside the communicator.
 */
WRING_MUST_CHECK enum wring_status wring_comm_peer(const struct wring_comm *comm, int peer,
						   struct wring_peer_info *info, size_t size);

/*
 * Local. len bytes of page-aligned memory, near to this rank's CPUs, which host peers reach by
 * pointer and the HCA by RDMA. Gives *buf; end it with wring_free. len 0 is one page.
 * INVALID, NOMEM, TRANSPORT (ibv_reg_mr), STATE (broken).
 */
WRING_MUST_CHECK enum wring_status wring_alloc(struct wring_comm *comm, size_t len, void **buf);

/* Local. Frees what wring_alloc gave, also on a broken or destroyed communicator. NULL is fine. */
void wring_free(struct wring_comm *comm, void *buf);

/*
 * Local. Registers the program's own memory with the HCA, so that verbs links read and write it
 * without a copy; without verbs links a note only. The memory must stay mapped until
 * wring_deregister. INVALID (NULL, len 0, overlap with a registered range), NOMEM (the text
 * compares with RLIMIT_MEMLOCK), TRANSPORT, STATE.
 */
WRING_MUST_CHECK enum wring_status wring_register(struct wring_comm *comm, void *buf, size_t len);

/* Local. Undoes wring_register. INVALID: buf is not the start of a registered range.
 * STATE: requests are in flight. */
WRING_MUST_CHECK enum wring_status wring_deregister(struct wring_comm *comm, void *buf);

/*
 * Collectives. All borrow the buffers until they return, or, in the i-forms, until the request
 * completes. All may return INVALID, UNSUPPORTED, NOMEM, STATE (nothing has changed) and MISMATCH,
 * PEER, TIMEOUT, TRANSPORT, SYSTEM, ABORTED (the communicator is broken, recvbuf undefined; a late
 * host peer may even finish a store into it that it had begun).
 */

/* recvbuf on every rank = sendbuf of all ranks, combined element by element with op. */
WRING_MUST_CHECK enum wring_status wring_allreduce(struct wring_comm *comm, const void *sendbuf,
						   void *recvbuf, size_t count,
						   enum wring_datatype datatype, enum wring_op op);

/* buf on every rank = buf of root. It may return before all others have entered: that one of them
 * calls something else is then told by a later call that waits, a barrier at the latest. */
WRING_MUST_CHECK enum wring_status wring_broadcast(struct wring_comm *comm, void *buf, size_t count,
						   enum wring_datatype datatype, int root);

/* Returns when every rank has entered. */
WRING_MUST_CHECK enum wring_status wring_barrier(struct wring_comm *comm);

/*
 * The same without waiting. Gives *request; end it with wring_test, wring_wait or wring_waitall.
 * Several may be in flight; they complete in the order started.
 */
WRING_MUST_CHECK enum wring_status wring_iallreduce(struct wring_comm *comm, const void *sendbuf,
						    void *recvbuf, size_t count,
						    enum wring_datatype datatype, enum wring_op op,
						    struct wring_request **request);
WRING_MUST_CHECK enum wring_status wring_ibroadcast(struct wring_comm *comm, void *buf,
						    size_t count, enum wring_datatype datatype,
						    int root, struct wring_request **request);
WRING_MUST_CHECK enum wring_status wring_ibarrier(struct wring_comm *comm,
						  struct wring_request **request);

/*
 * Make progress; when the request has completed, well or badly, *request = NULL and *done = 1.
 * A NULL *request is complete. INVALID: request or done is NULL; nothing is consumed.
 */
WRING_MUST_CHECK enum wring_status wring_test(struct wring_request **request, int *done);

/* Wait until the request completes; consumes it (*request = NULL) whatever is returned. */
WRING_MUST_CHECK enum wring_status wring_wait(struct wring_request **request);

/* Wait for n requests of one or several communicators; the first error is returned, all end. */
WRING_MUST_CHECK enum wring_status wring_waitall(size_t n, struct wring_request **requests);

/* Text and numbers; never NULL, "unknown" or 0 for a value outside the enum. */
const char *wring_version(void);
const char *wring_strerror(enum wring_status status);
const char *wring_datatype_name(enum wring_datatype datatype);
const char *wring_op_name(enum wring_op op);
const char *wring_transport_name(enum wring_transport transport);
size_t wring_datatype_size(enum wring_datatype datatype);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
