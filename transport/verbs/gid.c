/* gid.c: reads a port's GID table and chooses by type and family, never by number. */
/* SPDX-License-Identifier: MIT */
#include "transport/verbs/gid.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool all_zero(const union ibv_gid *value)
{
	static const union ibv_gid zero;

	return memcmp(value, &zero, sizeof(zero)) == 0;
}

static enum gid_class classify_v2(const struct in6_addr *address)
{
	if (IN6_IS_ADDR_V4MAPPED(address)) {
		if (address->s6_addr[12] == 169 && address->s6_addr[13] == 254)
			return GID_V2_LINK_LOCAL;
		return GID_V2_IPV4;
	}
	return IN6_IS_ADDR_LINKLOCAL(address) ? GID_V2_LINK_LOCAL : GID_V2_IPV6;
}

static enum gid_class classify(const struct ibv_gid_entry *entry)
{
	struct in6_addr address;

	if (all_zero(&entry->gid))
		return GID_EMPTY;
	memcpy(&address, &entry->gid, sizeof(address));
	switch (entry->gid_type) {
	case IBV_GID_TYPE_IB:
		return GID_INFINIBAND;
	case IBV_GID_TYPE_ROCE_V1:
		return GID_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return classify_v2(&address);
	default:
		return GID_EMPTY;
	}
}

void verbs_gid_read(struct ibv_context *context, int port, int index, struct verbs_gid *gid)
{
	struct ibv_gid_entry entry;

	*gid = (struct verbs_gid){.index = index};
	memset(&entry, 0, sizeof(entry));
	if (ibv_query_gid_ex(context, (uint32_t)port, (uint32_t)index, &entry, 0))
		return;
	gid->class = classify(&entry);
	gid->type = entry.gid_type;
	gid->netdev = entry.ndev_ifindex;
	gid->value = entry.gid;
}

void verbs_gid_choose(struct ibv_context *context, int port, const struct ibv_port_attr *attr,
		      struct verbs_gid *gid)
{
	/* InfiniBand: entry 0 is the port's own; others are aliases. */
	int n = attr->link_layer == IBV_LINK_LAYER_ETHERNET ? attr->gid_tbl_len : 1;
	struct verbs_gid entry;

	*gid = (struct verbs_gid){.index = -1};
	for (int index = 0; index < n; index++) {
		verbs_gid_read(context, port, index, &entry);
		if (entry.class > gid->class)
			*gid = entry;
	}
}

const char *verbs_gid_class_text(enum gid_class class)
{
	switch (class) {
	case GID_ROCE_V1:
		return "RoCE v1";
	case GID_V2_LINK_LOCAL:
		return "RoCE v2, link-local";
	case GID_V2_IPV6:
		return "RoCE v2, IPv6";
	case GID_V2_IPV4:
		return "RoCE v2, IPv4";
	case GID_INFINIBAND:
		return "InfiniBand";
	case GID_EMPTY:
	default:
		return "empty";
	}
}

void verbs_gid_text(const union ibv_gid *value, char *text)
{
	if (!inet_ntop(AF_INET6, value, text, GID_TEXT))
		(void)snprintf(text, GID_TEXT, "?");
}
