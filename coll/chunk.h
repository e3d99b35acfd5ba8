/* chunk.h: the slicing of a vector into chunks and segments. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_CHUNK_H
#define COLL_CHUNK_H

#include <stddef.h>

#include "base/cache_line.h"

/* A run of elements: one chunk for each rank, cut into many segments. */
struct slice {
	size_t offset, count;
};

/* How many pieces of at most `each` elements hold count elements; each is at least 1. */
static inline size_t pieces(size_t count, size_t each)
{
	return count == 0 ? 0 : (count - 1) / each + 1;
}

/* The elements of a full chunk: count / size, rounded up to whole cache lines. */
static inline size_t chunk_elems(size_t count, size_t datatype_size, int size)
{
	size_t line = CACHE_LINE / datatype_size;
	size_t lines = pieces(pieces(count, (size_t)size), line);

	return lines > (size_t)-1 / line ? (size_t)-1 : lines * line;
}

/* The chunk owned by the rank at ring position `chunk`; the last ones may be short or empty. */
static inline struct slice chunk_slice(size_t count, size_t datatype_size, int size, int chunk)
{
	size_t full = chunk_elems(count, datatype_size, size);
	struct slice slice = {.offset = count, .count = 0};

	if (count == 0 || (size_t)chunk > count / full)
		return slice;
	slice.offset = (size_t)chunk * full;
	slice.count = count - slice.offset < full ? count - slice.offset : full;
	return slice;
}

/* How many segments of at most segment_elems elements a chunk has; none when it is empty. */
static inline size_t segment_count(struct slice chunk, size_t segment_elems)
{
	return pieces(chunk.count, segment_elems);
}

/* Segment number index, which is less than segment_count, of a chunk. */
static inline struct slice segment_slice(struct slice chunk, size_t segment_elems, size_t index)
{
	size_t before = index * segment_elems;
	size_t rest = chunk.count - before;

	return (struct slice){.offset = chunk.offset + before,
			      .count = rest < segment_elems ? rest : segment_elems};
}

#endif
