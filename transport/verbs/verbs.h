/* verbs.h: RC queue pairs: what the set-up of a transport asks of the verbs back end. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_VERBS_VERBS_H
#define TRANSPORT_VERBS_VERBS_H

#include <stdint.h>

#include "transport/back_end.h"

struct transport;

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
enum wring_status verbs_open(struct back_end **back_end, struct transport *transport,
			     const char *device, int port, int queue_pairs, int slots,
			     struct wring_error *error);

#endif
