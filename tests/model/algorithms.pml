/* algorithms.pml: the collectives' progress, as guarded steps; a part of collective.pml. */

/* --- allreduce_ring.c ----------------------------------------------------------------------- */

#define MESSAGES (2 * (RANKS - 1) * SEGMENTS)

/* Has the segment that is to be sent on been taken? Step 0 sends the own input. */
#define was_taken (sent < SEGMENTS || taken + SEGMENTS > sent)

#define gathering(number) ((number) >= (RANKS - 1) * SEGMENTS)

#ifdef TAKE_NEEDS_CREDIT
#define may_take_segment (taken >= MESSAGES - SEGMENTS || link_credits(me, next_rank) > 0)
#else
#define may_take_segment true
#endif

/* leave_lanes, and the end of progress. */
inline leave_lanes()
{
	if
	:: sent == MESSAGES && ready_sent && !tx_left ->
		tx_left = true;
		lane_sent_last(next_rank)
	:: else
	fi;
	if
	:: taken == MESSAGES && ready_taken && !rx_left ->
		rx_left = true;
		lane_took_last(prev_rank)
	:: else
	fi;
	if
	:: tx_left && rx_left -> finish()
	:: else
	fi
}

/* exchange_ready, try_send and try_take; any order of what is possible. */
inline allreduce_ring()
{
	d_step { may_start ->
		operation[me] = k;
		lane_join(next_rank);
		if
		:: RANKS > 2 -> lane_join(prev_rank)
		:: else
		fi
	};
	do
	:: d_step { !ready_sent && lane_may_send(prev_rank) ->
		link_post(prev_rank, MESSAGE_READY, 0);
		ready_sent = true;
		if
		:: RANKS > 2 -> lane_sent_last(prev_rank)
		:: else
		fi;
		leave_lanes() }
	:: d_step { !ready_taken && lane_peek(next_rank) ->
		lane_take(next_rank, head(next_rank, me).kind == MESSAGE_READY, 0);
		ready_taken = true;
		if
		:: RANKS > 2 -> lane_took_last(next_rank)
		:: else
		fi;
		leave_lanes() }
	:: d_step { sent < MESSAGES && ready_sent && was_taken && lane_may_send(next_rank) ->
		if
		:: gathering(sent) && ready_taken ->
#ifdef LENT
			assert(lends_buffers(next_rank, k));
#endif
			link_post(next_rank, MESSAGE_DIRECT, sent)
		:: else -> link_post(next_rank, MESSAGE_DATA, sent)
		fi;
		sent++;
		leave_lanes() }
	:: d_step { taken < MESSAGES && (ready_taken || RANKS > 2) && lane_peek(prev_rank) &&
		    may_take_segment ->
		lane_take(prev_rank, head(prev_rank, me).kind == MESSAGE_DATA ||
			  (head(prev_rank, me).kind == MESSAGE_DIRECT && gathering(taken)), taken);
		taken++;
		leave_lanes() }
	:: d_step { taken < MESSAGES && misses(prev_rank) -> miss_leaver(prev_rank) }
	:: d_step { (!ready_taken || sent < MESSAGES) && misses(next_rank) ->
		miss_leaver(next_rank) }
	od
}

/* --- allreduce_direct.c --------------------------------------------------------------------- */

#define peer_after(i) ((me + (i)) % RANKS)

/* Has everyone else started call k and not yet ended it? */
#define all_lend_buffers                                                                           \
	(lends_buffers(peer_after(1), k) && (RANKS < 3 || lends_buffers(peer_after(2), k)) &&      \
	 (RANKS < 4 || lends_buffers(peer_after(3), k)))

#ifdef NO_READY_WAIT
#define may_reduce (sent == RANKS - 1)
#else
#define may_reduce (sent == RANKS - 1 && taken == RANKS - 1)
#endif

inline finish_direct()
{
	if
	:: done_sent == RANKS - 1 && done_taken == RANKS - 1 -> finish()
	:: else
	fi
}

/* By pointer: send_readies, take_readies, reduce_own_chunk, send_dones, take_dones. */
inline allreduce_direct()
{
	d_step { may_start ->
		operation[me] = k;
		lane_join(peer_after(1));
		if
		:: RANKS > 2 -> lane_join(peer_after(2))
		:: else
		fi;
		if
		:: RANKS > 3 -> lane_join(peer_after(3))
		:: else
		fi
	};
	do
	:: d_step { sent < RANKS - 1 && lane_may_send(peer_after(sent + 1)) ->
		link_post(peer_after(sent + 1), MESSAGE_READY, 0);
		sent++ }
	:: d_step { taken < RANKS - 1 && lane_peek(peer_after(taken + 1)) ->
		lane_take(peer_after(taken + 1),
			  head(peer_after(taken + 1), me).kind == MESSAGE_READY, 0);
		taken++ }
	:: d_step { alive(me) && may_reduce && !reduced ->
#ifdef LENT
		assert(all_lend_buffers);
#endif
		reduced = true }
	:: d_step { reduced && done_sent < RANKS - 1 && lane_may_send(peer_after(done_sent + 1)) ->
		link_post(peer_after(done_sent + 1), MESSAGE_DONE, 0);
		lane_sent_last(peer_after(done_sent + 1));
		done_sent++;
		finish_direct() }
	:: d_step { reduced && done_taken < RANKS - 1 && lane_peek(peer_after(done_taken + 1)) ->
		lane_take(peer_after(done_taken + 1),
			  head(peer_after(done_taken + 1), me).kind == MESSAGE_DONE, 0);
		lane_took_last(peer_after(done_taken + 1));
		done_taken++;
		finish_direct() }
	:: d_step { taken < RANKS - 1 && misses(peer_after(taken + 1)) ->
		miss_leaver(peer_after(taken + 1)) }
	:: d_step { taken == RANKS - 1 && done_taken < RANKS - 1 &&
		    misses(peer_after(done_taken + 1)) ->
		miss_leaver(peer_after(done_taken + 1)) }
	od
}

/* --- broadcast_chain.c ---------------------------------------------------------------------- */

#define is_root(root) (me == (root))
#define is_last(root) (next_rank == (root))

inline finish_chain(root)
{
	lingers_at(me, k) = (!is_root(root) && !ready_sent) || (!is_last(root) && !ready_taken);
	if
	:: taken == SEGMENTS && (is_last(root) || sent == SEGMENTS) -> finish()
	:: else
	fi
}

/* exchange_ready, try_take and try_send. */
inline broadcast_chain(root)
{
	d_step { may_start ->
		operation[me] = k;
		if
		:: is_root(root) -> taken = SEGMENTS
		:: else -> lane_join(prev_rank)
		fi;
		if
		:: is_last(root)
		:: else -> lane_join(next_rank)
		fi
	};
	do
	:: d_step { !is_root(root) && !ready_sent && may_linger && lane_may_send(prev_rank) ->
		link_post(prev_rank, MESSAGE_READY, 0);
		lane_sent_last(prev_rank);
		ready_sent = true;
		finish_chain(root) }
	:: d_step { !is_last(root) && !ready_taken && may_linger && lane_peek(next_rank) ->
		lane_take(next_rank, head(next_rank, me).kind == MESSAGE_READY, 0);
		lane_took_last(next_rank);
		ready_taken = true;
		finish_chain(root) }
	:: d_step { taken < SEGMENTS && lane_peek(prev_rank) ->
		lane_take(prev_rank, head(prev_rank, me).kind == MESSAGE_DATA ||
			  (head(prev_rank, me).kind == MESSAGE_DIRECT && taken > 0), taken);
		taken++;
		if
		:: taken == SEGMENTS -> lane_took_last(prev_rank)
		:: else
		fi;
		finish_chain(root) }
	:: d_step { !is_last(root) && sent < taken && lane_may_send(next_rank) ->
		if
		:: sent > 0 && ready_taken ->
#ifdef LENT
			assert(lends_buffers(next_rank, k));
#endif
			link_post(next_rank, MESSAGE_DIRECT, sent)
		:: else -> link_post(next_rank, MESSAGE_DATA, sent)
		fi;
		sent++;
		if
		:: sent == SEGMENTS -> lane_sent_last(next_rank)
		:: else
		fi;
		finish_chain(root) }
	:: d_step { taken < SEGMENTS && misses(prev_rank) -> miss_leaver(prev_rank) }
	:: d_step { !is_last(root) && sent < SEGMENTS && misses(next_rank) ->
		miss_leaver(next_rank) }
	od
}

/* --- broadcast_tree.c ----------------------------------------------------------------------- */

/* Flat, as it is with up to three ranks. */
inline broadcast_tree(root)
{
	d_step { may_start ->
		operation[me] = k;
		if
		:: is_root(root) ->
			lane_join_tx(peer_after(1));
			if
			:: RANKS > 2 -> lane_join_tx(peer_after(2))
			:: else
			fi
		:: else -> lane_join_rx(root)
		fi
	};
	do
	:: d_step { is_root(root) && sent < RANKS - 1 && lane_may_send(peer_after(sent + 1)) ->
		link_post(peer_after(sent + 1), MESSAGE_DATA, 0);
		lane_sent_last(peer_after(sent + 1));
		sent++;
		if
		:: sent == RANKS - 1 -> finish()
		:: else
		fi }
	:: d_step { !is_root(root) && !done_at(me, k) && lane_peek(root) ->
		lane_take(root, head(root, me).kind == MESSAGE_DATA, 0);
		lane_took_last(root);
		finish() }
	:: d_step { is_root(root) && sent < RANKS - 1 && misses(peer_after(sent + 1)) ->
		miss_leaver(peer_after(sent + 1)) }
	:: d_step { !is_root(root) && !done_at(me, k) && misses(root) -> miss_leaver(root) }
#if defined(ODD) && !defined(NO_TELL)
	/* signature_tell */
	:: d_step { !is_root(root) && !done_at(me, k) && waits(me) &&
		    from_to(me, root).waiting != k ->
		from_to(me, root).waiting = k }
#endif
	od
}

/* --- barrier_dissemination.c ---------------------------------------------------------------- */

#define ROUNDS		(RANKS == 2 -> 1 : 2)
#define peer_on(round)	((me + (1 << (round))) % RANKS)
#define peer_back(round) ((me + RANKS - (1 << (round))) % RANKS)

/* finish_round; taken counts the rounds, sent is one ahead while the peer has not been heard. */
inline barrier_dissemination()
{
	d_step { may_start ->
		operation[me] = k;
		lane_join_tx(peer_on(0));
		lane_join_rx(peer_back(0));
		if
		:: ROUNDS > 1 ->
			lane_join_tx(peer_on(1));
			lane_join_rx(peer_back(1))
		:: else
		fi
	};
	do
	:: d_step { taken < ROUNDS && sent == taken && lane_may_send(peer_on(taken)) ->
		link_post(peer_on(taken), MESSAGE_DATA, 0);
		lane_sent_last(peer_on(taken));
		sent++ }
	:: d_step { taken < ROUNDS && sent > taken && lane_peek(peer_back(taken)) ->
		lane_take(peer_back(taken), head(peer_back(taken), me).kind == MESSAGE_DATA, 0);
		lane_took_last(peer_back(taken));
		taken++;
		if
		:: taken == ROUNDS -> finish()
		:: else
		fi }
	:: d_step { taken < ROUNDS && sent > taken && misses(peer_back(taken)) ->
		miss_leaver(peer_back(taken)) }
	od
}
