/* allreduce_ring.h: the phases of an all-reduce around the ring; allreduce_direct has them too. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_ALLREDUCE_RING_H
#define COLL_ALLREDUCE_RING_H

#include "coll/ring.h"

/* ring_begin with reduce-scatter, then all-gather. */
void allreduce_ring_begin(struct wring_request *request, struct ring_state *ring);

#endif
