/* sizes.h: how large messages are, by what they cost on one host and on a network. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_SIZES_H
#define COLL_SIZES_H

#include <stdbool.h>
#include <stddef.h>

struct coll;

/* The largest eager_bytes. */
enum { SIZES_MOST_EAGER = 65536 };

/* What every slot must hold besides its header; eager_bytes: the setting, -1: built-in. */
size_t sizes_slot(int size, bool network, int eager_bytes);

/* Up to which size a vector goes to every rank at once. */
size_t sizes_eager(const struct coll *coll);

/* The same for broadcasts: a parent sends to each child. */
size_t sizes_tree(const struct coll *coll);

/* Up to which size a chunk goes to its owner at once. */
size_t sizes_chunk(const struct coll *coll);

/* A segment of a pipeline, given the bytes that it would like: whole cache lines. */
size_t sizes_segment(const struct coll *coll, size_t bytes);

#endif
