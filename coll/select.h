/* select.h: which algorithm a call uses. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_SELECT_H
#define COLL_SELECT_H

#include <stddef.h>

struct algorithm;
struct call;
struct coll;

/* Never NULL. Alike on all ranks that make the same call. */
const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call);

/* What the state of any algorithm takes in a communicator of that size, at most. */
size_t select_state_bytes(int size);

#endif
