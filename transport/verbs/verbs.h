/* verbs.h: RC queue pairs: what the transport's setup asks of the verbs back end. */
#ifndef TRANSPORT_VERBS_VERBS_H
#define TRANSPORT_VERBS_VERBS_H

#include <stdint.h>

#include "transport/link.h"
#include "transport/region.h"

struct verbs; /* one opened port of one HCA: context, PD, CQ, completion channel, arena MR */

/* One port as seen by the choice of a device. */
struct verbs_candidate {
	char device[64];
	int port;
	int state;     /* enum ibv_port_state */
	int software;  /* 1: rxe or siw, works on the ranks' own CPUs */
	int usable;    /* port ACTIVE, and a GID or LID that can be used, and RC write-with-imm */
	int status;    /* enum wring_status: NO_DEVICE, INVALID or TRANSPORT, if not usable */
	char why[128]; /* the same in words */
};

/*
 * Fill up to room candidates (all devices x ports that config->device and config->port allow) and
 * return how many there are; 0 if none. Opens and closes each device. A device that cannot be
 * opened is listed as not usable with the reason.
 */
int verbs_candidates(const struct wring_config *config, struct verbs_candidate *out, int room);

/* The error for "none of these n candidates is usable": why, and the next command. NO_DEVICE, or
 * INVALID if it is gid_index that fits none. */
enum wring_status verbs_no_device(const struct wring_config *config,
				  const struct verbs_candidate *candidates, int n,
				  struct wring_error *error);

/* What every rank must know of a port; fixed-width fields only, travels in the first exchange. */
struct verbs_address {
	char device[64];
	uint8_t gid[16];
	int32_t port, gid_index; /* gid_index -1: IB with LID only */
	uint32_t lid;
	uint32_t mtu;	     /* enum ibv_mtu, active */
	uint32_t link_layer; /* IBV_LINK_LAYER_* */
	uint32_t gid_type;   /* enum ibv_gid_type: RoCE v1 and v2 do not understand each other */
	uint64_t subnet;
};

/* What one peer must know of the QP made for it; travels in the alltoall. */
struct verbs_offer {
	uint32_t qpn, psn;
	uint64_t area_address; /* of the area for that peer in our arena */
	uint32_t arena_rkey;
	uint32_t reserved;
};

/*
 * Open the port. queue_pairs: how many links will be opened at most; slots: of every link. Fails
 * with NO_DEVICE (name, state, next command), TRANSPORT (call and errno), NOMEM (bytes wanted and
 * RLIMIT_MEMLOCK), INVALID (gid_index is empty, qp_retry 7 on rxe, ...).
 */
enum wring_status verbs_open(struct verbs **verbs, struct transport *transport, const char *device,
			     int port, int queue_pairs, int slots, struct wring_error *error);
void verbs_get_address(const struct verbs *verbs, struct verbs_address *address);

/* Register the arena for remote write. */
enum wring_status verbs_use_arena(struct verbs *verbs, void *base, size_t len,
				  struct wring_error *error);

/* Make the QP of a link (RESET -> INIT) and its send slots; link->rx, rx_area and peer are set,
 * link->tx geometry too. Sets ops, back_end, tx_area. */
enum wring_status verbs_link_open(struct verbs *verbs, struct link *link,
				  struct wring_error *error);
void verbs_link_offer(const struct link *link, struct verbs_offer *offer);

/* Can this remote port be addressed at all? (ibv_create_ah once per distinct GID.) Then post all
 * receives, INIT -> RTR -> RTS. */
enum wring_status verbs_link_connect(struct link *link, const struct verbs_address *remote,
				     const struct verbs_offer *offer, struct wring_error *error);
void verbs_link_close(struct link *link); /* QP -> ERROR, destroy; accepts a half-made link */
void verbs_link_info(const struct link *link, struct wring_peer_info *info);

/* Drain the CQ in batches; async events too, now and then. Failures go to transport_fail. */
void verbs_poll(struct verbs *verbs);

/* For sleeping: file descriptors to poll(2) (at most 2), arming, and what to do on waking. */
int verbs_fds(const struct verbs *verbs, int *fds);
void verbs_arm(struct verbs *verbs);
void verbs_acknowledge(struct verbs *verbs);

/* The slow look: async events; when nothing is outstanding on a link, write its credit word once
 * more, signalled, so that a vanished QP shows. */
void verbs_watch(struct verbs *verbs);

/* "loss on this path: ...": how the port's counts of lost and repeated packets have grown since
 * verbs_open; "" if they have not. Reads files. */
void verbs_loss(const struct verbs *verbs, char *text, size_t len);

enum wring_status verbs_register(struct verbs *verbs, struct region *region,
				 struct wring_error *error);
void verbs_deregister(struct verbs *verbs, struct region *region);

void verbs_close(struct verbs *verbs); /* NULL is fine; after all links are closed */

#endif
