/* events.c: sleeping on the HCA, async events, and the slow look after silent links. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "transport/verbs/sysfs.h"
#include "transport/verbs/verbs_state.h"

/* --- async events -------------------------------------------------------------------------- */

static void port_went_down(struct verbs *verbs)
{
	int rank = verbs->transport->rank;
	char netdev[64];

	verbs_netdev(verbs->context->device, verbs->port, netdev, sizeof(netdev));
	if (verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		verbs_note(verbs, -1, 0, "the port of rank %d went down; ip link set %s up", rank,
			   *netdev ? netdev : "NETDEV");
	else
		verbs_note(verbs, -1, 0, "the port of rank %d went down; check its cable", rank);
}

/* After a flap the kernel may put the same address at another index. */
static void note_moved_gid(struct verbs *verbs, const char *text)
{
	struct verbs_gid entry;
	int index;

	for (index = 0; index < verbs->attr.gid_tbl_len; index++) {
		verbs_gid_read(verbs->context, verbs->port, index, &entry);
		if (entry.class != verbs->gid.class ||
		    memcmp(&entry.value, &verbs->gid.value, sizeof(entry.value)) != 0)
			continue;
		verbs_note(verbs, -1, 0,
			   "GID %s has moved from index %d to %d, where queue pairs that are "
			   "connected cannot follow; a new communicator finds it there",
			   text, verbs->gid.index, index);
	}
}

/* A change elsewhere in the table does not concern us. */
static void gids_changed(struct verbs *verbs)
{
	char text[GID_TEXT];
	struct verbs_gid now;

	if (verbs->gid.class == GID_EMPTY)
		return;
	verbs_gid_read(verbs->context, verbs->port, verbs->gid.index, &now);
	verbs_gid_text(&verbs->gid.value, text);
	if (memcmp(&now.value, &verbs->gid.value, sizeof(now.value)) != 0) {
		note_moved_gid(verbs, text);
		verbs_note(verbs, -1, 0,
			   "GID %s (index %d) of rank %d is gone, it was in use; was its address "
			   "taken away? ip addr",
			   text, verbs->gid.index, verbs->transport->rank);
		return;
	}
	transport_log(verbs->transport, "%s port %d: the GID table changed; GID %s stays in use",
		      verbs->device, verbs->port, text);
}

static void queue_pair_failed(struct verbs *verbs, const struct ibv_async_event *event)
{
	const struct link *link = event->element.qp->qp_context;
	struct verbs_link *vl = verbs_link_of(link);

	if (!vl || vl->dead || link->closed || link->left)
		return;
	verbs_note(verbs, link->peer, (int)event->event_type,
		   "the queue pair failed: %s; dmesg may tell more",
		   ibv_event_type_str(event->event_type));
}

static void handle_event(struct verbs *verbs, const struct ibv_async_event *event)
{
	bool ours = event->element.port_num == verbs->port;

	switch ((int)event->event_type) {
	case IBV_EVENT_PORT_ERR:
		if (ours)
			port_went_down(verbs);
		break;
	case IBV_EVENT_GID_CHANGE:
		if (ours)
			gids_changed(verbs);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
		verbs_note(verbs, -1, (int)event->event_type,
			   "%s of the device of rank %d; dmesg may tell more",
			   ibv_event_type_str(event->event_type), verbs->transport->rank);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		queue_pair_failed(verbs, event);
		break;
	default:
		break;
	}
}

static void read_events(struct verbs *verbs)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(verbs->context, &event)) {
		handle_event(verbs, &event);
		ibv_ack_async_event(&event);
	}
}

/* --- sleeping ------------------------------------------------------------------------------ */

int verbs_fds(const struct verbs *verbs, struct pollfd *fds)
{
	fds[0] = (struct pollfd){.fd = verbs->channel->fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = verbs->context->async_fd, .events = POLLIN};
	return 2;
}

void verbs_arm(struct verbs *verbs)
{
	int failed = ibv_req_notify_cq(verbs->cq, 0);

	if (!failed)
		return;
	verbs_note(verbs, -1, failed, "ibv_req_notify_cq: %s; try WRING_WAIT=yield",
		   strerror(failed));
	verbs_tell(verbs);
}

/* Acknowledged one by one: they are rare, and the queue can be destroyed at any time. */
void verbs_acknowledge(struct verbs *verbs)
{
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_cq_event(verbs->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	read_events(verbs);
	verbs_tell(verbs);
}

/* --- watching ------------------------------------------------------------------------------ */

static void note_stranded(struct verbs_link *vl)
{
	int peer = vl->link->peer;

	verbs_mark_dead(vl);
	verbs_note(vl->verbs, peer, (int)IBV_WC_WR_FLUSH_ERR,
		   "%s (status %d): the queue pair was moved to ERROR; dmesg may tell by whom",
		   ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), (int)IBV_WC_WR_FLUSH_ERR);
}

/* A signaled write under way will tell by itself; without one, nothing would. */
static void watch_link(struct verbs_link *vl)
{
	const struct link *link = vl->link;

	if (vl->dead || link->closed || link->left)
		return;
	if (vl->stranded) {
		note_stranded(vl);
		return;
	}
	verbs_retry_credit(vl);
	if (vl->signaled == vl->completed)
		verbs_probe(vl);
}

void verbs_watch(struct verbs *verbs)
{
	const struct transport *transport = verbs->transport;
	struct verbs_link *vl;

	read_events(verbs);
	for (int peer = 0; peer < transport->size; peer++) {
		vl = verbs_link_of(&transport->links[peer]);
		if (vl)
			watch_link(vl);
	}
	verbs_tell(verbs);
}
