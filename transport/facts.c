/* facts.c: what the collectives ask of a transport: who is where, how much fits, what has moved. */
/* SPDX-License-Identifier: MIT */
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

uint64_t transport_progress(const struct transport *transport)
{
	return transport->progress;
}

void transport_worked(struct transport *transport)
{
	transport_progressed(transport);
}

void transport_poll(struct transport *transport)
{
	for (int i = 0; i < transport->n_polled; i++)
		transport->polled[i]->ops->poll(transport->polled[i]);
}
