/* completions.c: looks at the completion queue: what has arrived, what has left, what failed. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>

#include "transport/verbs/verbs_state.h"

enum { BATCH = 16 };

/* --- arrivals ------------------------------------------------------------------------------ */

static void refuse_notice(struct verbs_link *vl, uint32_t notice, const char *why)
{
	verbs_note(vl->verbs, vl->link->peer, 0,
		   "a notice of kind %u, number %u arrived, %s; do all ranks run the same Wring?",
		   notice >> NOTICE_KIND_SHIFT, notice_number(notice), why);
}

static void message_arrived(struct verbs_link *vl, uint32_t notice)
{
	struct link *link = vl->link;

	if (notice_number(notice) != ((uint32_t)link->arrived & NOTICE_MASK)) {
		refuse_notice(vl, notice, "which is not the next one");
		return;
	}
	if (link->arrived - link->consumed >= link->rx.slots) {
		refuse_notice(vl, notice, "for which there was no credit");
		return;
	}
	vl->kinds[link->arrived & (link->rx.slots - 1)] = (uint8_t)(notice >> NOTICE_KIND_SHIFT);
	link->arrived++;
	transport_progressed(link->transport);
}

/* The credit word may have told more already: it is read where it stands. */
static void credit_arrived(struct verbs_link *vl, uint32_t notice)
{
	struct link *link = vl->link;
	uint32_t behind = ((uint32_t)link->sent - notice) & NOTICE_MASK;

	if (behind > verbs_receive_depth(link->tx.slots))
		refuse_notice(vl, notice, "with a count of consumed messages that cannot be");
	else if (behind < link->sent - link->credits_seen)
		link_believe_credit(link, link->sent - behind);
}

static void notice_arrived(struct verbs_link *vl, uint32_t notice)
{
	credit_arrived(vl, notice);
	switch (notice >> NOTICE_KIND_SHIFT) {
	case NOTICE_MESSAGE:
	case NOTICE_DIRECT:
		message_arrived(vl, notice);
		break;
	case NOTICE_CREDIT:
		break;
	case NOTICE_ABORT:
		vl->record_arrived[RESERVE_ABORT] = true;
		break;
	case NOTICE_LEAVE:
		vl->record_arrived[RESERVE_LEAVE] = true;
		break;
	default:
		refuse_notice(vl, notice, "which Wring does not send");
	}
}

static void received(struct verbs_link *vl, const struct ibv_wc *wc)
{
	verbs_receive_used(vl);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		notice_arrived(vl, ntohl(wc->imm_data));
	else
		verbs_note(
			vl->verbs, vl->link->peer, 0,
			"a completion without an immediate (opcode %d) arrived; please report it",
			(int)wc->opcode);
}

/* --- completions --------------------------------------------------------------------------- */

/* A queue pair fails once: the first bad completion is the cause, flushes only follow. One that
 * has seen nothing but flushes is looked at again by verbs_watch. */
static void completion_failed(struct verbs_link *vl, const struct ibv_wc *wc)
{
	if (vl->dead || vl->link->closed)
		return;
	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		vl->stranded = true;
		return;
	}
	verbs_mark_dead(vl);
	if (!vl->link->left && !vl->record_arrived[RESERVE_LEAVE])
		verbs_note_completion(vl, wc);
}

static void completed(struct verbs *verbs, const struct ibv_wc *wc)
{
	struct link *link = &verbs->transport->links[verbs_id_peer(wc->wr_id)];
	struct verbs_link *vl = verbs_link_of(link);

	if (!vl)
		return; /* it was closed, and this stood in the queue still */
	if (wc->status != IBV_WC_SUCCESS)
		completion_failed(vl, wc);
	else if (wc->wr_id & ID_RECEIVE)
		received(vl, wc);
	else
		verbs_sent(vl, (uint32_t)wc->wr_id);
}

/* The loop ends: no receive is posted in it, so no more can arrive than were posted before. What
 * went wrong is told at the end, when all that had arrived before is known. */
void verbs_poll(struct verbs *verbs)
{
	struct ibv_wc wcs[BATCH];
	int n;

	do {
		n = ibv_poll_cq(verbs->cq, BATCH, wcs);
		for (int i = 0; i < n; i++)
			completed(verbs, &wcs[i]);
	} while (n == BATCH);
	if (n < 0)
		verbs_note(verbs, -1, n, "ibv_poll_cq returned %d; dmesg may tell more", n);
	verbs_repost_receives(verbs);
	verbs_tell(verbs);
}

bool verbs_peek(struct link *link, struct message *message)
{
	const struct verbs_link *vl = verbs_link_of(link);

	if (link->consumed == link->arrived)
		return false;
	if (vl->kinds[link->consumed & (link->rx.slots - 1)] == NOTICE_MESSAGE)
		return link_read_header(link, link_rx_header(link, link->consumed), message);
	*message = (struct message){.kind = MESSAGE_DIRECT};
	return true;
}

const struct reserve_record *verbs_find_record(struct link *link, enum reserve which)
{
	const struct verbs_link *vl = verbs_link_of(link);

	if (!vl->record_arrived[which])
		return NULL;
	return (const struct reserve_record *)(const void *)(link->rx_area +
							     area_reserve_at(&link->rx, which));
}
