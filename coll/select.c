/* select.c: which algorithm a call uses; the one table, with its reasons. */
#include "coll/request.h"

/*
 *   ranks      bytes        links      allreduce           broadcast         barrier
 *   1          any          -          alone               alone             alone
 *   2 or more  <= eager     any        oneshot: one hop    tree: log2 hops   dissemination
 *              <= owner     network    owner: two hops     chain: pipelined
 *              > eager      all shm    direct: two hops    chain
 *              > both       network    ring: least bytes   chain
 *
 *   eager      what every slot holds, see transport_eager_bytes
 *   owner      3 to 8 ranks: a chunk in each slot
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
	size_t elem = wring_datatype_size(call->datatype);
	size_t chunk = chunk_elems(call->count, elem, coll->size) * elem;

	if (transport_all_shm(coll->transport))
		return &allreduce_direct;
	if (coll->size > 2 && chunk <= transport_slot_bytes(coll->transport))
		return &allreduce_owner;
	return &allreduce_ring;
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
		return &barrier_dissemination;
	}
}
