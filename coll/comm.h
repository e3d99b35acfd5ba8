/* comm.h: struct wring_comm, what the public functions see. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_COMM_H
#define COLL_COMM_H

#include "coll/engine.h"

/* Memory from wring_alloc that outlives its communicator. */
struct orphan {
	void *base;
	size_t len;
};

struct wring_comm {
	int rank, size;
	struct transport *transport; /* NULL: destroyed; only orphans are left */
	struct coll *coll;
	struct engine engine;
	struct wring_error last; /* of the last failed call */
	struct orphan *orphans;
	size_t n_orphans;
};

/* Record a failed call and return its status. */
enum wring_status comm_record(struct wring_comm *comm, const struct wring_error *error);

/* NULL and broken communicators are refused: INVALID, or, if broken, the first cause, which is
 * settled with the peers before it is told. */
enum wring_status comm_check(struct wring_comm *comm, const char *function);

/* wring_alloc memory stays until wring_free: remember its length before the transport goes. */
void comm_keep_orphans(struct wring_comm *comm);

/* Free the struct of a destroyed communicator when the last memory is gone. */
void comm_free_if_empty(struct wring_comm *comm);

#endif
