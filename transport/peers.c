/* peers.c: looks after the peers while this rank waits: who has left, died, or is late. */
/* SPDX-License-Identifier: MIT */
#include "transport/peers.h"

#include <stdio.h>

#include "transport/transport_state.h"

void peers_flush_credits(struct transport *transport)
{
	for (int peer = transport_next_peer(transport, -1); peer < transport->size;
	     peer = transport_next_peer(transport, peer))
		link_flush_credit(&transport->links[peer]);
}

static void fail_peer(struct transport *t, int peer, uint64_t operation, const char *how)
{
	transport_fail_at(
		t, WRING_ERR_PEER, peer, operation,
		"rank %d on %s %s while rank %d was in operation %llu; look at that rank's own "
		"output first",
		peer, t->peer_host[peer], how, t->rank, (unsigned long long)operation);
}

/* --- goodbyes ----------------------------------------------------------------------------- */

static void hear_leave(struct link *link)
{
	if (!link->left)
		link->left = link->ops->find_record(link, RESERVE_LEAVE) != NULL;
}

static bool has_left(const struct transport *t, int peer)
{
	return peer >= 0 && peer != t->rank && t->links[peer].left;
}

/* A peer that left has sent all it had: if nothing of it is there now, nothing will come. */
static void miss_leaver(struct transport *t, const struct awaited *awaited)
{
	struct message message;

	if (!has_left(t, awaited->peer))
		return;
	if (!link_peek(&t->links[awaited->peer], &message))
		fail_peer(t, awaited->peer, awaited->operation, "has left the communicator");
}

void peers_listen(struct transport *transport, const struct awaited *awaited)
{
	transport_hear_aborts(transport);
	for (int peer = transport_next_peer(transport, -1); peer < transport->size;
	     peer = transport_next_peer(transport, peer))
		hear_leave(&transport->links[peer]);
	if (!transport->error.status)
		miss_leaver(transport, awaited);
}

/* --- deaths ------------------------------------------------------------------------------- */

/* True when nothing has moved since the last look at this peer, which was after its end. */
static bool looked_twice(const struct transport *t, struct link *link)
{
	bool twice = link->ended && link->progress_at_end == t->progress;

	link->ended = true;
	link->progress_at_end = t->progress;
	return twice;
}

/*
 * A process that has ended may have messages here that are still to be taken, and its goodbye may
 * be among them: judge only when nothing has moved between two looks.
 */
static void look_at_process(struct transport *t, struct link *link, uint64_t operation)
{
	if (link->left || !link->ops->has_ended(link))
		return;
	hear_leave(link);
	if (link->left)
		return;
	if (looked_twice(t, link))
		fail_peer(t, link->peer, operation, "has ended (its process is gone)");
}

/* The peer left; what it sent belongs to a later operation, so the credit we wait for never
 * comes. */
static void look_at_leaver(struct transport *t, const struct awaited *awaited)
{
	if (!has_left(t, awaited->peer))
		return;
	if (looked_twice(t, &t->links[awaited->peer]))
		fail_peer(t, awaited->peer, awaited->operation, "has left the communicator");
}

static void watch_back_ends(struct transport *t)
{
	for (int i = 0; i < t->n_back_ends && !t->error.status; i++)
		t->back_ends[i]->ops->watch(t->back_ends[i]);
}

void peers_look(struct transport *transport, const struct awaited *awaited)
{
	for (int peer = transport_next_peer(transport, -1);
	     peer < transport->size && !transport->error.status;
	     peer = transport_next_peer(transport, peer))
		look_at_process(transport, &transport->links[peer], awaited->operation);
	if (!transport->error.status)
		look_at_leaver(transport, awaited);
	watch_back_ends(transport);
}

/* --- the deadline ------------------------------------------------------------------------- */

static void name_peer(const struct transport *t, int peer, char *text, size_t len)
{
	if (peer < 0)
		(void)snprintf(text, len, "its peers");
	else
		(void)snprintf(text, len, "rank %d on %s", peer, t->peer_host[peer]);
}

/* A path that loses packets may be why: "; loss on this path: ...", or "". */
static void explain_delay(const struct transport *t, char *text, size_t len)
{
	char why[160] = "";

	for (int i = 0; i < t->n_back_ends && !*why; i++)
		t->back_ends[i]->ops->explain_delay(t->back_ends[i], why, sizeof(why));
	(void)snprintf(text, len, "%s%s", *why ? "; " : "", why);
}

static void pass_deadline(struct transport *t, uint64_t ms, const struct awaited *awaited)
{
	char name[128], why[168];

	name_peer(t, awaited->peer, name, sizeof(name));
	explain_delay(t, why, sizeof(why));
	transport_fail_at(t, WRING_ERR_TIMEOUT, awaited->peer, awaited->operation,
			  "rank %d waited %llu ms for %s in operation %llu and nothing moved "
			  "(timeout_ms %d); is that rank late, or in other code? "
			  "WRING_TIMEOUT_MS raises the limit%s",
			  t->rank, (unsigned long long)ms, name,
			  (unsigned long long)awaited->operation, t->config.timeout_ms, why);
}

static void warn_of_stall(struct transport *t, uint64_t ms, const struct awaited *awaited)
{
	char name[128], why[168];

	name_peer(t, awaited->peer, name, sizeof(name));
	explain_delay(t, why, sizeof(why));
	transport_log(t, "waiting for %s in operation %llu for %llu ms (stall_ms %d)%s", name,
		      (unsigned long long)awaited->operation, (unsigned long long)ms,
		      t->config.stall_ms, why);
}

void peers_check_deadline(struct transport *transport, struct idle *idle, uint64_t waited_ns,
			  const struct awaited *awaited)
{
	uint64_t ms = waited_ns / 1000000;

	if (ms >= (uint64_t)transport->config.timeout_ms) {
		pass_deadline(transport, ms, awaited);
	} else if (!idle->warned && ms >= (uint64_t)transport->config.stall_ms) {
		idle->warned = true;
		warn_of_stall(transport, ms, awaited);
	}
}
