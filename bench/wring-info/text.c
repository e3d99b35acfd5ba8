/* text.c: the findings for people. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-info/wring-info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_limit(const char *name, rlim_t value)
{
	if (value == RLIM_INFINITY)
		(void)printf("%s unlimited", name);
	else
		(void)printf("%s %" PRIu64 " bytes", name, (uint64_t)value);
}

static void print_gid(const struct info_port *port, int i)
{
	const struct info_gid *gid = &port->gids[i];
	char text[GID_TEXT];

	verbs_gid_text(&gid->gid.value, text);
	(void)printf("    %c GID %-3d %-39s %-19s %-8s %s\n", i == port->chosen ? '*' : ' ',
		     gid->gid.index, text, verbs_gid_class_text(gid->gid.class), gid->netdev,
		     info_gid_reason(port, i));
}

static void print_port(const struct info_port *port)
{
	(void)printf("  port %d  %s, %s", port->number, ibv_port_state_str(port->attr.state),
		     info_layer(port));
	if (*port->netdev)
		(void)printf(" %s", port->netdev);
	(void)printf(", MTU %d of %d", info_mtu_bytes(port->attr.active_mtu),
		     info_mtu_bytes(port->attr.max_mtu));
	if (port->attr.lid)
		(void)printf(", LID %u", port->attr.lid);
	(void)printf(", messages up to %" PRIu32 " bytes\n", port->attr.max_msg_sz);
	for (int i = 0; i < port->n_gids; i++)
		print_gid(port, i);
	if (port->usable)
		(void)printf("    can be used\n");
	else
		(void)printf("    cannot be used: %s\n", port->why);
}

static void print_device(const struct info_device *device)
{
	(void)printf("%s  %s%s, near CPUs %s\n", device->name, info_transport(device),
		     device->software ? ", software (works on a CPU of this machine)" : "",
		     *device->cpus ? device->cpus : "unknown");
	if (device->open_error) {
		(void)printf("  cannot be opened: %s\n", strerror(device->open_error));
		return;
	}
	(void)printf("  limits  %d queue pairs, %d work requests each, %d sources each, "
		     "%d completions per queue, %d regions\n",
		     device->limits.max_qp, device->limits.max_qp_wr, device->limits.max_sge,
		     device->limits.max_cqe, device->limits.max_mr);
	for (int i = 0; i < device->n_ports; i++)
		print_port(&device->ports[i]);
	if (!device->n_ports)
		(void)printf("  no such port\n");
}

/* What switches and routers sort packets by: it must be what the fabric was set up for. */
static void print_settings(const struct info *info)
{
	if (info->refused.status)
		(void)printf("The environment is refused: %s\n", info->refused.text);
	else
		(void)printf("Traffic class %d (WRING_TRAFFIC_CLASS), "
			     "service level %d (WRING_SERVICE_LEVEL)\n",
			     info->settings.traffic_class, info->settings.service_level);
}

static void print_mends(const struct info *info)
{
	if (!info->n_mends)
		return;
	(void)printf("\nWhat to do\n");
	for (int i = 0; i < info->n_mends; i++)
		(void)printf("  %s\n      %s\n", info->mends[i].command, info->mends[i].reason);
}

void info_print_text(const struct info *info)
{
	(void)printf("wring %s on %s\n", wring_version(), info->host);
	print_limit("RLIMIT_MEMLOCK", info->memlock.rlim_cur);
	print_limit(", at most", info->memlock.rlim_max);
	(void)printf("\n");
	print_settings(info);
	(void)printf("\n");
	for (int i = 0; i < info->n_devices; i++)
		print_device(&info->devices[i]);
	if (!info->n_devices)
		(void)printf("no RDMA device\n");
	if (info->nearest >= 0)
		(void)printf("\nNearest: %s (%s)\n", info->devices[info->nearest].name,
			     info->nearest_why);
	print_mends(info);
}
