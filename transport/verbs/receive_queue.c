/* receive_queue.c: posts receives, and reposts those that have been used. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "transport/verbs/verbs_state.h"

enum { BATCH = 16 };

/* All receives of a link are alike: no memory, an id that says whose they are. */
static void fill_receives(const struct verbs_link *vl, struct ibv_recv_wr *wrs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		wrs[i] = (struct ibv_recv_wr){
			.wr_id = verbs_receive_id(vl->link->peer),
			.next = i + 1 < n ? &wrs[i + 1] : NULL,
		};
}

int verbs_post_receives(struct verbs_link *vl, uint32_t n)
{
	struct ibv_recv_wr wrs[BATCH], *bad;
	uint32_t now;
	int failed;

	for (; n; n -= now) {
		now = n < BATCH ? n : BATCH;
		fill_receives(vl, wrs, now);
		failed = ibv_post_recv(vl->qp, wrs, &bad);
		if (failed)
			return failed;
	}
	return 0;
}

void verbs_receive_used(struct verbs_link *vl)
{
	if (vl->used++)
		return;
	vl->next_to_repost = vl->verbs->to_repost;
	vl->verbs->to_repost = vl;
}

void verbs_repost_receives(struct verbs *verbs)
{
	struct verbs_link *vl;
	uint32_t used;
	int failed;

	while ((vl = verbs->to_repost)) {
		verbs->to_repost = vl->next_to_repost;
		used = vl->used;
		vl->used = 0;
		if (vl->dead || vl->link->closed)
			continue;
		failed = verbs_post_receives(vl, used);
		if (failed)
			verbs_note(verbs, vl->link->peer, failed,
				   "ibv_post_recv: %s; dmesg may tell more", strerror(failed));
	}
}

void verbs_forget_receives(struct verbs_link *vl)
{
	struct verbs_link **at = &vl->verbs->to_repost;

	while (*at && *at != vl)
		at = &(*at)->next_to_repost;
	if (*at)
		*at = vl->next_to_repost;
}
