/* fake_pair.c: does for two ranks of one process what wring_comm_create does for many. */
#include "tests/harness/fake_pair.h"

#include "bootstrap/config.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)8 * 4096)

static const struct area area = {.slots = PAIR_SLOTS, .slot_bytes = PAIR_SLOT_BYTES};

static void make_end(struct end *end, int rank)
{
	struct link *link = &end->links[1 - rank];

	memset(end, 0, sizeof(*end));
	end->memory = aligned_alloc(4096, MEMORY);
	end->user = aligned_alloc(4096, PAIR_USER);
	memset(end->memory, 0, MEMORY);
	memset(end->user, 0, PAIR_USER);
	end->transport.rank = rank;
	end->transport.size = 2;
	end->transport.links = end->links;
	end->transport.config = (struct wring_config){
		.port = -1,
		.gid_index = -1,
		.qp_timeout = config_qp_timeout(6, 2000),
		.qp_retry = 6,
		.slots = PAIR_SLOTS,
		.segment_bytes = PAIR_SLOT_BYTES,
		.peer_timeout_ms = 2000,
	};
	link->transport = &end->transport;
	link->peer = 1 - rank;
	link->tx = link->rx = area;
	link->rx_area = end->memory;
	link->credit_word = (const uint64_t *)(void *)(end->memory + area_credit_at());
}

void pair_make(struct pair *pair)
{
	make_end(&pair->ends[0], 0);
	make_end(&pair->ends[1], 1);
}

struct link *pair_link(struct pair *pair, int rank)
{
	return &pair->ends[rank].links[1 - rank];
}

struct verbs_link *pair_verbs_link(struct pair *pair, int rank)
{
	return verbs_link_of(pair_link(pair, rank));
}

struct verbs *pair_verbs(struct pair *pair, int rank)
{
	return (struct verbs *)pair->ends[rank].transport.back_ends[0];
}

static enum wring_status open_end(struct end *end, int rank, struct wring_error *error)
{
	const char *device = fake.devices[rank ? fake.n_devices - 1 : 0].device.name;
	struct link *link = &end->links[1 - rank];
	struct back_end *back_end;
	enum wring_status status;

	status = verbs_open(&back_end, &end->transport, device, 1, 1, end->transport.config.slots,
			    error);
	if (status)
		return status;
	end->transport.back_ends[end->transport.n_back_ends++] = back_end;
	end->transport.polled[end->transport.n_polled++] = back_end;
	status = verbs_use_arena((struct verbs *)back_end, end->memory, MEMORY, error);
	if (!status)
		status = verbs_link_open((struct verbs *)back_end, link, error);
	if (!status)
		link->ops = &verbs_link_ops;
	return status;
}

enum wring_status pair_connect(struct pair *pair, struct wring_error *error)
{
	enum wring_status status = WRING_OK;
	struct transport_offer offers[2] = {{0}};

	for (int rank = 0; rank < 2 && !status; rank++)
		status = open_end(&pair->ends[rank], rank, error);
	if (status)
		return status;
	for (int rank = 0; rank < 2; rank++)
		verbs_link_make_offer(pair_link(pair, rank), &offers[rank]);
	for (int rank = 0; rank < 2 && !status; rank++)
		status = verbs_link_connect(pair_link(pair, rank), &offers[1 - rank], error);
	return status;
}

void pair_register(struct pair *pair, int rank)
{
	struct end *end = &pair->ends[rank];
	struct region region = {.base = end->user, .len = PAIR_USER};
	struct wring_error error;

	if (verbs_register(pair_verbs(pair, rank), &region, &error) ||
	    !region_add(&end->transport.regions, &region))
		abort();
}

static void close_end(struct pair *pair, int rank)
{
	struct end *end = &pair->ends[rank];
	struct region region;

	verbs_link_free(&end->links[1 - rank]);
	if (region_remove(&end->transport.regions, end->user, &region))
		verbs_deregister(&region);
	verbs_close_port(pair_verbs(pair, rank));
	free(end->transport.regions.items);
	free(end->memory);
	free(end->user);
}

void pair_close(struct pair *pair)
{
	close_end(pair, 0);
	close_end(pair, 1);
}
