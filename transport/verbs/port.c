/* port.c: opens and closes one port of an HCA: context, PD, CQ, memory regions. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "transport/verbs/verbs_state.h"

/*
 * A child of fork() shares the parent's pages until one of them writes; on kernels before 5.12 the
 * parent may then be given the copy, while the HCA keeps the original. ibv_fork_init excludes
 * registered pages from children instead. Where the kernel copies at fork (UNNEEDED) or somebody
 * has called it (ENABLED) nothing is left to do; where somebody registers memory already it is too
 * late, which concerns only the program's own registered buffers: what Wring registers for itself
 * is mapped shared, and shared pages are never copied.
 */
static void survive_fork(void)
{
	if (ibv_is_fork_initialized() == IBV_FORK_DISABLED)
		(void)ibv_fork_init();
}

static enum wring_status check_settings(const struct verbs *verbs, struct wring_error *error)
{
	if (verbs->software && verbs->transport->config.qp_retry == 7)
		return error_set(error, WRING_ERR_INVALID,
				 "qp_retry 7 on %s: rdma_rxe takes 7 for \"for ever\" and would "
				 "never notice a dead peer; set WRING_QP_RETRY to 6 or less",
				 verbs->device);
	return WRING_OK;
}

static enum wring_status check_limits(const struct verbs *verbs, int queue_pairs,
				      struct wring_error *error)
{
	if (queue_pairs > verbs->limits.max_qp)
		return error_set(
			error, WRING_ERR_NO_DEVICE,
			"%s has %d queue pairs (max_qp), this rank needs %d, one per peer; "
			"use fewer ranks or WRING_TRANSPORT=auto",
			verbs->device, verbs->limits.max_qp, queue_pairs);
	return WRING_OK;
}

/* A message is one write, unless the port's max_msg_sz is smaller than a slot. */
static unsigned count_writes(const struct verbs *verbs)
{
	size_t bytes = sizeof(struct slot_header) + (size_t)verbs->transport->config.segment_bytes;
	size_t most = verbs->attr.max_msg_sz;

	return (unsigned)((bytes + most - 1) / most);
}

static enum wring_status allocate(struct verbs *verbs, int queue_pairs, int slots,
				  struct wring_error *error)
{
	verbs->room_confirmed = queue_pairs;
	verbs->confirmed = calloc((size_t)queue_pairs + 1, sizeof(*verbs->confirmed));
	if (!verbs->confirmed)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %d GIDs", queue_pairs);
	verbs->pd = ibv_alloc_pd(verbs->context);
	if (!verbs->pd)
		return verbs_call_failed(verbs, -1, "ibv_alloc_pd", errno,
					 "is something else using up the device?", error);
	return verbs_make_cq(verbs, (uint32_t)queue_pairs, (uint32_t)slots, error);
}

/* Both are looked at in passing, so reading them must not block. */
static enum wring_status stop_blocking(const struct verbs *verbs, struct wring_error *error)
{
	const int fds[] = {verbs->context->async_fd, verbs->channel->fd};
	int flags;

	for (int i = 0; i < 2; i++) {
		flags = fcntl(fds[i], F_GETFL);
		if (flags < 0 || fcntl(fds[i], F_SETFL, flags | O_NONBLOCK) < 0)
			return verbs_call_failed(verbs, -1, "fcntl of an event fd", errno,
						 "dmesg may tell more", error);
	}
	return WRING_OK;
}

enum wring_status verbs_open_port(struct verbs **out, struct transport *transport,
				  const char *device, int port, int queue_pairs, int slots,
				  struct wring_error *error)
{
	struct verbs *verbs = calloc(1, sizeof(*verbs));
	enum wring_status status;

	if (!verbs)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*verbs));
	verbs->transport = transport;
	survive_fork();
	status = verbs_device_open(device, &verbs->context, error);
	if (status)
		goto fail;
	status = verbs_port_look(verbs, port, transport->config.gid_index, error);
	if (!status)
		status = check_settings(verbs, error);
	if (!status)
		status = check_limits(verbs, queue_pairs, error);
	if (status)
		goto fail;
	verbs_counters_read(verbs->context->device->ibdev_path, port, &verbs->counters);
	verbs->writes_per_message = count_writes(verbs);
	status = allocate(verbs, queue_pairs, slots, error);
	if (!status)
		status = stop_blocking(verbs, error);
	if (status)
		goto fail;
	*out = verbs;
	return WRING_OK;

fail:
	verbs_close_port(verbs);
	return status;
}

void verbs_close_port(struct verbs *verbs)
{
	if (!verbs)
		return;
	if (verbs->arena)
		(void)ibv_dereg_mr(verbs->arena);
	if (verbs->cq)
		(void)ibv_destroy_cq(verbs->cq); /* every event taken was acknowledged at once */
	if (verbs->channel)
		(void)ibv_destroy_comp_channel(verbs->channel);
	if (verbs->pd)
		(void)ibv_dealloc_pd(verbs->pd);
	if (verbs->context)
		(void)ibv_close_device(verbs->context);
	free(verbs->confirmed);
	free(verbs);
}

static int own_gid_index(const struct verbs *verbs)
{
	return verbs->gid.class == GID_EMPTY ? -1 : verbs->gid.index;
}

void verbs_get_address(const struct verbs *verbs, struct verbs_address *address)
{
	memset(address, 0, sizeof(*address)); /* it is sent: no stray bytes */
	memcpy(address->device, verbs->device, sizeof(address->device));
	memcpy(address->gid, verbs->gid.value.raw, sizeof(address->gid));
	address->port = verbs->port;
	address->gid_index = own_gid_index(verbs);
	address->lid = verbs->attr.lid;
	address->mtu = (uint32_t)verbs->attr.active_mtu;
	address->link_layer = verbs->attr.link_layer;
	address->gid_type = verbs->gid.type;
	address->subnet = verbs->gid.value.global.subnet_prefix;
}

void verbs_describe_port(const struct verbs *verbs, struct wring_peer_info *info)
{
	info->port = verbs->port;
	info->gid_index = own_gid_index(verbs);
	info->lid = verbs->attr.lid;
	info->mtu = verbs_mtu_bytes((uint32_t)verbs->attr.active_mtu);
	memcpy(info->device, verbs->device, sizeof(info->device));
	verbs_gid_text(&verbs->gid.value, info->gid);
}

/* Peers may write into the arena and into registered buffers, and do nothing else. */
enum wring_status verbs_use_arena(struct verbs *verbs, void *base, size_t len,
				  struct wring_error *error)
{
	verbs->arena =
		ibv_reg_mr(verbs->pd, base, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!verbs->arena)
		return verbs_pin_failed(verbs, "ibv_reg_mr of the arena", errno, len, error);
	return WRING_OK;
}

enum wring_status verbs_register(struct verbs *verbs, struct region *region,
				 struct wring_error *error)
{
	struct ibv_mr *mr = ibv_reg_mr(verbs->pd, region->base, region->len,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		return verbs_pin_failed(verbs, "ibv_reg_mr", errno, region->len, error);
	region->mr = mr;
	region->lkey = mr->lkey;
	region->rkey = mr->rkey;
	return WRING_OK;
}

void verbs_deregister(struct region *region)
{
	if (region->mr)
		(void)ibv_dereg_mr(region->mr);
	region->mr = NULL;
}
