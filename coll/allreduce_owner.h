/* allreduce_owner.h: chunks to their owners and back; also the way of allreduce_direct. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_ALLREDUCE_OWNER_H
#define COLL_ALLREDUCE_OWNER_H

#include "coll/request.h"

/* How many peers each step is done with, in ring order beginning after this rank. */
struct owner_state {
	int contributions_sent, contributions_arrived;
	bool reduced; /* the own chunk */
	int reduced_sent, reduced_taken;
};

/* Does a chunk fit in every slot? */
bool owner_fits(const struct coll *coll, const struct call *call);

/* Links with all peers are joined. True when all is done; nothing is taken unless may_take. */
bool owner_progress(struct wring_request *request, struct owner_state *state, bool may_take);

#endif
