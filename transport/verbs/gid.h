/* gid.h: which entry of a port's GID table stands for this rank, and why. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_VERBS_GID_H
#define TRANSPORT_VERBS_GID_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an entry is good for, the best last. */
enum gid_class {
	GID_EMPTY = 0, /* or unreadable */
	GID_ROCE_V1,
	GID_V2_LINK_LOCAL, /* IPv6 fe80::, IPv4 169.254. */
	GID_V2_IPV6,
	GID_V2_IPV4,
	GID_INFINIBAND
};

struct verbs_gid {
	int index; /* -1: none; then only a LID addresses the port */
	enum gid_class class;
	uint32_t type;	 /* enum ibv_gid_type */
	uint32_t netdev; /* interface index, 0 if unknown */
	union ibv_gid value;
};

enum { GID_TEXT = 46 };

/* Read one entry; class GID_EMPTY if nothing usable is there. */
void verbs_gid_read(struct ibv_context *context, int port, int index, struct verbs_gid *gid);

/* The best entry of the port; index -1 if all are empty. Unreadable ones are passed over. */
void verbs_gid_choose(struct ibv_context *context, int port, const struct ibv_port_attr *attr,
		      struct verbs_gid *gid);

/* "RoCE v2, IPv4" and the like. */
const char *verbs_gid_class_text(enum gid_class class);

/* The value as an IPv6 address; text holds GID_TEXT bytes. */
void verbs_gid_text(const union ibv_gid *value, char *text);

#endif
