/* cache_line.h: the unit in which processors share memory. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_CACHE_LINE_H
#define BASE_CACHE_LINE_H

#include <stddef.h>

/* Bytes; slots, headers and chunks are whole numbers of them. A part of the wire format: not asked
 * of the processor. */
enum { CACHE_LINE = 64 };

static inline size_t cache_line_round_up(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

#endif
