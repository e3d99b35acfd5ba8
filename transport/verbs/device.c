/* device.c: finds devices and looks at their ports: what is there, can it be used, why not. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/verbs/sysfs.h"
#include "transport/verbs/verbs_state.h"

static enum wring_status port_not_active(const struct verbs *verbs, struct wring_error *error)
{
	char netdev[64];

	verbs_netdev(verbs->context->device, verbs->port, netdev, sizeof(netdev));
	if (verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return error_set(error, WRING_ERR_NO_DEVICE, "%s port %d is %s: ip link set %s up",
				 verbs->device, verbs->port, ibv_port_state_str(verbs->attr.state),
				 *netdev ? netdev : "NETDEV");
	return error_set(error, WRING_ERR_NO_DEVICE,
			 "%s port %d is %s: check its cable and the subnet manager", verbs->device,
			 verbs->port, ibv_port_state_str(verbs->attr.state));
}

static enum wring_status look_at_gid(struct verbs *verbs, int gid_index, struct wring_error *error)
{
	bool ethernet = verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET;

	if (gid_index < 0)
		verbs_gid_choose(verbs->context, verbs->port, &verbs->attr, &verbs->gid);
	else
		verbs_gid_read(verbs->context, verbs->port, gid_index, &verbs->gid);
	if (gid_index >= 0 && verbs->gid.class == GID_EMPTY)
		return error_set(error, WRING_ERR_INVALID,
				 "gid_index %d of %s port %d is empty: wring-info lists the others",
				 gid_index, verbs->device, verbs->port);
	if (ethernet && verbs->gid.class == GID_EMPTY)
		return error_set(error, WRING_ERR_NO_DEVICE,
				 "%s port %d has no GID: give its netdev an address (ip addr add)",
				 verbs->device, verbs->port);
	if (!ethernet && !verbs->attr.lid)
		return error_set(error, WRING_ERR_NO_DEVICE,
				 "%s port %d has no LID: is a subnet manager running?",
				 verbs->device, verbs->port);
	return WRING_OK;
}

/* Only InfiniBand's transport has RDMA Write with immediate; iWARP and others have not. */
static enum wring_status look_at_transport(const struct verbs *verbs, struct wring_error *error)
{
	if (verbs->context->device->transport_type == IBV_TRANSPORT_IB)
		return WRING_OK;
	return error_set(error, WRING_ERR_NO_DEVICE, "%s has no RDMA Write with immediate (%s)",
			 verbs->device,
			 verbs->context->device->transport_type == IBV_TRANSPORT_IWARP
				 ? "it is iWARP"
				 : "neither InfiniBand nor RoCE");
}

enum wring_status verbs_port_look(struct verbs *verbs, int port, int gid_index,
				  struct wring_error *error)
{
	enum wring_status status;
	int failed;

	(void)snprintf(verbs->device, sizeof(verbs->device), "%s", verbs->context->device->name);
	verbs->port = port;
	verbs->software = verbs_is_software(verbs->context->device);
	failed = ibv_query_device(verbs->context, &verbs->limits);
	if (failed)
		return verbs_call_failed(verbs, -1, "ibv_query_device", failed,
					 "reload its driver?", error);
	if (port > verbs->limits.phys_port_cnt)
		return error_set(error, WRING_ERR_NO_DEVICE, "%s has no port %d, only 1 to %d",
				 verbs->device, port, verbs->limits.phys_port_cnt);
	failed = ibv_query_port(verbs->context, (uint8_t)port, &verbs->attr);
	if (failed)
		return verbs_call_failed(verbs, -1, "ibv_query_port", failed,
					 "wring-info tells more", error);
	if (!verbs->attr.max_msg_sz)
		verbs->attr.max_msg_sz = 1u << 30; /* not told: assume no limit that matters */
	status = look_at_transport(verbs, error);
	if (status)
		return status;
	if (verbs->attr.state != IBV_PORT_ACTIVE)
		return port_not_active(verbs, error);
	return look_at_gid(verbs, gid_index, error);
}

/* --- listing ------------------------------------------------------------------------------- */

static void fill_candidate(struct verbs_candidate *out, const struct verbs *verbs, int port,
			   enum wring_status status, const struct wring_error *error)
{
	*out = (struct verbs_candidate){
		.port = port,
		.state = (int)verbs->attr.state,
		.software = verbs->software,
		.usable = status == WRING_OK,
		.status = (int)status,
	};
	(void)snprintf(out->device, sizeof(out->device), "%s", verbs->device);
	if (status)
		(void)snprintf(out->why, sizeof(out->why), "%.127s", error->text);
}

static void fill_closed(struct verbs_candidate *out, const struct ibv_device *device, int native)
{
	*out = (struct verbs_candidate){.port = 1,
					.software = verbs_is_software(device),
					.status = (int)WRING_ERR_NO_DEVICE};
	(void)snprintf(out->device, sizeof(out->device), "%s", device->name);
	(void)snprintf(out->why, sizeof(out->why),
		       "ibv_open_device: %s; may /dev/infiniband/%.30s "
		       "be opened?",
		       strerror(native), device->dev_name);
}

static int list_ports(struct ibv_device *device, const struct wring_config *config,
		      struct verbs_candidate *out, int room)
{
	struct verbs verbs = {.context = ibv_open_device(device)};
	int first = config->port > 0 ? config->port : 1, last = first, n = 0;
	enum wring_status status;
	struct wring_error error;

	if (!verbs.context) {
		fill_closed(out, device, errno);
		return 1;
	}
	for (int port = first; port <= last && n < room; port++) {
		verbs.attr = (struct ibv_port_attr){0};
		status = verbs_port_look(&verbs, port, config->gid_index, &error);
		fill_candidate(&out[n++], &verbs, port, status, &error);
		if (config->port <= 0)
			last = verbs.limits.phys_port_cnt;
	}
	(void)ibv_close_device(verbs.context);
	return n;
}

int verbs_candidates(const struct wring_config *config, struct verbs_candidate *out, int room)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int n = 0;

	if (!devices)
		return 0;
	for (int i = 0; devices[i] && n < room; i++) {
		if (*config->device && strcmp(devices[i]->name, config->device) != 0)
			continue;
		n += list_ports(devices[i], config, &out[n], room - n);
	}
	ibv_free_device_list(devices);
	return n;
}

enum wring_status verbs_no_device(const struct wring_config *config,
				  const struct verbs_candidate *candidates, int n,
				  struct wring_error *error)
{
	struct ibv_context *context;

	if (n > 0)
		return error_set(error,
				 candidates[0].status == (int)WRING_ERR_INVALID
					 ? WRING_ERR_INVALID
					 : WRING_ERR_NO_DEVICE,
				 "no RDMA device can be used: %s%s", candidates[0].why,
				 n > 1 ? "; wring-info shows all ports" : "");
	if (!*config->device)
		return error_set(error, WRING_ERR_NO_DEVICE,
				 "there is no RDMA device: load its driver, or for Soft-RoCE: "
				 "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev NETDEV; "
				 "wring-info tells more");
	if (!verbs_device_open(config->device, &context, error)) {
		(void)ibv_close_device(context); /* it has come in the meantime */
		return error_set(error, WRING_ERR_NO_DEVICE, "RDMA device %s: try again",
				 config->device);
	}
	return WRING_ERR_NO_DEVICE;
}

/* --- opening ------------------------------------------------------------------------------- */

static enum wring_status unknown_device(struct ibv_device **devices, const char *name,
					struct wring_error *error)
{
	char names[256] = "";
	size_t at = 0;

	for (int i = 0; devices[i] && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				       devices[i]->name);
	return error_set(error, WRING_ERR_NO_DEVICE, "there is no RDMA device %s, only: %s", name,
			 *names ? names : "none at all; wring-info tells what to do");
}

enum wring_status verbs_device_open(const char *name, struct ibv_context **context,
				    struct wring_error *error)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	enum wring_status status = WRING_OK;
	int i = 0;

	if (!devices)
		return error_native(error, WRING_ERR_NO_DEVICE, errno,
				    "ibv_get_device_list: %s; modprobe ib_uverbs, wring-info tells "
				    "more",
				    strerror(errno));
	while (devices[i] && strcmp(devices[i]->name, name) != 0)
		i++;
	if (!devices[i]) {
		status = unknown_device(devices, name, error);
	} else {
		*context = ibv_open_device(devices[i]);
		if (!*context)
			status = error_native(error, WRING_ERR_NO_DEVICE, errno,
					      "%s: ibv_open_device: %s; may /dev/infiniband/%s be "
					      "opened?",
					      name, strerror(errno), devices[i]->dev_name);
	}
	ibv_free_device_list(devices);
	return status;
}
