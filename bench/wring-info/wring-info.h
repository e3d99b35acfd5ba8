/* wring-info.h: this machine's RDMA devices, and what to do where they cannot be used. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_INFO_WRING_INFO_H
#define BENCH_WRING_INFO_WRING_INFO_H

#include <net/if.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "transport/verbs/verbs_state.h"

enum { INFO_DEVICES = 32, INFO_PORTS = 4, INFO_GIDS = 32, INFO_MENDS = 16 };

struct info_gid {
	struct verbs_gid gid;
	char netdev[IF_NAMESIZE];
};

struct info_port {
	int number;
	struct ibv_port_attr attr;
	char netdev[64];
	struct info_gid gids[INFO_GIDS]; /* those that are not empty */
	int n_gids;
	int chosen; /* in gids, or -1 */
	bool usable;
	char why[512]; /* not usable */
};

struct info_device {
	char name[64], file[64]; /* "rxe0", "uverbs0" */
	enum ibv_transport_type transport;
	bool software;
	int open_error; /* errno, 0: it was opened */
	struct ibv_device_attr limits;
	char cpus[256]; /* near to it, "" if unknown */
	struct info_port ports[INFO_PORTS];
	int n_ports;
};

/* A command, and what it is good for. */
struct info_mend {
	char command[160], reason[240];
};

struct info {
	char host[64];
	struct rlimit memlock;
	struct info_device devices[INFO_DEVICES];
	int n_devices;
	int list_error; /* errno of ibv_get_device_list */
	int nearest;	/* of the usable devices, or -1 */
	char nearest_why[128];
	struct info_mend mends[INFO_MENDS];
	int n_mends;
	bool usable;		      /* is there a port that Wring can use? */
	struct wring_config settings; /* as the environment makes them, if it is not refused */
	struct wring_error refused;
};

/* What is looked at; "" and -1: everything. */
struct info_filter {
	const char *device;
	int port;
};

/* Look at everything. Opens devices, connects to nothing, changes nothing. */
void info_gather(struct info *info, const struct info_filter *filter);

/* Find out what is missing, and the commands. */
void info_find_mends(struct info *info, const struct info_filter *filter);

void info_print_text(const struct info *info);
void info_print_json(const struct info *info);

const char *info_layer(const struct info_port *port);
const char *info_transport(const struct info_device *device);

/* Why that GID was chosen, or not. */
const char *info_gid_reason(const struct info_port *port, int i);

/* 256 << (n - 1), 0 for what is no MTU. */
int info_mtu_bytes(enum ibv_mtu mtu);

#endif
