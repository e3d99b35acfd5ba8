/* select.c: which algorithm a call uses; the one table, with its reasons. */
#include "coll/request.h"

/*
 *   ranks      bytes        links      allreduce           broadcast         barrier
 *   1          any          -          alone               alone             alone
 *   2 or more  <= eager     any        oneshot: one hop    tree: log2 hops   below
 *              <= owner     network    owner: two hops     chain: pipelined
 *              > eager      all shm    direct: two hops    chain
 *              > both       network    ring: least bytes   chain
 *
 *   eager      what every slot holds, see transport_eager_bytes
 *   owner      3 ranks or more: a chunk in each slot
 *   barrier    up to 8 ranks of one host, or 3 over a network: oneshot, of no bytes: as many
 *              messages as dissemination or cheap ones, in one hop; else dissemination
 *
 * The choice depends on what all ranks know alike: count, datatype, ranks, transports and
 * eager_bytes; never on buffers. Bits do not depend on it.
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

const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call,
					 size_t bytes)
{
	bool small = bytes <= transport_eager_bytes(coll->transport);

	if (coll->size == 1)
		return &collective_alone;
	switch (call->collective) {
	case COLLECTIVE_ALLREDUCE:
		return small ? &allreduce_oneshot : select_allreduce(coll, call);
	case COLLECTIVE_BROADCAST:
		return small ? &broadcast_tree : &broadcast_chain;
	case COLLECTIVE_BARRIER:
	default:
		return select_barrier(coll);
	}
}
