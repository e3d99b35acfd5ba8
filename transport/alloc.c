/* alloc.c: wring_alloc and wring_register, seen from the transport. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "transport/shm/arena.h"
#include "transport/transport_state.h"

/* Undo it for the first n back ends, the last one first. */
static void deregister(struct transport *t, int n, struct region *region)
{
	while (n--)
		t->back_ends[n]->ops->deregister_region(t->back_ends[n], region);
}

static enum wring_status add_region(struct transport *t, struct region *region,
				    struct wring_error *error)
{
	enum wring_status status = WRING_OK;
	int n = 0;

	while (!status && n < t->n_back_ends) {
		status = t->back_ends[n]->ops->register_region(t->back_ends[n], region, error);
		n += !status;
	}
	if (!status && !region_add(&t->regions, region))
		status = error_set(error, WRING_ERR_NOMEM, "no memory for a table of %zu regions",
				   t->regions.n + 1);
	if (status)
		deregister(t, n, region);
	return status;
}

enum wring_status transport_alloc(struct transport *transport, size_t len, void **buf,
				  struct wring_error *error)
{
	struct region region = {.owned = true};
	enum wring_status status;
	void *base = NULL;

	status = arena_alloc(transport->arena, len, &base, &region.file_offset, error);
	if (status)
		return status;
	region.base = base;
	region.len = arena_round_to_page(len ? len : 1);
	status = add_region(transport, &region, error);
	if (status) {
		arena_free(transport->arena, base, region.file_offset, region.len);
		return status;
	}
	*buf = base;
	return WRING_OK;
}

static bool remove_region(struct transport *t, const void *buf, bool owned, struct region *region)
{
	const struct region *found = region_find(&t->regions, buf, 1);

	if (!found || found->base != buf || found->owned != owned)
		return false;
	(void)region_remove(&t->regions, buf, region);
	deregister(t, t->n_back_ends, region);
	return true;
}

bool transport_free(struct transport *transport, void *buf)
{
	struct region region;

	if (!remove_region(transport, buf, true, &region))
		return false;
	arena_free(transport->arena, region.base, region.file_offset, region.len);
	return true;
}

enum wring_status transport_register(struct transport *transport, void *buf, size_t len,
				     struct wring_error *error)
{
	struct region region = {.base = buf, .len = len};

	if (len > UINTPTR_MAX - (uintptr_t)buf)
		return error_set(
			error, WRING_ERR_INVALID,
			"wring_register: len %zu from %p on goes beyond the end of memory; "
			"len is in bytes",
			len, buf);
	if (region_overlaps(&transport->regions, buf, len))
		return error_set(error, WRING_ERR_INVALID,
				 "wring_register: [%p, +%zu) overlaps memory that is registered or "
				 "came from wring_alloc already; deregister it first",
				 buf, len);
	return add_region(transport, &region, error);
}

bool transport_deregister(struct transport *transport, void *buf)
{
	struct region region;

	return remove_region(transport, buf, false, &region);
}

void transport_drop_regions(struct transport *transport)
{
	for (size_t i = 0; i < transport->regions.n; i++)
		deregister(transport, transport->n_back_ends, &transport->regions.items[i]);
	free(transport->regions.items);
}

void transport_each_owned(const struct transport *transport,
			  void (*visit)(void *ctx, void *base, size_t len), void *ctx)
{
	for (size_t i = 0; i < transport->regions.n; i++)
		if (transport->regions.items[i].owned)
			visit(ctx, transport->regions.items[i].base,
			      transport->regions.items[i].len);
}
