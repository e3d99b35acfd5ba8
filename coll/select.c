/* select.c: which algorithm a call uses: one table, in order of preference, with reasons. */
/* SPDX-License-Identifier: MIT */
#include "coll/select.h"

#include <string.h>

#include "coll/allreduce_owner.h"
#include "coll/request.h"

/* Each is defined in the file of that name. */
extern const struct algorithm collective_self;
extern const struct algorithm allreduce_oneshot, allreduce_direct, allreduce_owner, allreduce_ring;
extern const struct algorithm broadcast_tree, broadcast_chain;
extern const struct algorithm barrier_dissemination;

/* --- what an algorithm needs ----------------------------------------------------------------- */

static bool always(const struct coll *coll, const struct call *call)
{
	(void)coll;
	(void)call;
	return true;
}

static bool is_eager(const struct coll *coll, const struct call *call)
{
	return call->bytes <= sizes_eager(coll);
}

static bool is_tree_sized(const struct coll *coll, const struct call *call)
{
	return call->bytes <= sizes_tree(coll);
}

static bool is_on_one_host(const struct coll *coll, const struct call *call)
{
	(void)call;
	return transport_all_shm(coll->transport);
}

static bool has_chunks_for_slots(const struct coll *coll, const struct call *call)
{
	return coll->size > 2 && owner_fits(coll, call);
}

static bool is_among_few(const struct coll *coll, const struct call *call)
{
	(void)call;
	return coll->size <= (transport_all_shm(coll->transport) ? 8 : 3);
}

/* --- the table ------------------------------------------------------------------------------- */

/*
 * The first row of a collective that is usable is taken. The choice depends on what all ranks know
 * alike: count, datatype, ranks, transports and eager_bytes; never on buffers. Bits do not depend
 * on it. A tuning file may prefer another row that is usable (coll_prefer), but not for empty
 * vectors: they still need a message, and any algorithm sends only one. bench/RESULTS.md has the
 * numbers.
 */
static const struct candidate {
	enum collective collective;
	const char *name; /* in a tuning file; NULL: it cannot be preferred there */
	const struct algorithm *algorithm;
	bool (*usable)(const struct coll *coll, const struct call *call);
} candidates[] = {
	/* One hop; the vector fits in every slot, and to send it to all costs less than a second
	 * hop. */
	{COLLECTIVE_ALLREDUCE, "oneshot", &allreduce_oneshot, is_eager},
	/* Two hops, and each element is read and written once per rank, without any copy. */
	{COLLECTIVE_ALLREDUCE, "direct", &allreduce_direct, is_on_one_host},
	/* Two hops with as many bytes as the ring, while a chunk fits in every slot. */
	{COLLECTIVE_ALLREDUCE, "owner", &allreduce_owner, has_chunks_for_slots},
	/* The least bytes per link, in a pipeline: 2 (size-1) hops do not count any more. */
	{COLLECTIVE_ALLREDUCE, "ring", &allreduce_ring, always},
	/* log2(size) hops; the message fits in every slot. */
	{COLLECTIVE_BROADCAST, "tree", &broadcast_tree, is_tree_sized},
	/* Every link carries the message once, in a pipeline. */
	{COLLECTIVE_BROADCAST, "chain", &broadcast_chain, always},
	/* Of no bytes: as many messages as dissemination or cheap ones, in one hop. */
	{COLLECTIVE_BARRIER, NULL, &allreduce_oneshot, is_among_few},
	/* log2(size) hops of one message each. */
	{COLLECTIVE_BARRIER, NULL, &barrier_dissemination, always},
};

enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

/* --- choosing -------------------------------------------------------------------------------- */

static const struct algorithm *first_usable(const struct coll *coll, const struct call *call)
{
	const struct candidate *candidate = candidates;

	while (candidate->collective != call->collective || !candidate->usable(coll, call))
		candidate++;
	return candidate->algorithm;
}

/* The first preference for vectors of that size counts; NULL if there is none that is usable. */
static const struct algorithm *preferred(const struct coll *coll, const struct call *call)
{
	for (int i = 0; i < coll->n_preferences; i++) {
		const struct preference *preference = &coll->preferences[i];

		if (preference->candidate->collective != call->collective ||
		    (call->bytes > preference->bytes) != preference->above)
			continue;
		return preference->candidate->usable(coll, call) ? preference->candidate->algorithm
								 : NULL;
	}
	return NULL;
}

const struct algorithm *select_algorithm(const struct coll *coll, const struct call *call)
{
	const struct algorithm *algorithm = NULL;

	if (coll->size == 1)
		return &collective_self;
	if (call->bytes > 0)
		algorithm = preferred(coll, call);
	return algorithm ? algorithm : first_usable(coll, call);
}

size_t select_state_bytes(int size)
{
	size_t most = 0;

	for (size_t i = 0; i < CANDIDATES; i++) {
		const struct algorithm *algorithm = candidates[i].algorithm;
		size_t bytes = algorithm->state_bytes + algorithm->peer_bytes * (size_t)size;

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* --- preferences ----------------------------------------------------------------------------- */

bool coll_candidate(size_t i, const char **collective, const char **algorithm)
{
	for (size_t row = 0; row < CANDIDATES; row++) {
		if (!candidates[row].name || i--)
			continue;
		*collective = collective_name((int)candidates[row].collective);
		*algorithm = candidates[row].name;
		return true;
	}
	return false;
}

static const struct candidate *find_candidate(const char *collective, const char *algorithm)
{
	for (size_t i = 0; i < CANDIDATES; i++)
		if (candidates[i].name && strcmp(candidates[i].name, algorithm) == 0 &&
		    strcmp(collective_name((int)candidates[i].collective), collective) == 0)
			return &candidates[i];
	return NULL;
}

bool coll_prefer(struct coll *coll, const char *collective, const char *algorithm, bool above,
		 uint64_t bytes)
{
	const struct candidate *candidate = find_candidate(collective, algorithm);

	if (!candidate || coll->n_preferences == COLL_PREFERENCES)
		return false;
	coll->preferences[coll->n_preferences++] =
		(struct preference){.candidate = candidate, .above = above, .bytes = bytes};
	return true;
}
