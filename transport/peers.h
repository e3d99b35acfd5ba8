/* peers.h: looking after the peers while this rank waits: who has left, died, or is late. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_PEERS_H
#define TRANSPORT_PEERS_H

#include "transport/transport.h"

/* Tell every peer what this rank has consumed. Half of the slots are credited at once, which is
 * enough to go on (see tests/model); the rest goes along with what is sent, or here, before a
 * peer could take this rank for the slow one. */
void peers_flush_credits(struct transport *transport);

/* Every ms of waiting: hear aborts and goodbyes. The awaited peer may have left: then it fails. */
void peers_listen(struct transport *transport, const struct awaited *awaited);

/* Every 100 ms of waiting: have processes ended, is a device at fault? */
void peers_look(struct transport *transport, const struct awaited *awaited);

/* Nothing has moved for waited_ns: warn once after stall_ms, fail after timeout_ms. */
void peers_check_deadline(struct transport *transport, struct idle *idle, uint64_t waited_ns,
			  const struct awaited *awaited);

#endif
