/* sizes.c: how large messages are, by what they cost on one host and on a network. */
/* SPDX-License-Identifier: MIT */
#include "coll/sizes.h"

#include "base/cache_line.h"
#include "coll/request.h"

/*
 * What a slot holds besides its header. Ring neighbours stream through segment_bytes. All others:
 *
 *   one host                  PAGE: 32 KiB per peer
 *   a network, many ranks     SMALL: 32 KiB per peer, with send slots
 *   a network, few ranks      WIDE: chunks of middle sizes go straight to their owners
 *
 * And up to which size a vector goes to every rank at once: over shared memory SMALL; over a
 * network a message costs more than its first kilobytes. Between two ranks that is never more bytes
 * than the ring sends; among three or four, more than ALMOST_ALL would be.
 */
enum { SMALL = 1984, PAGE = 4032, WIDE = 16384, ALMOST_ALL = 8192 };
enum { FEW_RANKS = 8 };

/* The smallest piece into which a pipeline cuts, so that the cost of one more message does not
 * count. Over shared memory 4 KiB take as long as a message; over a network, 32 KiB. */
enum { SHM_SEGMENT = 4096, NETWORK_SEGMENT = 32768 };

static size_t built_in_slot(int size, bool network)
{
	if (!network)
		return PAGE;
	return size <= FEW_RANKS ? WIDE : SMALL;
}

size_t sizes_slot(int size, bool network, int eager_bytes)
{
	size_t bytes = built_in_slot(size, network);

	return eager_bytes > (int)bytes ? (size_t)eager_bytes : bytes;
}

size_t sizes_eager(const struct coll *coll)
{
	const struct transport *transport = coll->transport;
	size_t segment = transport_segment_bytes(transport);
	int setting = transport_eager_setting(transport);

	if (setting >= 0)
		return (size_t)setting;
	if (transport_all_shm(transport) || !transport_network(transport) || coll->size > 4)
		return SMALL;
	if (coll->size > 2)
		return ALMOST_ALL;
	return segment < WIDE ? WIDE : segment < SIZES_MOST_EAGER ? segment : SIZES_MOST_EAGER;
}

/* Over a network a hop costs more than to send again what fits in a slot. */
size_t sizes_tree(const struct coll *coll)
{
	if (transport_eager_setting(coll->transport) >= 0 || !transport_network(coll->transport) ||
	    coll->size == 2)
		return sizes_eager(coll);
	return sizes_chunk(coll);
}

size_t sizes_chunk(const struct coll *coll)
{
	return built_in_slot(coll->size, transport_network(coll->transport));
}

size_t sizes_segment(const struct coll *coll, size_t bytes)
{
	size_t most = transport_segment_bytes(coll->transport);
	size_t least = transport_all_shm(coll->transport) ? SHM_SEGMENT : NETWORK_SEGMENT;

	if (bytes < least)
		bytes = least;
	if (bytes > most)
		bytes = most;
	return bytes / CACHE_LINE * CACHE_LINE;
}
