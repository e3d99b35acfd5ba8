/* json_report.c: the findings for programs. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-info/wring-info.h"

#include <stdio.h>
#include <string.h>

#include "bench/json.h"

static void write_limit(struct json *json, const char *name, rlim_t value)
{
	if (value == RLIM_INFINITY)
		json_text(json, name, "unlimited");
	else
		json_integer(json, name, (long long)value);
}

static void write_gid(struct json *json, const struct info_port *port, int i)
{
	const struct info_gid *gid = &port->gids[i];
	char text[GID_TEXT];

	verbs_gid_text(&gid->gid.value, text);
	json_open(json, NULL, '{');
	json_integer(json, "index", gid->gid.index);
	json_text(json, "gid", text);
	json_text(json, "type", verbs_gid_class_text(gid->gid.class));
	json_text(json, "netdev", gid->netdev);
	json_bool(json, "chosen", i == port->chosen);
	json_text(json, "why", info_gid_reason(port, i));
	json_close(json, '}');
}

static void write_port(struct json *json, const struct info_port *port)
{
	json_open(json, NULL, '{');
	json_integer(json, "port", port->number);
	json_text(json, "state", ibv_port_state_str(port->attr.state));
	json_text(json, "link_layer", info_layer(port));
	json_text(json, "netdev", port->netdev);
	json_integer(json, "mtu", info_mtu_bytes(port->attr.active_mtu));
	json_integer(json, "max_mtu", info_mtu_bytes(port->attr.max_mtu));
	json_integer(json, "lid", port->attr.lid);
	json_integer(json, "max_msg_sz", port->attr.max_msg_sz);
	json_bool(json, "usable", port->usable);
	json_text(json, "why", port->why);
	json_open(json, "gids", '[');
	for (int i = 0; i < port->n_gids; i++)
		write_gid(json, port, i);
	json_close(json, ']');
	json_close(json, '}');
}

static void write_device(struct json *json, const struct info_device *device)
{
	json_open(json, NULL, '{');
	json_text(json, "device", device->name);
	json_text(json, "transport", info_transport(device));
	json_bool(json, "software", device->software);
	json_text(json, "error", device->open_error ? strerror(device->open_error) : "");
	json_text(json, "cpus", device->cpus);
	json_integer(json, "max_qp", device->limits.max_qp);
	json_integer(json, "max_qp_wr", device->limits.max_qp_wr);
	json_integer(json, "max_sge", device->limits.max_sge);
	json_integer(json, "max_cqe", device->limits.max_cqe);
	json_integer(json, "max_mr", device->limits.max_mr);
	json_open(json, "ports", '[');
	for (int i = 0; i < device->n_ports; i++)
		write_port(json, &device->ports[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static void write_settings(struct json *json, const struct info *info)
{
	if (info->refused.status) {
		json_text(json, "refused", info->refused.text);
		return;
	}
	json_integer(json, "traffic_class", info->settings.traffic_class);
	json_integer(json, "service_level", info->settings.service_level);
}

static void write_mends(struct json *json, const struct info *info)
{
	json_open(json, "what_to_do", '[');
	for (int i = 0; i < info->n_mends; i++) {
		json_open(json, NULL, '{');
		json_text(json, "command", info->mends[i].command);
		json_text(json, "reason", info->mends[i].reason);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void info_print_json(const struct info *info)
{
	struct json json = {.file = stdout};

	json_open(&json, NULL, '{');
	json_text(&json, "wring", wring_version());
	json_text(&json, "host", info->host);
	write_limit(&json, "memlock", info->memlock.rlim_cur);
	write_limit(&json, "memlock_max", info->memlock.rlim_max);
	write_settings(&json, info);
	json_bool(&json, "usable", info->usable);
	json_text(&json, "nearest", info->nearest < 0 ? "" : info->devices[info->nearest].name);
	json_text(&json, "nearest_why", info->nearest < 0 ? "" : info->nearest_why);
	json_open(&json, "devices", '[');
	for (int i = 0; i < info->n_devices; i++)
		write_device(&json, &info->devices[i]);
	json_close(&json, ']');
	write_mends(&json, info);
	json_close(&json, '}');
	(void)fputc('\n', stdout);
}
