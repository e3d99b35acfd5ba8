/* region.c: a sorted array of regions. */
/* SPDX-License-Identifier: MIT */
#include "transport/region.h"

#include <stdlib.h>
#include <string.h>

/* The number of regions that begin at or before address. */
static size_t count_up_to(const struct regions *regions, uintptr_t address)
{
	size_t low = 0, high = regions->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)regions->items[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct region *region_find(const struct regions *regions, const void *buf, size_t len)
{
	size_t n = count_up_to(regions, (uintptr_t)buf);
	const struct region *region;
	size_t offset;

	if (n == 0 || len == 0)
		return NULL;
	region = &regions->items[n - 1];
	offset = (uintptr_t)buf - (uintptr_t)region->base;
	return offset < region->len && len <= region->len - offset ? region : NULL;
}

bool region_overlaps(const struct regions *regions, const void *buf, size_t len)
{
	uintptr_t begin = (uintptr_t)buf;
	size_t n = count_up_to(regions, begin);

	if (n > 0 && begin - (uintptr_t)regions->items[n - 1].base < regions->items[n - 1].len)
		return true;
	return n < regions->n && (uintptr_t)regions->items[n].base - begin < len;
}

static bool grow(struct regions *regions)
{
	size_t room = regions->room ? 2 * regions->room : 16;
	struct region *items = realloc(regions->items, room * sizeof(*items));

	if (!items)
		return false;
	regions->items = items;
	regions->room = room;
	return true;
}

bool region_add(struct regions *regions, const struct region *region)
{
	size_t n;

	if (regions->n == regions->room && !grow(regions))
		return false;
	n = count_up_to(regions, (uintptr_t)region->base);
	memmove(&regions->items[n + 1], &regions->items[n],
		(regions->n - n) * sizeof(*regions->items));
	regions->items[n] = *region;
	regions->n++;
	return true;
}

bool region_remove(struct regions *regions, const void *base, struct region *out)
{
	size_t n = count_up_to(regions, (uintptr_t)base);

	if (n == 0 || regions->items[n - 1].base != base)
		return false;
	*out = regions->items[n - 1];
	memmove(&regions->items[n - 1], &regions->items[n],
		(regions->n - n) * sizeof(*regions->items));
	regions->n--;
	return true;
}
