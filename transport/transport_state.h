/* transport_state.h: one communicator's transport from the inside, and how it is put up. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_TRANSPORT_STATE_H
#define TRANSPORT_TRANSPORT_STATE_H

#include "transport/back_end.h"
#include "transport/link.h"
#include "transport/region.h"
#include "transport/shm/shm.h"
#include "transport/verbs/verbs.h"

enum { BACK_ENDS = 2 };

/* All links of one communicator. Owns everything it points to. */
struct transport {
	int rank, size;
	int *rank_at;		    /* ring position -> rank */
	int position;		    /* of this rank */
	struct wring_config config; /* resolved, qp_timeout too */
	struct link *links;	    /* by rank; links[rank] is unused (ops == NULL) */
	struct arena *arena;	    /* our memfd: areas of all peers, then wring_alloc memory */
	struct back_end *back_ends[BACK_ENDS]; /* in the order opened */
	int n_back_ends;
	struct back_end *polled[BACK_ENDS]; /* those of them that have something to poll */
	int n_polled;
	struct regions regions;
	struct trace *trace;
	struct wring_error error; /* the first cause; status WRING_OK while all is well */
	bool settled;		  /* all peers were told, QPs are in ERROR */
	bool all_shm;		  /* all links of all ranks, once all offers are taken */
	bool network;		  /* the ranks are on several hosts, or are to use verbs */
	uint64_t progress;	  /* see transport_progress */
	bool may_sleep;		  /* our wait policy may sleep */
	bool spins;		  /* never yields, never sleeps */
	uint64_t yield_ns;	  /* so long before it sleeps */
	bool crowded;		  /* more ranks, and drivers that need one, than CPUs */
	unsigned pauses;	  /* rounds of waiting before the first sched_yield */
	uint64_t first_message;	  /* counters start here; 0 but for tests */
	char (*peer_host)[64];	  /* by rank, for texts and wring_comm_peer */
	int numa_node;		  /* of this rank, -1: not known */
};

/* The peer after that one, or the first one (peer -1), other than this rank; size: there is
 * none. */
static inline int transport_next_peer(const struct transport *transport, int peer)
{
	peer++;
	return peer == transport->rank ? peer + 1 : peer;
}

/* Something has moved: whoever waits starts over. */
static inline void transport_progressed(struct transport *transport)
{
	transport->progress++;
}

/* What a peer needs besides the introduction; travels in the alltoall of offers. */
struct transport_offer {
	uint32_t valid; /* 0: that rank has failed, the last round says why */
	uint32_t may_sleep;
	uint32_t all_shm; /* that rank's links */
	uint32_t reserved;
	struct shm_offer shm;
	struct verbs_offer verbs;
	struct verbs_address verbs_address;
};

/* What host peers must know of this rank; travels in the introduction, which knows no more of
 * it. */
enum { TRANSPORT_ADDRESS = 64 };
struct transport_address {
	unsigned char bytes[TRANSPORT_ADDRESS];
};

/*
 * Putting a transport up, in this order; each step may fail and leaves something that
 * transport_close accepts:
 *
 *   transport_open          memfd with its first page, doorbell, trace
 *   transport_get_address   what travels in the introduction
 *   transport_set_ring      once the ring order and the hosts are known
 *   transport_try_shm       per host peer: can its memory be opened?
 *   transport_forget_shm    it can, but not the other way round
 *   transport_use_verbs     for the peers that remain
 *   transport_lay_out       sizes of all areas, memory, QPs
 *   transport_make_offer    per peer
 *   transport_connect       per peer: nobody writes before the last exchange
 */
enum wring_status transport_open(struct transport **transport, const struct wring_config *config,
				 int rank, int size, struct wring_error *error);
void transport_get_address(const struct transport *transport, struct transport_address *address);
void transport_set_host(struct transport *transport, int peer, const char *host);
void transport_set_ring(struct transport *transport, const int *rank_at, bool network,
			size_t slot_bytes); /* what every slot must hold */
enum wring_status transport_try_shm(struct transport *transport, int peer,
				    const struct transport_address *address,
				    struct wring_error *error);
void transport_forget_shm(struct transport *transport, int peer);
enum wring_status transport_use_verbs(struct transport *transport, const char *device, int port,
				      struct wring_error *error);
enum wring_status transport_lay_out(struct transport *transport, struct wring_error *error);
void transport_make_offer(const struct transport *transport, int peer,
			  struct transport_offer *offer);
enum wring_status transport_connect(struct transport *transport, int peer,
				    const struct transport_offer *offer, struct wring_error *error);

/* Resolve wait=auto: ranks of this host, and drivers that want a CPU, against the CPUs they
 * have. */
void transport_set_wait(struct transport *transport, int ranks, int drivers, int cpus);

/* Fill in the path to that peer, or, for the own rank, the own port; see wring_comm_peer. */
void transport_describe(const struct transport *transport, int peer, struct wring_peer_info *info);

/* Say goodbye if all is well (200 ms at most) and close all links; only once connected. */
void transport_leave(struct transport *transport);

/* Deregister and forget all regions; their memory stays. */
void transport_drop_regions(struct transport *transport);

/* Free everything. NULL and half-made are fine. */
void transport_close(struct transport *transport);

/* Has any peer told us of a failure? Then it is ours too. */
void transport_hear_aborts(struct transport *transport);

/* CLOCK_MONOTONIC in ns. */
uint64_t transport_now(void);

/* One line to the program's log callback, or to stderr. */
__attribute__((format(printf, 2, 3))) void transport_log(const struct transport *transport,
							 const char *format, ...);

#endif
