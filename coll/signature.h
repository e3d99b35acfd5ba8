/* signature.h: do the ranks call the same collectives in the same order? */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_SIGNATURE_H
#define COLL_SIGNATURE_H

#include "transport/transport.h"

struct coll;
struct wring_request;

/* A difference of signatures is MISMATCH and names both ranks and the field. */
bool signature_agrees(struct wring_request *request, int peer, const struct signature *theirs);

/* The slow look at every link: what stands at its head, and in which operation that peer waits for
 * this rank. */
void signature_watch(struct coll *coll);

/* This request has waited for a long time: tell the peer for which it waits. */
void signature_tell(struct wring_request *request);

#endif
