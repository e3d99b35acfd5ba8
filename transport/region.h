/* region.h: the memory that peers may be told about: from wring_alloc or wring_register. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_REGION_H
#define TRANSPORT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region {
	unsigned char *base;
	size_t len;
	bool owned;	      /* wring_alloc: part of our memfd at file_offset */
	uint64_t file_offset; /* owned only */
	void *mr;	      /* verbs: struct ibv_mr *; else NULL */
	uint32_t lkey, rkey;
};

/* Regions of one communicator, sorted by base, never overlapping. */
struct regions {
	struct region *items;
	size_t n, room;
};

/* The region that holds all of [buf, buf + len), or NULL. len 0 finds none. Valid until the next
 * region_add or region_remove. */
const struct region *region_find(const struct regions *regions, const void *buf, size_t len);

/* Does any region touch [buf, buf + len)? */
bool region_overlaps(const struct regions *regions, const void *buf, size_t len);

/* Add a copy; false: no memory. The caller has made sure that nothing overlaps. */
bool region_add(struct regions *regions, const struct region *region);

/* Take out the region that begins at base; *out is what it was. false: there is none. */
bool region_remove(struct regions *regions, const void *base, struct region *out);

#endif
