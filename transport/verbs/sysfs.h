/* sysfs.h: what the kernel's files under /sys say of a device and verbs calls do not. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_VERBS_SYSFS_H
#define TRANSPORT_VERBS_SYSFS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

/* rxe or siw: no hardware behind it. */
bool verbs_is_software(const struct ibv_device *device);

/* The netdev under a RoCE port, "" if there is none to be seen. */
void verbs_netdev(const struct ibv_device *device, int port, char *name, size_t len);

#endif
