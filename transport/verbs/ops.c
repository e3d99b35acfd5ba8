/* ops.c: the two tables by which the transport calls the verbs back end. */
/* SPDX-License-Identifier: MIT */
#include "transport/verbs/verbs_state.h"

static struct verbs *verbs_of(struct back_end *back_end)
{
	return (struct verbs *)back_end;
}

/* --- one link ------------------------------------------------------------------------------ */

/* A registered buffer can be written by whoever has its rkey. */
static void describe(struct link *link, const void *buf, size_t len, struct remote *remote)
{
	const struct region *region = region_find(&link->transport->regions, buf, len);

	if (!region || !region->mr)
		return;
	remote->address = (uintptr_t)buf;
	remote->rkey = region->rkey;
	remote->reach = 1;
}

/* Remote memory has no pointer here. */
static void *reach(struct link *link, const struct remote *remote, size_t len)
{
	(void)link;
	(void)remote;
	(void)len;
	return NULL;
}

/* A process on another host cannot be seen; verbs_watch notices that its queue pair is gone. */
static bool has_ended(const struct link *link)
{
	(void)link;
	return false;
}

const struct link_ops verbs_link_ops = {
	.make_offer = verbs_link_make_offer,
	.connect = verbs_link_connect,
	.describe_path = verbs_link_describe,
	.post = verbs_post,
	.post_from = verbs_post_from,
	.write = verbs_write,
	.peek = verbs_peek,
	.return_credit = verbs_return_credit,
	.tell_waiting = verbs_tell_waiting,
	.send_record = verbs_send_record,
	.find_record = verbs_find_record,
	.drained = verbs_drained,
	.flushed = verbs_flushed,
	.describe = describe,
	.reach = reach,
	.has_ended = has_ended,
	.close = verbs_link_to_error,
	.free = verbs_link_free,
};

/* --- the port ------------------------------------------------------------------------------ */

static enum wring_status lay_out(struct back_end *back_end, struct wring_error *error)
{
	struct verbs *verbs = verbs_of(back_end);
	struct transport *t = verbs->transport;
	enum wring_status status =
		verbs_use_arena(verbs, t->arena->base, t->arena->head_len, error);

	for (int peer = transport_next_peer(t, -1); !status && peer < t->size;
	     peer = transport_next_peer(t, peer)) {
		struct link *link = &t->links[peer];

		if (link->ops)
			continue;
		status = verbs_link_open(verbs, link, error);
		if (!status)
			link->ops = &verbs_link_ops;
	}
	return status;
}

static void poll_port(struct back_end *back_end)
{
	verbs_poll(verbs_of(back_end));
}

static void arm(struct back_end *back_end)
{
	verbs_arm(verbs_of(back_end));
}

/* An event that nobody sleeps for is acknowledged at the next waking. */
static void disarm(struct back_end *back_end)
{
	(void)back_end;
}

static int fds(const struct back_end *back_end, struct pollfd *fds)
{
	return verbs_fds((const struct verbs *)back_end, fds);
}

/* Both descriptors are read whatever poll(2) has said of them: they do not block. */
static void acknowledge(struct back_end *back_end, const struct pollfd *fds)
{
	(void)fds;
	verbs_acknowledge(verbs_of(back_end));
}

static void watch(struct back_end *back_end)
{
	verbs_watch(verbs_of(back_end));
}

static void explain_delay(const struct back_end *back_end, char *text, size_t len)
{
	verbs_loss((const struct verbs *)back_end, text, len);
}

static enum wring_status register_region(struct back_end *back_end, struct region *region,
					 struct wring_error *error)
{
	return verbs_register(verbs_of(back_end), region, error);
}

static void deregister_region(struct back_end *back_end, struct region *region)
{
	(void)back_end;
	verbs_deregister(region);
}

static void describe_port(const struct back_end *back_end, struct wring_peer_info *info)
{
	verbs_describe_port((const struct verbs *)back_end, info);
}

static void close_port(struct back_end *back_end)
{
	verbs_close_port(verbs_of(back_end));
}

static const struct back_end_ops ops = {
	.kind = WRING_TRANSPORT_VERBS,
	.polls = true,
	.lay_out = lay_out,
	.poll = poll_port,
	.arm = arm,
	.disarm = disarm,
	.fds = fds,
	.acknowledge = acknowledge,
	.watch = watch,
	.explain_delay = explain_delay,
	.register_region = register_region,
	.deregister_region = deregister_region,
	.describe = describe_port,
	.close = close_port,
};

enum wring_status verbs_open(struct back_end **back_end, struct transport *transport,
			     const char *device, int port, int queue_pairs, int slots,
			     struct wring_error *error)
{
	struct verbs *verbs;
	enum wring_status status =
		verbs_open_port(&verbs, transport, device, port, queue_pairs, slots, error);

	if (status)
		return status;
	verbs->base.ops = &ops;
	*back_end = &verbs->base;
	return WRING_OK;
}
