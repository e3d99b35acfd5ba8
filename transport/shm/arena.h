/* arena.h: one memfd per rank: a header, the areas of all peers, then wring_alloc's memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_SHM_ARENA_H
#define TRANSPORT_SHM_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wring.h"

/*
 * The file
 *
 *   0          struct arena_header (one page): who made this, and is its rank asleep?
 *   4096       areas, one per peer (link.h); [0, head_len) is mapped once by owner and peers
 *   64 MiB...  wring_alloc, each mapped on its own by the owner. A peer maps whole windows of
 *              ARENA_WINDOW bytes: nothing of a window or less crosses a window's border, longer
 *              ranges begin at one.
 *
 * The file has no name, so nothing is left behind when a process dies; it is sealed against
 * shrinking, so a peer's map never becomes invalid; pages are allocated when they are promised.
 */

#define ARENA_PAGE   4096
#define ARENA_WINDOW ((uint64_t)64 << 20)

struct arena_header {
	uint64_t nonce[2];
	uint32_t holders; /* atomic: who in the owner's process uses the owner's map of the head */
	uint32_t reserved_word;
	uint64_t reserved[5];
	uint32_t asleep; /* atomic: this rank sleeps, or is about to; alone in its cache line */
	uint32_t reserved_line[15];
};

struct arena_range {
	uint64_t offset;
	size_t len;
};

struct arena {
	int fd;
	unsigned char *base; /* maps [0, head_len) */
	size_t head_len;
	struct arena_range *ranges; /* wring_alloc: sorted by offset */
	size_t n, room;
};

static inline struct arena_header *arena_header(const struct arena *arena)
{
	return (struct arena_header *)arena->base;
}

/* Make the file with its header page only. */
enum wring_status arena_open(struct arena **arena, struct wring_error *error);

/* Once, before any peer has mapped it: enlarge the head to len bytes. */
enum wring_status arena_grow_head(struct arena *arena, size_t len, struct wring_error *error);

/* Allocate and map len bytes (rounded up to pages); outputs only on success. */
enum wring_status arena_alloc(struct arena *arena, size_t len, void **base, uint64_t *offset,
			      struct wring_error *error);

/* Give the pages back; base and len are what was mapped. */
void arena_free(struct arena *arena, void *base, uint64_t offset, size_t len);

/* Ranks that are threads of one process use the owner's map of the head: it stays until the last
 * of them, the owner included, lets go of it. */
void arena_hold_head(void *base);
void arena_drop_head(void *base, size_t head_len);

/* Let go of the head and close the file; memory of arena_alloc stays mapped. NULL is fine. */
void arena_close(struct arena *arena);

size_t arena_round_to_page(size_t len);

#endif
