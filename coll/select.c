/* select.c: which algorithm a call uses; the one table, with its reasons. */
#include "coll/request.h"

/*
 *   ranks      bytes        links      allreduce           broadcast         barrier
 *   1          any          -          alone               alone             alone
 *   2 or more  <= eager     any        oneshot: one hop    tree: log2 hops   dissemination
 *              > eager      all shm    direct: two hops    chain: pipelined
 *                           others     ring: least bytes   chain
 *
 * The choice depends on what all ranks know alike: count, datatype, ranks, transports and
 * eager_bytes; never on buffers. Bits do not depend on it.
 */
const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call,
					 size_t bytes)
{
	bool small = bytes <= transport_eager_bytes(coll->transport);

	if (coll->size == 1)
		return &collective_alone;
	switch (call->collective) {
	case COLLECTIVE_ALLREDUCE:
		if (small)
			return &allreduce_oneshot;
		return transport_all_shm(coll->transport) ? &allreduce_direct : &allreduce_ring;
	case COLLECTIVE_BROADCAST:
		return small ? &broadcast_tree : &broadcast_chain;
	case COLLECTIVE_BARRIER:
	default:
		return &barrier_dissemination;
	}
}
