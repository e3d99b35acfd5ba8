/* select.c: which algorithm a call uses; the one table, with its reasons. */
#include <string.h>

#include "coll/request.h"

enum need { NEED_NOTHING, NEED_EAGER, NEED_TREE, NEED_SHM, NEED_OWNER };

/* What may be wished for, and what it needs to be used. */
static const struct candidate {
	enum collective collective;
	const char *name;
	const struct algorithm *algorithm;
	enum need need;
} candidates[] = {
	{COLLECTIVE_ALLREDUCE, "oneshot", &allreduce_oneshot, NEED_EAGER},
	{COLLECTIVE_ALLREDUCE, "owner", &allreduce_owner, NEED_OWNER},
	{COLLECTIVE_ALLREDUCE, "direct", &allreduce_direct, NEED_SHM},
	{COLLECTIVE_ALLREDUCE, "ring", &allreduce_ring, NEED_NOTHING},
	{COLLECTIVE_BROADCAST, "tree", &broadcast_tree, NEED_TREE},
	{COLLECTIVE_BROADCAST, "chain", &broadcast_chain, NEED_NOTHING},
};

enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

bool coll_candidate(size_t i, const char **collective, const char **algorithm)
{
	if (i >= CANDIDATES)
		return false;
	*collective = collective_name((int)candidates[i].collective);
	*algorithm = candidates[i].name;
	return true;
}

bool coll_prefer(struct coll *coll, const char *collective, const char *algorithm, bool above,
		 uint64_t bytes)
{
	for (size_t i = 0; i < CANDIDATES; i++) {
		const struct candidate *candidate = &candidates[i];

		if (strcmp(collective_name((int)candidate->collective), collective) != 0 ||
		    strcmp(candidate->name, algorithm) != 0)
			continue;
		if (coll->n_wishes == COLL_WISHES)
			return false;
		coll->wishes[coll->n_wishes++] =
			(struct wish){.candidate = candidate, .above = above, .bytes = bytes};
		return true;
	}
	return false;
}

static bool can_be_used(const struct coll *coll, const struct call *call, enum need need,
			size_t bytes)
{
	switch (need) {
	case NEED_NOTHING:
		return true;
	case NEED_EAGER:
		return bytes <= transport_eager_bytes(coll->transport);
	case NEED_TREE:
		return bytes <= transport_tree_bytes(coll->transport);
	case NEED_SHM:
		return transport_all_shm(coll->transport);
	case NEED_OWNER:
		return coll->size > 2 && owner_fits(coll, call);
	}
	return false;
}

/* The first wish for vectors of that size counts; NULL if there is none that can be used. */
static const struct algorithm *wished(const struct coll *coll, const struct call *call,
				      size_t bytes)
{
	for (int i = 0; i < coll->n_wishes; i++) {
		const struct wish *wish = &coll->wishes[i];

		if (wish->candidate->collective != call->collective ||
		    (wish->above ? bytes <= wish->bytes : bytes > wish->bytes))
			continue;
		if (can_be_used(coll, call, wish->candidate->need, bytes))
			return wish->candidate->algorithm;
		return NULL;
	}
	return NULL;
}

/*
 *   ranks      bytes        links      allreduce           broadcast         barrier
 *   1          any          -          alone               alone             alone
 *   2 or more  <= eager     any        oneshot: one hop    tree: log2 hops   below
 *              <= owner     network    owner: two hops     chain: pipelined
 *              > eager      all shm    direct: two hops    chain
 *              > both       network    ring: least bytes   chain
 *
 *   eager      what every slot holds, see transport_eager_bytes; for broadcasts transport_tree_bytes
 *   owner      3 ranks or more: a chunk in each slot
 *   barrier    up to 8 ranks of one host, or 3 over a network: oneshot, of no bytes: as many
 *              messages as dissemination or cheap ones, in one hop; else dissemination
 *
 * The choice depends on what all ranks know alike: count, datatype, ranks, transports and
 * eager_bytes; never on buffers. Bits do not depend on it. A tuning file may wish for something
 * else (coll_prefer); where that cannot be used, and for empty vectors, which have to be told of by a
 * message all the same, the table counts.
 */

/* Over shared memory 4 KiB take as long as a message; over a network, 32 KiB. */
#define SHM_SEGMENT	4096
#define NETWORK_SEGMENT 32768

size_t smallest_segment(const struct coll *coll)
{
	return transport_all_shm(coll->transport) ? SHM_SEGMENT : NETWORK_SEGMENT;
}

static const struct algorithm *select_allreduce(const struct coll *coll, const struct call *call)
{
	if (transport_all_shm(coll->transport))
		return &allreduce_direct;
	if (coll->size > 2 && owner_fits(coll, call))
		return &allreduce_owner;
	return &allreduce_ring;
}

static const struct algorithm *select_barrier(const struct coll *coll)
{
	if (coll->size <= (transport_all_shm(coll->transport) ? 8 : 3))
		return &allreduce_oneshot;
	return &barrier_dissemination;
}

static const struct algorithm *built_in(const struct coll *coll, const struct call *call,
					size_t bytes)
{
	if (coll->size == 1)
		return &collective_alone;
	switch (call->collective) {
	case COLLECTIVE_ALLREDUCE:
		return bytes <= transport_eager_bytes(coll->transport)
			       ? &allreduce_oneshot
			       : select_allreduce(coll, call);
	case COLLECTIVE_BROADCAST:
		return bytes <= transport_tree_bytes(coll->transport) ? &broadcast_tree
								      : &broadcast_chain;
	case COLLECTIVE_BARRIER:
	default:
		return select_barrier(coll);
	}
}

const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call,
					 size_t bytes)
{
	const struct algorithm *algorithm = NULL;

	if (coll->size > 1 && bytes > 0)
		algorithm = wished(coll, call, bytes);
	return algorithm ? algorithm : built_in(coll, call, bytes);
}
