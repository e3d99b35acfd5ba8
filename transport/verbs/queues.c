/* queues.c: makes completion queue and queue pairs as deep as they must and can be. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "transport/verbs/verbs_state.h"

uint32_t verbs_send_depth(const struct verbs *verbs, uint32_t slots, uint32_t credits)
{
	return slots * verbs->writes_per_message + credits + SEND_RESERVE;
}

uint32_t verbs_receive_depth(uint32_t slots)
{
	return 3 * slots + RESERVES;
}

static uint64_t cq_depth(const struct verbs *verbs, uint32_t queue_pairs, uint32_t slots)
{
	return (uint64_t)queue_pairs *
	       (verbs_send_depth(verbs, slots, verbs->credit_room) + verbs_receive_depth(slots));
}

static enum wring_status cq_failed(const struct verbs *verbs, uint64_t depth, int native,
				   struct wring_error *error)
{
	char call[64];

	if (depth > (uint64_t)verbs->limits.max_cqe)
		return error_set(
			error, WRING_ERR_NO_DEVICE,
			"%s has completion queues of %d entries (max_cqe), this rank needs "
			"%" PRIu64 " for all its peers; lower WRING_SLOTS",
			verbs->device, verbs->limits.max_cqe, depth);
	(void)snprintf(call, sizeof(call), "ibv_create_cq of %" PRIu64 " entries", depth);
	return verbs_pin_failed(verbs, call, native, (size_t)depth * 64, error);
}

/* Only the room for credit writes is optional (a credit without room is sent later): halve it until
 * the CQ fits. */
static enum wring_status make_deepest_cq(struct verbs *verbs, uint32_t queue_pairs, uint32_t slots,
					 struct wring_error *error)
{
	struct ibv_context *context = verbs->context;
	int vector = verbs->transport->rank %
		     (context->num_comp_vectors > 0 ? context->num_comp_vectors : 1);
	uint64_t depth;
	int native = 0;

	for (verbs->credit_room = slots; verbs->credit_room; verbs->credit_room /= 2) {
		depth = cq_depth(verbs, queue_pairs, slots);
		if (depth > (uint64_t)verbs->limits.max_cqe)
			continue;
		verbs->cq = ibv_create_cq(context, (int)depth, verbs, verbs->channel, vector);
		if (verbs->cq)
			return WRING_OK;
		native = errno;
		if (native != ENOMEM)
			break;
	}
	if (!verbs->credit_room)
		verbs->credit_room = 1;
	return cq_failed(verbs, cq_depth(verbs, queue_pairs, slots), native, error);
}

enum wring_status verbs_make_cq(struct verbs *verbs, uint32_t queue_pairs, uint32_t slots,
				struct wring_error *error)
{
	verbs->channel = ibv_create_comp_channel(verbs->context);
	if (!verbs->channel)
		return verbs_call_failed(verbs, -1, "ibv_create_comp_channel", errno,
					 "how many files may be open? ulimit -n", error);
	return make_deepest_cq(verbs, queue_pairs ? queue_pairs : 1, slots, error);
}

/* --- queue pairs --------------------------------------------------------------------------- */

static void fill_init_attr(const struct verbs_link *vl, struct ibv_qp_init_attr *attr)
{
	struct verbs *verbs = vl->verbs;

	*attr = (struct ibv_qp_init_attr){
		.qp_context = vl->link,
		.send_cq = verbs->cq,
		.recv_cq = verbs->cq,
		.cap = {.max_send_wr = vl->depth,
			.max_recv_wr = vl->receives,
			.max_send_sge = verbs->limits.max_sge < 2 ? 1 : 2,
			.max_recv_sge = 0, /* what arrives is in the immediate */
			.max_inline_data = vl->max_inline},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
	};
}

static enum wring_status check_depths(const struct verbs_link *vl, struct wring_error *error)
{
	const struct verbs *verbs = vl->verbs;
	uint32_t need = verbs_send_depth(verbs, vl->link->tx.slots, 1);

	if (need < vl->receives)
		need = vl->receives;
	if (need <= (uint32_t)verbs->limits.max_qp_wr)
		return WRING_OK;
	return error_set(error, WRING_ERR_NO_DEVICE,
			 "%s has queues of %d work requests (max_qp_wr), %u slots need %" PRIu32
			 "; lower WRING_SLOTS",
			 verbs->device, verbs->limits.max_qp_wr, vl->link->tx.slots, need);
}

static enum wring_status qp_failed(const struct verbs_link *vl, int native,
				   struct wring_error *error)
{
	char call[128];

	(void)snprintf(call, sizeof(call),
		       "ibv_create_qp for rank %d with %" PRIu32 " sends and %" PRIu32 " receives",
		       vl->link->peer, vl->depth, vl->receives);
	if (native == ENOMEM || native == EPERM)
		return verbs_pin_failed(vl->verbs, call, native,
					((size_t)vl->depth + vl->receives) * 128, error);
	return verbs_call_failed(vl->verbs, vl->link->peer, call, native,
				 "dmesg may tell more; lower WRING_SLOTS", error);
}

static uint32_t fitting_credits(const struct verbs_link *vl)
{
	const struct verbs *verbs = vl->verbs;
	uint32_t credits = verbs->credit_room;

	while (credits > 1 && verbs_send_depth(verbs, vl->link->tx.slots, credits) >
				      (uint32_t)verbs->limits.max_qp_wr)
		credits /= 2;
	return credits;
}

/* One completion frees many slots, yet enough slots stay free without it; and credits, which share
 * the queue, must not fill their room before one of them is signaled. */
static uint32_t choose_signaling(const struct verbs_link *vl, uint32_t credits)
{
	uint32_t every = vl->link->tx.slots / 4;

	if (every > credits / 2)
		every = credits / 2;
	return every ? every : 1;
}

/* Devices differ in how much goes inline, and some say so only by refusing. */
enum wring_status verbs_make_qp(struct verbs_link *vl, struct wring_error *error)
{
	uint32_t credits = fitting_credits(vl);
	struct ibv_qp_init_attr attr;
	enum wring_status status;

	vl->receives = verbs_receive_depth(vl->link->rx.slots);
	vl->max_inline = sizeof(struct slot_header);
	status = check_depths(vl, error);
	if (status)
		return status;
	for (;;) {
		vl->depth = verbs_send_depth(vl->verbs, vl->link->tx.slots, credits);
		fill_init_attr(vl, &attr);
		vl->qp = ibv_create_qp(vl->verbs->pd, &attr);
		if (vl->qp)
			break;
		if (errno == EINVAL && vl->max_inline)
			vl->max_inline = 0;
		else if (errno == ENOMEM && credits > 1)
			credits /= 2;
		else
			return qp_failed(vl, errno, error);
	}
	vl->max_inline = attr.cap.max_inline_data;
	vl->two_sources = attr.cap.max_send_sge >= 2;
	vl->signal_every = choose_signaling(vl, credits);
	return WRING_OK;
}
