/* facts.c: what the collectives ask of a transport: who is where, what is set, what has moved. */
/* SPDX-License-Identifier: MIT */
#include "transport/transport_state.h"

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

int transport_eager_setting(const struct transport *transport)
{
	return transport->config.eager_bytes;
}

bool transport_network(const struct transport *transport)
{
	return transport->network;
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
