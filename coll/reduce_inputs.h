/* reduce_inputs.h: one message from each peer, all of the same elements, reduced at once. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REDUCE_INPUTS_H
#define COLL_REDUCE_INPUTS_H

#include "coll/ring.h"

/* Has the head come from every peer? arrived: how many are known to have, beginning after this
 * rank. They stay where they are. */
bool reduce_inputs_arrived(struct wring_request *request, int *arrived, size_t bytes);

/* Note where each position's input is; the own one is copied if the result would overwrite it.
 * False: what had arrived is not to be seen any more, for the transport has failed meanwhile. */
bool reduce_inputs_collect(struct wring_request *request, const void *own, size_t bytes);

/* Reduce a slice of owner's chunk into recvbuf, as owner does it; inputs begin at element first. */
void reduce_inputs(struct wring_request *request, int owner, struct slice slice, size_t first);

void reduce_inputs_consume(struct wring_request *request);

#endif
