/* gather.c: looks at devices, ports, GIDs, limits and the machine around them. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-info/wring-info.h"
#include "transport/verbs/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bootstrap/config.h"
#include "bootstrap/topology.h"

const char *info_layer(const struct info_port *port)
{
	switch (port->attr.link_layer) {
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	case IBV_LINK_LAYER_INFINIBAND:
	case IBV_LINK_LAYER_UNSPECIFIED: /* so say drivers that know no other */
		return "InfiniBand";
	default:
		return "unknown";
	}
}

const char *info_transport(const struct info_device *device)
{
	switch ((int)device->transport) {
	case IBV_TRANSPORT_IB:
		return "InfiniBand or RoCE";
	case IBV_TRANSPORT_IWARP:
		return "iWARP";
	default:
		return "another transport";
	}
}

const char *info_gid_reason(const struct info_port *port, int i)
{
	const struct verbs_gid *gid = &port->gids[i].gid, *best;

	if (i == port->chosen)
		return gid->class == GID_INFINIBAND ? "chosen: the port's own"
						    : "chosen: the best type and family";
	if (port->chosen < 0)
		return "";
	best = &port->gids[port->chosen].gid;
	if (gid->class == GID_INFINIBAND)
		return "an alias";
	return gid->class == best->class ? "as good, but later" : "comes after the chosen one";
}

int info_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << (int)mtu : 0;
}

/* --- one device ---------------------------------------------------------------------------- */

static void gather_gids(struct info_port *port, struct ibv_context *context, int chosen)
{
	struct verbs_gid gid;

	for (int i = 0; i < port->attr.gid_tbl_len && port->n_gids < INFO_GIDS; i++) {
		verbs_gid_read(context, port->number, i, &gid);
		if (gid.class == GID_EMPTY)
			continue;
		if (i == chosen)
			port->chosen = port->n_gids;
		port->gids[port->n_gids].gid = gid;
		if (gid.netdev)
			(void)if_indextoname(gid.netdev, port->gids[port->n_gids].netdev);
		port->n_gids++;
	}
}

static void gather_port(struct info_port *port, struct ibv_context *context, int number)
{
	struct verbs verbs = {.context = context, .gid = {.index = -1}};
	struct wring_error error;

	port->number = number;
	port->chosen = -1;
	port->usable = verbs_port_look(&verbs, number, -1, &error) == WRING_OK;
	if (!port->usable)
		(void)snprintf(port->why, sizeof(port->why), "%s", error.text);
	port->attr = verbs.attr;
	verbs_netdev(context->device, number, port->netdev, sizeof(port->netdev));
	/* a port that is down has a favourite, too */
	verbs_gid_choose(context, number, &port->attr, &verbs.gid);
	gather_gids(port, context, verbs.gid.index);
}

static void gather_ports(struct info_device *device, struct ibv_context *context, int only)
{
	int last;

	if (ibv_query_device(context, &device->limits))
		return;
	last = device->limits.phys_port_cnt;
	for (int number = 1; number <= last && device->n_ports < INFO_PORTS; number++)
		if (only < 0 || only == number)
			gather_port(&device->ports[device->n_ports++], context, number);
}

static void gather_device(struct info_device *device, struct ibv_device *ibv, int port)
{
	struct ibv_context *context;

	(void)snprintf(device->name, sizeof(device->name), "%s", ibv->name);
	(void)snprintf(device->file, sizeof(device->file), "%s", ibv->dev_name);
	device->transport = ibv->transport_type;
	device->software = verbs_is_software(ibv);
	context = ibv_open_device(ibv);
	if (!context) {
		device->open_error = errno ? errno : EIO;
		return;
	}
	gather_ports(device, context, port);
	(void)ibv_close_device(context);
}

static void gather_devices(struct info *info, const struct info_filter *filter)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (!devices) {
		info->list_error = errno;
		return;
	}
	for (int i = 0; devices[i] && info->n_devices < INFO_DEVICES; i++)
		if (!*filter->device || strcmp(filter->device, devices[i]->name) == 0)
			gather_device(&info->devices[info->n_devices++], devices[i], filter->port);
	ibv_free_device_list(devices);
}

/* --- the machine --------------------------------------------------------------------------- */

static bool has_usable_port(const struct info_device *device)
{
	for (int i = 0; i < device->n_ports; i++)
		if (device->ports[i].usable)
			return true;
	return false;
}

static void find_nearest(struct info *info, const struct topology *topology)
{
	const char *names[INFO_DEVICES];
	int indices[INFO_DEVICES], n = 0, nearest;

	for (int i = 0; i < info->n_devices; i++) {
		if (!has_usable_port(&info->devices[i]))
			continue;
		indices[n] = i;
		names[n++] = info->devices[i].name;
	}
	nearest = topology_nearest_device(topology, names, n, info->nearest_why,
					  sizeof(info->nearest_why));
	info->nearest = nearest < 0 ? -1 : indices[nearest];
}

static void gather_places(struct info *info)
{
	struct topology *topology = topology_load(NULL, NULL);
	struct info_device *device;

	if (!topology)
		return;
	for (int i = 0; i < info->n_devices; i++) {
		device = &info->devices[i];
		(void)topology_device_cpus(topology, device->name, device->cpus,
					   sizeof(device->cpus));
	}
	find_nearest(info, topology);
	topology_free(topology);
}

void info_gather(struct info *info, const struct info_filter *filter)
{
	memset(info, 0, sizeof(*info));
	info->nearest = -1;
	(void)gethostname(info->host, sizeof(info->host) - 1);
	(void)getrlimit(RLIMIT_MEMLOCK, &info->memlock);
	(void)config_resolve(&info->settings, NULL, environ, &info->refused);
	gather_devices(info, filter);
	if (info->n_devices)
		gather_places(info);
	for (int i = 0; i < info->n_devices; i++)
		info->usable = info->usable || has_usable_port(&info->devices[i]);
}
