/* connect.c: one queue pair's life: made, INIT, RTR, RTS, and ERROR at its end. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/cache_line.h"
#include "transport/verbs/verbs_state.h"

enum { HOP_LIMIT = 64 };

static void trace_state(const struct verbs_link *vl, const char *state)
{
	trace_event(vl->verbs->transport->trace, "qp", state, vl->link->peer, "qpn",
		    vl->qp->qp_num);
}

/* --- memory -------------------------------------------------------------------------------- */

static uint32_t power_of_two_above(uint32_t value)
{
	uint32_t power = 1;

	while (power <= value)
		power *= 2;
	return power;
}

static enum wring_status allocate_counts(struct verbs_link *vl, struct wring_error *error)
{
	uint32_t entries = power_of_two_above(vl->depth);

	vl->index_mask = entries - 1;
	vl->sent_at = calloc(entries, sizeof(*vl->sent_at));
	vl->kinds = calloc(vl->link->rx.slots, sizeof(*vl->kinds));
	if (!vl->sent_at || !vl->kinds)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes",
				 entries * sizeof(*vl->sent_at));
	return WRING_OK;
}

/* Send slots with the geometry of the peer's area, and behind them the sources of credits. Mapped
 * shared, so that fork() never gives this process another page than the HCA knows. */
static enum wring_status allocate_send_slots(struct verbs_link *vl, struct wring_error *error)
{
	size_t area = cache_line_round_up(area_len(&vl->link->tx));
	size_t len = area + (vl->index_mask + (size_t)1) * sizeof(uint64_t);
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return error_native(error, WRING_ERR_NOMEM, errno,
				    "mmap of %zu bytes for send slots: %s; lower WRING_SLOTS or "
				    "WRING_SEGMENT_BYTES",
				    len, strerror(errno));
	vl->memory = memory;
	vl->memory_len = len;
	vl->credits = (uint64_t *)(void *)(vl->memory + area);
	vl->mr = ibv_reg_mr(vl->verbs->pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	if (!vl->mr)
		return verbs_pin_failed(vl->verbs, "ibv_reg_mr of send slots", errno, len, error);
	return WRING_OK;
}

static enum wring_status choose_psn(struct verbs_link *vl, struct wring_error *error)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_native(error, WRING_ERR_SYSTEM, errno, "getrandom: %s",
				    strerror(errno));
	vl->psn = random & 0xffffff; /* a packet sequence number has 24 bits */
	return WRING_OK;
}

/* --- states -------------------------------------------------------------------------------- */

static int to_init(const struct verbs_link *vl)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = 0,
		.port_num = (uint8_t)vl->verbs->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE, /* nobody reads, nobody counts */
	};

	return ibv_modify_qp(vl->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* Ready to receive: where the peer is, and what it will send. */
static int to_rtr(const struct verbs_link *vl, const struct ibv_ah_attr *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)vl->mtu,
		.dest_qp_num = vl->remote.qpn,
		.rq_psn = vl->remote.psn,
		.max_dest_rd_atomic = 0, /* no RDMA Read, no atomics */
		.min_rnr_timer = 12,	 /* 0.64 ms; a code, not an exponent */
		.ah_attr = *path,
	};

	return ibv_modify_qp(vl->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

/* Ready to send: from which packet, and when to give up. */
static int to_rts(const struct verbs_link *vl)
{
	const struct wring_config *config = &vl->verbs->transport->config;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = vl->psn,
		.timeout = (uint8_t)config->qp_timeout, /* n: 4.096 us x 2^n */
		.retry_cnt = (uint8_t)config->qp_retry,
		.rnr_retry = 0, /* a receive is always posted; if not, that must be loud */
		.max_rd_atomic = 0,
	};

	return ibv_modify_qp(vl->qp, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void to_error(struct verbs_link *vl)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (!ibv_modify_qp(vl->qp, &attr, IBV_QP_STATE))
		trace_state(vl, "ERROR");
}

/* --- making -------------------------------------------------------------------------------- */

static enum wring_status make(struct verbs_link *vl, struct wring_error *error)
{
	enum wring_status status = choose_psn(vl, error);
	int failed;

	if (!status)
		status = verbs_make_qp(vl, error);
	if (status)
		return status;
	trace_state(vl, "RESET");
	status = allocate_counts(vl, error);
	if (!status)
		status = allocate_send_slots(vl, error);
	if (status)
		return status;
	failed = to_init(vl);
	if (failed)
		return verbs_call_failed(vl->verbs, vl->link->peer, "ibv_modify_qp to INIT", failed,
					 "dmesg may tell more", error);
	trace_state(vl, "INIT");
	return WRING_OK;
}

enum wring_status verbs_link_open(struct verbs *verbs, struct link *link, struct wring_error *error)
{
	struct verbs_link *vl = calloc(1, sizeof(*vl));
	enum wring_status status;

	if (!vl)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*vl));
	vl->verbs = verbs;
	vl->link = link;
	link->kind = WRING_TRANSPORT_VERBS;
	link->back_end = vl;
	status = make(vl, error);
	if (status) {
		verbs_link_free(link);
		return status;
	}
	link->tx_area = vl->memory;
	link->reusable = link->sent;
	vl->posted = vl->signaled = vl->completed = vl->borrowed = link->sent;
	return WRING_OK;
}

void verbs_link_make_offer(const struct link *link, struct transport_offer *offer)
{
	const struct verbs_link *vl = verbs_link_of(link);

	offer->verbs = (struct verbs_offer){
		.qpn = vl->qp->qp_num,
		.psn = vl->psn,
		.area_address = (uintptr_t)link->rx_area,
		.arena_rkey = vl->verbs->arena->rkey,
	};
	verbs_get_address(vl->verbs, &offer->verbs_address);
}

/* --- connecting ---------------------------------------------------------------------------- */

/* RoCE always routes by GID; InfiniBand by LID, with a GRH for other subnets. */
static void fill_path(const struct verbs *verbs, const struct verbs_address *remote,
		      struct ibv_ah_attr *path)
{
	bool ethernet = verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	bool has_gids = verbs->gid.class != GID_EMPTY && remote->gid_index >= 0;

	*path = (struct ibv_ah_attr){
		.dlid = ethernet ? 0 : (uint16_t)remote->lid,
		.sl = (uint8_t)verbs->transport->config.service_level,
		.port_num = (uint8_t)verbs->port,
	};
	if (!ethernet && remote->subnet == verbs->gid.value.global.subnet_prefix &&
	    !(verbs->attr.flags & IBV_QPF_GRH_REQUIRED))
		return;
	if (!ethernet && !has_gids)
		return;
	path->is_global = 1;
	memcpy(path->grh.dgid.raw, remote->gid, sizeof(path->grh.dgid.raw));
	path->grh.sgid_index = (uint8_t)verbs->gid.index;
	path->grh.hop_limit = HOP_LIMIT;
	path->grh.traffic_class = (uint8_t)verbs->transport->config.traffic_class;
}

static enum wring_status cannot_talk(const struct verbs_link *vl,
				     const struct verbs_address *remote, struct wring_error *error)
{
	const struct verbs *verbs = vl->verbs;

	(void)error_set(error, WRING_ERR_TRANSPORT,
			"%s port %d of rank %d and %.63s port %d of rank %d cannot reach each "
			"other: %s there, %s here; set WRING_DEVICE or WRING_GID_INDEX",
			verbs->device, verbs->port, verbs->transport->rank, remote->device,
			remote->port, vl->link->peer,
			remote->link_layer != IBV_LINK_LAYER_ETHERNET ? "InfiniBand"
			: remote->gid_type == IBV_GID_TYPE_ROCE_V2    ? "RoCE v2"
								      : "RoCE v1",
			verbs->attr.link_layer != IBV_LINK_LAYER_ETHERNET ? "InfiniBand"
			: verbs->gid.type == IBV_GID_TYPE_ROCE_V2	  ? "RoCE v2"
									  : "RoCE v1");
	if (error)
		error->rank = vl->link->peer;
	return WRING_ERR_TRANSPORT;
}

static enum wring_status cannot_reach(const struct verbs_link *vl, const struct ibv_ah_attr *path,
				      const char *call, int native, struct wring_error *error)
{
	char next[160], gid[GID_TEXT];

	if (path->is_global) {
		verbs_gid_text(&path->grh.dgid, gid);
		(void)snprintf(next, sizeof(next),
			       "can %s be pinged from here? wring-info shows both ends' GIDs", gid);
	} else {
		(void)snprintf(next, sizeof(next), "does ibping reach LID %u?", path->dlid);
	}
	(void)verbs_call_failed(vl->verbs, vl->link->peer, call, native, next, error);
	if (error)
		error->rank = vl->link->peer;
	return WRING_ERR_TRANSPORT;
}

/* An address handle makes the kernel resolve the GID, and so tells early and clearly what RTR or
 * the first packet would tell late. Once per GID is enough. */
static enum wring_status confirm_reachable(struct verbs_link *vl, struct ibv_ah_attr *path,
					   struct wring_error *error)
{
	struct verbs *verbs = vl->verbs;
	struct ibv_ah *ah;

	if (!path->is_global)
		return WRING_OK;
	for (int i = 0; i < verbs->n_confirmed; i++)
		if (!memcmp(&verbs->confirmed[i], &path->grh.dgid, sizeof(path->grh.dgid)))
			return WRING_OK;
	ah = ibv_create_ah(verbs->pd, path);
	if (!ah)
		return cannot_reach(vl, path, "ibv_create_ah", errno, error);
	(void)ibv_destroy_ah(ah);
	if (verbs->n_confirmed < verbs->room_confirmed)
		verbs->confirmed[verbs->n_confirmed++] = path->grh.dgid;
	return WRING_OK;
}

static enum wring_status check_remote(const struct verbs_link *vl,
				      const struct verbs_address *remote,
				      const struct verbs_offer *offer, struct wring_error *error)
{
	const struct verbs *verbs = vl->verbs;

	if (remote->link_layer != verbs->attr.link_layer ||
	    (verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET &&
	     remote->gid_type != verbs->gid.type))
		return cannot_talk(vl, remote, error);
	if (remote->mtu < IBV_MTU_256 || remote->mtu > IBV_MTU_4096 || offer->qpn > 0xffffff ||
	    offer->psn > 0xffffff)
		return error_set(error, WRING_ERR_TRANSPORT,
				 "rank %d sent an address that cannot be: MTU code %u, queue pair "
				 "0x%x, PSN 0x%x; do all ranks run the same Wring?",
				 vl->link->peer, remote->mtu, offer->qpn, offer->psn);
	return WRING_OK;
}

enum wring_status verbs_link_connect(struct link *link, const struct transport_offer *offer,
				     struct wring_error *error)
{
	const struct verbs_address *remote = &offer->verbs_address;
	struct verbs_link *vl = verbs_link_of(link);
	enum wring_status status = check_remote(vl, remote, &offer->verbs, error);
	uint32_t own_mtu = (uint32_t)vl->verbs->attr.active_mtu;
	struct ibv_ah_attr path;
	int failed;

	if (status)
		return status;
	vl->remote = offer->verbs;
	vl->mtu = remote->mtu < own_mtu ? remote->mtu : own_mtu;
	fill_path(vl->verbs, remote, &path);
	status = confirm_reachable(vl, &path, error);
	if (status)
		return status;
	failed = verbs_post_receives(vl, vl->receives);
	if (failed)
		return verbs_call_failed(vl->verbs, link->peer, "ibv_post_recv", failed,
					 "lower WRING_SLOTS", error);
	failed = to_rtr(vl, &path);
	if (failed)
		return cannot_reach(vl, &path, "ibv_modify_qp to RTR", failed, error);
	trace_state(vl, "RTR");
	failed = to_rts(vl);
	if (failed)
		return verbs_call_failed(vl->verbs, link->peer, "ibv_modify_qp to RTS", failed,
					 "check WRING_QP_TIMEOUT and WRING_QP_RETRY", error);
	trace_state(vl, "RTS");
	return WRING_OK;
}

/* --- ending -------------------------------------------------------------------------------- */

void verbs_link_to_error(struct link *link)
{
	struct verbs_link *vl = verbs_link_of(link);

	if (!vl || !vl->qp || vl->ended)
		return;
	vl->ended = true;
	to_error(vl);
	verbs_mark_dead(vl);
}

void verbs_link_free(struct link *link)
{
	struct verbs_link *vl = verbs_link_of(link);

	if (!vl)
		return;
	verbs_link_to_error(link);
	verbs_forget_receives(vl);
	if (vl->qp)
		(void)ibv_destroy_qp(vl->qp);
	if (vl->mr)
		(void)ibv_dereg_mr(vl->mr);
	if (vl->memory)
		(void)munmap(vl->memory, vl->memory_len);
	free(vl->sent_at);
	free(vl->kinds);
	free(vl);
	link->back_end = NULL;
	link->tx_area = NULL;
	link->ops = NULL;
}

void verbs_link_describe(const struct link *link, struct wring_peer_info *info)
{
	const struct verbs_link *vl = verbs_link_of(link);

	info->transport = WRING_TRANSPORT_VERBS;
	verbs_describe_port(vl->verbs, info);
	info->mtu = verbs_mtu_bytes(vl->mtu);
	info->qpn = vl->qp->qp_num;
	info->remote_qpn = vl->remote.qpn;
}
