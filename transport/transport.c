/* transport.c: puts up the links of one communicator and takes them down. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/shm/arena.h"
#include "transport/transport_state.h"

/*
 * What a slot holds besides its line. Ring neighbours stream through segment_bytes. All others:
 *
 *   one host                  PAGE: 32 KiB per peer
 *   a network, many ranks     SMALL: 32 KiB per peer, with send slots
 *   a network, few ranks      WIDE: chunks of middle sizes go straight to their owners
 *
 * And up to which size a vector goes to every rank at once: over shared memory SMALL; over a network
 * a message costs more than its first kilobytes. Between two ranks that is never more bytes than
 * the ring sends; among three or four, more than ALMOST_ALL would be.
 */
#define SMALL	   1984
#define PAGE	   4032
#define WIDE	   16384
#define FEW_RANKS  8
#define ALMOST_ALL 8192
#define MOST_EAGER 65536

/* Transport's own lookups, in the order of transport.h. */
int transport_rank(const struct transport *transport)
{
	return transport->rank;
}

int transport_size(const struct transport *transport)
{
	return transport->size;
}

struct link *transport_link(struct transport *transport, int peer)
{
	return &transport->links[peer];
}

int transport_rank_at(const struct transport *transport, int position)
{
	return transport->rank_at[position];
}

int transport_position(const struct transport *transport)
{
	return transport->position;
}

bool transport_all_shm(const struct transport *transport)
{
	return transport->all_shm;
}

unsigned transport_slots(const struct transport *transport)
{
	return (unsigned)transport->config.slots;
}

size_t transport_segment_bytes(const struct transport *transport)
{
	return (size_t)transport->config.segment_bytes;
}

size_t transport_slot_bytes(const struct transport *transport)
{
	if (!transport->network)
		return PAGE;
	return transport->size <= FEW_RANKS ? WIDE : SMALL;
}

size_t transport_eager_bytes(const struct transport *transport)
{
	size_t segment = transport_segment_bytes(transport);

	if (transport->config.eager_bytes >= 0)
		return (size_t)transport->config.eager_bytes;
	if (transport->all_shm || !transport->network || transport->size > 4)
		return SMALL;
	if (transport->size > 2)
		return ALMOST_ALL;
	return segment < WIDE ? WIDE : segment < MOST_EAGER ? segment : MOST_EAGER;
}

/* Over a network a hop costs more than to send again what fits in a slot. */
size_t transport_tree_bytes(const struct transport *transport)
{
	if (transport->config.eager_bytes >= 0 || !transport->network || transport->size == 2)
		return transport_eager_bytes(transport);
	return transport_slot_bytes(transport);
}

struct trace *transport_trace(const struct transport *transport)
{
	return transport->trace;
}

uint64_t transport_moved(const struct transport *transport)
{
	return transport->moved;
}

void transport_worked(struct transport *transport)
{
	transport->moved++;
}

static enum wring_status allocate_tables(struct transport *t, struct wring_error *error)
{
	size_t n = (size_t)t->size;

	t->rank_at = calloc(n, sizeof(*t->rank_at));
	t->links = calloc(n, sizeof(*t->links));
	t->peer_host = calloc(n, sizeof(*t->peer_host));
	if (!t->rank_at || !t->links || !t->peer_host)
		return error_set(error, WRING_ERR_NOMEM, "malloc for %d links failed", t->size);
	return WRING_OK;
}

enum wring_status transport_open(struct transport **transport, const struct wring_config *config,
				 int rank, int size, struct wring_error *error)
{
	struct transport *t = calloc(1, sizeof(*t));
	enum wring_status status;

	if (!t)
		return error_set(error, WRING_ERR_NOMEM, "malloc(%zu) failed", sizeof(*t));
	t->rank = rank;
	t->size = size;
	t->config = *config;
	t->numa_node = -1;
	status = allocate_tables(t, error);
	if (!status)
		status = trace_open(&t->trace, config->trace, rank, size, error);
	if (!status)
		status = arena_open(&t->arena, error);
	if (!status)
		status = shm_make_doorbell(&t->shm, error);
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

static uint32_t round_to_line(size_t bytes)
{
	return (uint32_t)((bytes + 63) / 64 * 64);
}

/* Ring neighbours stream through large slots; all others exchange small messages. */
static uint32_t slot_bytes_at(const struct transport *t, int position)
{
	size_t bytes = transport_slot_bytes(t);

	if (t->config.eager_bytes > (int)bytes)
		bytes = (size_t)t->config.eager_bytes;
	if (is_neighbour(t, position) && transport_segment_bytes(t) > bytes)
		bytes = transport_segment_bytes(t);
	return round_to_line(bytes);
}

static void place_link(struct transport *t, int position)
{
	struct link *link = &t->links[t->rank_at[position]];

	link->transport = t;
	link->peer = t->rank_at[position];
	link->rx.slots = link->tx.slots = (uint32_t)t->config.slots;
	link->rx.slot_bytes = link->tx.slot_bytes = slot_bytes_at(t, position);
	link->sent = link->credits_seen = link->word_seen = t->first_message;
	link->arrived = link->consumed = link->credited = t->first_message;
}

void transport_set_ring(struct transport *transport, const int *rank_at, bool network)
{
	int position;

	transport->network = network;
	memcpy(transport->rank_at, rank_at, (size_t)transport->size * sizeof(*rank_at));
	for (position = 0; position < transport->size; position++)
		if (rank_at[position] == transport->rank)
			transport->position = position;
	for (position = 0; position < transport->size; position++)
		if (position != transport->position)
			place_link(transport, position);
}

enum wring_status transport_try_shm(struct transport *transport, int peer,
				    const struct shm_address *address, struct wring_error *error)
{
	return shm_link_open(&transport->links[peer], address, error);
}

void transport_forget_shm(struct transport *transport, int peer)
{
	struct link *link = &transport->links[peer];

	shm_link_close(link);
	link->kind = WRING_TRANSPORT_AUTO;
}

static bool needs_verbs(const struct transport *t, int peer)
{
	return peer != t->rank && t->links[peer].kind != WRING_TRANSPORT_SHM;
}

enum wring_status transport_use_verbs(struct transport *transport, const char *device, int port,
				      struct wring_error *error)
{
	int peer, n = 0;

	for (peer = 0; peer < transport->size; peer++)
		n += needs_verbs(transport, peer);
	return verbs_open(&transport->verbs, transport, device, port, n, transport->config.slots,
			  error);
}

static size_t place_areas(struct transport *t)
{
	size_t at = ARENA_PAGE;
	int peer;

	for (peer = 0; peer < t->size; peer++) {
		if (peer == t->rank)
			continue;
		t->links[peer].rx.offset = at;
		at += area_len(&t->links[peer].rx);
	}
	return arena_round_to_page(at);
}

static enum wring_status open_verbs_links(struct transport *t, struct wring_error *error)
{
	enum wring_status status =
		verbs_use_arena(t->verbs, t->arena->base, t->arena->head_len, error);
	int peer;

	for (peer = 0; !status && peer < t->size; peer++)
		if (needs_verbs(t, peer))
			status = verbs_link_open(t->verbs, &t->links[peer], error);
	return status;
}

enum wring_status transport_lay_out(struct transport *transport, struct wring_error *error)
{
	enum wring_status status = arena_grow_head(transport->arena, place_areas(transport), error);
	int peer;

	if (status)
		return status;
	transport->all_shm = true;
	for (peer = 0; peer < transport->size; peer++) {
		struct link *link = &transport->links[peer];

		if (peer == transport->rank)
			continue;
		if (needs_verbs(transport, peer))
			transport->all_shm = false;
		link->rx_area = transport->arena->base + link->rx.offset;
		shm_area_init(link->rx_area, &link->rx, transport->first_message);
		link->credit_word = (const void *)(link->rx_area + area_credit_at());
	}
	return transport->verbs ? open_verbs_links(transport, error) : WRING_OK;
}

void transport_make_offer(const struct transport *transport, int peer,
			  struct transport_offer *offer)
{
	const struct link *link = &transport->links[peer];

	*offer = (struct transport_offer){
		.valid = 1, .may_sleep = transport->may_sleep, .all_shm = transport->all_shm};
	if (peer == transport->rank)
		return;
	if (link->kind == WRING_TRANSPORT_SHM) {
		offer->shm.area_offset = link->rx.offset;
		offer->shm.head_len = transport->arena->head_len;
		offer->shm.base = (uint64_t)(uintptr_t)transport->arena->base;
	} else {
		verbs_link_offer(link, &offer->verbs);
		verbs_get_address(transport->verbs, &offer->verbs_address);
	}
}

enum wring_status transport_connect(struct transport *transport, int peer,
				    const struct shm_address *address,
				    const struct transport_offer *offer, struct wring_error *error)
{
	struct link *link = &transport->links[peer];

	link->peer_sleeps = offer->may_sleep;
	transport->all_shm &= offer->all_shm != 0;
	if (link->kind == WRING_TRANSPORT_SHM)
		return shm_link_connect(link, address, &offer->shm, error);
	return verbs_link_connect(link, &offer->verbs_address, &offer->verbs, error);
}

/* Until every rank of a CPU has had its turn nothing can move: who sleeps before makes all others
 * ring its doorbell. Over a network whose driver wants the same CPUs, a call takes most of a
 * millisecond. */
#define YIELD_NS	 ((uint64_t)200 * 1000)
#define YIELD_RANK_NS	 ((uint64_t)50 * 1000)
#define YIELD_NETWORK_NS ((uint64_t)2000 * 1000)

static uint64_t patience(const struct transport *transport, int ranks_per_cpu)
{
	uint64_t ns = YIELD_NS;

	if (transport->config.wait != WRING_WAIT_AUTO)
		return ns;
	if (transport->network)
		ns = YIELD_NETWORK_NS;
	if (ns < YIELD_RANK_NS * (uint64_t)ranks_per_cpu)
		ns = YIELD_RANK_NS * (uint64_t)ranks_per_cpu;
	return ns;
}

/* Who shares a CPU with the rank for which it waits keeps that from going on by every pause; a
 * driver that moves bytes with that CPU comes by itself. */
#define PAUSES	       2000
#define PAUSES_DRIVER  20
#define PAUSES_CROWDED 1

void transport_set_wait(struct transport *transport, int ranks, int drivers, int cpus)
{
	int wait = transport->config.wait, busy = ranks + drivers;

	transport->yield_ns = patience(transport, cpus > 0 ? busy / cpus : busy);
	transport->crowded = busy > cpus;
	transport->pauses = !transport->crowded ? PAUSES : PAUSES_DRIVER;
	if (ranks > cpus)
		transport->pauses = PAUSES_CROWDED;
	transport->spins = wait == WRING_WAIT_SPIN;
	transport->may_sleep =
		wait == WRING_WAIT_EVENT || (wait == WRING_WAIT_AUTO && transport->crowded);
}

static void close_links(struct transport *t)
{
	int peer;

	for (peer = 0; peer < t->size; peer++) {
		struct link *link = &t->links[peer];

		if (link->kind == WRING_TRANSPORT_SHM)
			shm_link_close(link);
		else if (link->kind == WRING_TRANSPORT_VERBS)
			verbs_link_close(link);
	}
}

static void drop_regions(struct transport *t)
{
	size_t i;

	for (i = 0; i < t->regions.n; i++)
		verbs_deregister(t->verbs, &t->regions.items[i]);
	free(t->regions.items);
}

/* wring_alloc memory stays mapped: whoever holds it knows its length. */
void transport_close(struct transport *transport)
{
	if (!transport)
		return;
	if (transport->links)
		close_links(transport);
	if (transport->verbs)
		drop_regions(transport);
	else
		free(transport->regions.items);
	verbs_close(transport->verbs);
	shm_close(transport->shm);
	arena_close(transport->arena);
	trace_close(transport->trace);
	free(transport->links);
	free(transport->peer_host);
	free(transport->rank_at);
	free(transport);
}
