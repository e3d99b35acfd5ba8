/* transport.c: puts up the links of one communicator and takes them down. */
/* SPDX-License-Identifier: MIT */
#include "transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache_line.h"
#include "base/cpus.h"
#include "transport/transport_state.h"

static enum wring_status allocate_tables(struct transport *t, struct wring_error *error)
{
	size_t n = (size_t)t->size;

	t->rank_at = calloc(n, sizeof(*t->rank_at));
	t->links = calloc(n, sizeof(*t->links));
	t->peer_host = calloc(n, sizeof(*t->peer_host));
	if (!t->rank_at || !t->links || !t->peer_host)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %d links", t->size);
	return WRING_OK;
}

static void add_back_end(struct transport *t, struct back_end *back_end)
{
	t->back_ends[t->n_back_ends++] = back_end;
	if (back_end->ops->polls)
		t->polled[t->n_polled++] = back_end;
}

static enum wring_status open_shm(struct transport *t, struct wring_error *error)
{
	struct back_end *shm;
	enum wring_status status = shm_open_back_end(&shm, t->arena, error);

	if (!status)
		add_back_end(t, shm);
	return status;
}

enum wring_status transport_open(struct transport **transport, const struct wring_config *config,
				 int rank, int size, struct wring_error *error)
{
	struct transport *t = calloc(1, sizeof(*t));
	enum wring_status status;

	if (!t)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*t));
	t->rank = rank;
	t->size = size;
	t->config = *config;
	t->numa_node = cpus_numa_node();
	status = allocate_tables(t, error);
	if (!status)
		status = trace_open(&t->trace, config->trace, rank, size, error);
	if (!status)
		status = arena_open(&t->arena, error);
	if (!status)
		status = open_shm(t, error);
	if (status) {
		transport_close(t);
		return status;
	}
	*transport = t;
	return WRING_OK;
}

static bool is_neighbour(const struct transport *t, int position)
{
	int distance = abs(position - t->position);

	return distance == 1 || distance == t->size - 1;
}

/* Ring neighbours stream through large slots; all others exchange small messages. */
static uint32_t slot_bytes_at(const struct transport *t, int position, size_t bytes)
{
	if (is_neighbour(t, position) && transport_segment_bytes(t) > bytes)
		bytes = transport_segment_bytes(t);
	return (uint32_t)cache_line_round_up(bytes);
}

static void place_link(struct transport *t, int position, size_t slot_bytes)
{
	struct link *link = &t->links[t->rank_at[position]];

	link->transport = t;
	link->peer = t->rank_at[position];
	link->rx.slots = link->tx.slots = (uint32_t)t->config.slots;
	link->rx.slot_bytes = link->tx.slot_bytes = slot_bytes_at(t, position, slot_bytes);
	link->sent = link->credits_seen = link->word_seen = t->first_message;
	link->arrived = link->consumed = link->credited = t->first_message;
}

void transport_set_ring(struct transport *transport, const int *rank_at, bool network,
			size_t slot_bytes)
{
	transport->network = network;
	memcpy(transport->rank_at, rank_at, (size_t)transport->size * sizeof(*rank_at));
	for (int position = 0; position < transport->size; position++)
		if (rank_at[position] == transport->rank)
			transport->position = position;
	for (int position = 0; position < transport->size; position++)
		if (position != transport->position)
			place_link(transport, position, slot_bytes);
}

void transport_get_address(const struct transport *transport, struct transport_address *address)
{
	struct shm_address shm;

	_Static_assert(sizeof(shm) <= sizeof(address->bytes), "an introduction has room for it");
	*address = (struct transport_address){{0}};
	shm_get_address(transport->back_ends[0], &shm);
	memcpy(address->bytes, &shm, sizeof(shm));
}

void transport_set_host(struct transport *transport, int peer, const char *host)
{
	(void)snprintf(transport->peer_host[peer], sizeof(transport->peer_host[peer]), "%.63s",
		       host);
}

enum wring_status transport_try_shm(struct transport *transport, int peer,
				    const struct transport_address *address,
				    struct wring_error *error)
{
	struct link *link = &transport->links[peer];
	struct shm_address shm;
	enum wring_status status;

	memcpy(&shm, address->bytes, sizeof(shm));
	status = shm_link_open(link, &shm, error);
	if (!status)
		link->ops = &shm_link_ops;
	return status;
}

void transport_forget_shm(struct transport *transport, int peer)
{
	struct link *link = &transport->links[peer];

	link->ops->free(link);
}

static bool is_open(const struct link *link)
{
	return link->ops != NULL;
}

enum wring_status transport_use_verbs(struct transport *transport, const char *device, int port,
				      struct wring_error *error)
{
	struct back_end *verbs;
	enum wring_status status;
	int n = 0;

	for (int peer = transport_next_peer(transport, -1); peer < transport->size;
	     peer = transport_next_peer(transport, peer))
		n += !is_open(&transport->links[peer]);
	status = verbs_open(&verbs, transport, device, port, n, transport->config.slots, error);
	if (!status)
		add_back_end(transport, verbs);
	return status;
}

static size_t place_areas(struct transport *t)
{
	size_t at = ARENA_PAGE;

	for (int peer = transport_next_peer(t, -1); peer < t->size;
	     peer = transport_next_peer(t, peer)) {
		t->links[peer].rx.offset = at;
		at += area_len(&t->links[peer].rx);
	}
	return arena_round_to_page(at);
}

static void place_link_area(struct transport *t, struct link *link)
{
	link->rx_area = t->arena->base + link->rx.offset;
	shm_area_init(link->rx_area, &link->rx, t->first_message);
	link->credit_word = (const void *)(link->rx_area + area_credit_at());
}

enum wring_status transport_lay_out(struct transport *transport, struct wring_error *error)
{
	enum wring_status status = arena_grow_head(transport->arena, place_areas(transport), error);

	if (status)
		return status;
	transport->all_shm = true;
	for (int peer = transport_next_peer(transport, -1); peer < transport->size;
	     peer = transport_next_peer(transport, peer)) {
		struct link *link = &transport->links[peer];

		transport->all_shm &= is_open(link); /* verbs has not opened any yet */
		place_link_area(transport, link);
	}
	for (int i = 0; !status && i < transport->n_back_ends; i++)
		status = transport->back_ends[i]->ops->lay_out(transport->back_ends[i], error);
	return status;
}

void transport_make_offer(const struct transport *transport, int peer,
			  struct transport_offer *offer)
{
	const struct link *link = &transport->links[peer];

	*offer = (struct transport_offer){
		.valid = 1, .may_sleep = transport->may_sleep, .all_shm = transport->all_shm};
	if (peer != transport->rank)
		link->ops->make_offer(link, offer);
}

enum wring_status transport_connect(struct transport *transport, int peer,
				    const struct transport_offer *offer, struct wring_error *error)
{
	struct link *link = &transport->links[peer];

	link->peer_sleeps = offer->may_sleep;
	transport->all_shm &= offer->all_shm != 0;
	return link->ops->connect(link, offer, error);
}

void transport_describe(const struct transport *transport, int peer, struct wring_peer_info *info)
{
	const struct link *link = &transport->links[peer];

	(void)snprintf(info->host, sizeof(info->host), "%s", transport->peer_host[peer]);
	if (peer != transport->rank) {
		link->ops->describe_path(link, info);
		return;
	}
	info->numa_node = transport->numa_node;
	for (int i = 0; i < transport->n_back_ends; i++)
		transport->back_ends[i]->ops->describe(transport->back_ends[i], info);
}

/* --- the end ------------------------------------------------------------------------------ */

static void free_links(struct transport *t)
{
	for (int peer = 0; peer < t->size; peer++)
		if (is_open(&t->links[peer]))
			t->links[peer].ops->free(&t->links[peer]);
}

/* wring_alloc memory stays mapped: whoever holds it knows its length. */
void transport_close(struct transport *transport)
{
	if (!transport)
		return;
	if (transport->links)
		free_links(transport);
	transport_drop_regions(transport);
	for (int i = transport->n_back_ends - 1; i >= 0; i--)
		transport->back_ends[i]->ops->close(transport->back_ends[i]);
	arena_close(transport->arena);
	trace_close(transport->trace);
	free(transport->links);
	free(transport->peer_host);
	free(transport->rank_at);
	free(transport);
}
