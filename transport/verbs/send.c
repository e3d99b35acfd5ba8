/* send.c: all that leaves through a queue pair: messages, direct writes, credits, records. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <string.h>

#include "transport/verbs/verbs_state.h"

/* One RDMA Write as it is handed to the HCA. Points into itself: never copied. */
struct write {
	struct ibv_send_wr wr;
	struct ibv_sge sources[2];
};

/* Bytes of this process, and how the HCA may read them. */
struct source {
	const void *src;
	size_t len;
	uint32_t lkey;
	bool borrowed; /* the program's memory, not to be changed until drained */
};

/* Where bytes go in the peer's memory. */
struct target {
	uint64_t address;
	uint32_t rkey;
};

/* That far from the beginning of the area that the peer has for this rank. */
static struct target area_target(const struct verbs_link *vl, size_t offset)
{
	return (struct target){
		.address = vl->remote.area_address + offset,
		.rkey = vl->remote.arena_rkey,
	};
}

static bool is_silent(const struct link *link)
{
	const struct verbs_link *vl = verbs_link_of(link);

	return link->transport->error.status || vl->dead || link->closed;
}

/* --- filling ------------------------------------------------------------------------------- */

static void fill_write(struct write *write, const struct source *source, struct target target)
{
	write->sources[0] = (struct ibv_sge){
		.addr = (uintptr_t)source->src,
		.length = (uint32_t)source->len,
		.lkey = source->lkey,
	};
	write->wr = (struct ibv_send_wr){
		.sg_list = write->sources,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = target.address, .rkey = target.rkey},
	};
}

/* Gather these bytes behind the first ones. */
static void fill_second_source(struct write *write, const struct source *source)
{
	write->sources[1] = (struct ibv_sge){
		.addr = (uintptr_t)source->src,
		.length = (uint32_t)source->len,
		.lkey = source->lkey,
	};
	write->wr.num_sge = 2;
}

/* The write arrives with a word that tells the peer what it was, and what was consumed here. */
static void fill_notice(struct write *write, enum notice kind, struct link *link)
{
	write->wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	write->wr.imm_data = htonl(notice_pack(kind, link->sent, link->consumed));
	link->credited = link->consumed;
}

/* Small bytes go along with the work request, where the device can: no second look at memory. */
static void fill_inline(struct write *write, const struct verbs_link *vl)
{
	if (write->wr.num_sge == 1 && write->sources[0].length <= vl->max_inline)
		write->wr.send_flags |= IBV_SEND_INLINE;
}

/* --- posting ------------------------------------------------------------------------------- */

static void post_failed(struct verbs_link *vl, int native)
{
	verbs_mark_dead(vl);
	verbs_note(vl->verbs, vl->link->peer, native, "ibv_post_send: %s; dmesg may tell more",
		   strerror(native));
	verbs_tell(vl->verbs);
}

/* sent: how many messages are complete when this write is. Every signal_every-th is signaled,
 * whatever it carries, so the queue always gets emptied. */
static void post_write(struct verbs_link *vl, struct write *write, uint64_t sent, bool signal)
{
	uint64_t number = vl->posted + 1;
	struct ibv_send_wr *bad;
	int failed;

	if (vl->dead)
		return;
	signal = signal || number - vl->signaled >= vl->signal_every;
	if (signal)
		write->wr.send_flags |= IBV_SEND_SIGNALED;
	write->wr.wr_id = verbs_send_id(vl->link->peer, number);
	failed = ibv_post_send(vl->qp, &write->wr, &bad);
	if (failed) {
		post_failed(vl, failed);
		return;
	}
	vl->posted = number;
	vl->sent_at[number & vl->index_mask] = sent;
	if (signal)
		vl->signaled = number;
}

/* Write all of source, in pieces no longer than a message may be; the last one is the notice. */
static void write_message(struct verbs_link *vl, enum notice kind, const struct source *source,
			  struct target target)
{
	size_t most = vl->verbs->attr.max_msg_sz, offset = 0;
	uint64_t sent = vl->link->sent;
	struct source piece = *source;
	struct write write;
	bool last;

	do {
		piece.src = (const unsigned char *)source->src + offset;
		piece.len = source->len - offset < most ? source->len - offset : most;
		last = offset + piece.len == source->len;
		fill_write(&write, &piece, (struct target){target.address + offset, target.rkey});
		if (last)
			fill_notice(&write, kind, vl->link);
		if (!piece.borrowed)
			fill_inline(&write, vl);
		post_write(vl, &write, last ? sent + 1 : sent, last && piece.borrowed);
		offset += piece.len;
	} while (!last);
	if (source->borrowed)
		vl->borrowed = vl->posted;
}

/* --- messages ------------------------------------------------------------------------------ */

static struct target slot_target(const struct verbs_link *vl)
{
	const struct link *link = vl->link;
	uint32_t slot = (uint32_t)(link->sent & (link->tx.slots - 1));

	return area_target(vl, area_slot_at(&link->tx, slot));
}

/* A source in memory that is registered; false: it must be copied. */
static bool find_source(const struct verbs_link *vl, const void *src, size_t len,
			struct source *source)
{
	const struct region *region = region_find(&vl->verbs->transport->regions, src, len);

	if (!region || !region->mr)
		return false;
	*source = (struct source){.src = src, .len = len, .lkey = region->lkey, .borrowed = true};
	return true;
}

void verbs_post(struct link *link, struct slot_header *header, size_t len)
{
	struct verbs_link *vl = verbs_link_of(link);
	struct source source = {
		.src = header,
		.len = sizeof(*header) + (len > MESSAGE_INLINE ? len : 0),
		.lkey = vl->mr->lkey,
	};

	if (is_silent(link))
		return;
	header->sequence = (uint32_t)(link->sent + 1);
	write_message(vl, NOTICE_MESSAGE, &source, slot_target(vl));
}

/* Header and payload in one write, gathered from two places. */
static void post_gathered(struct verbs_link *vl, struct slot_header *header,
			  const struct source *payload)
{
	struct source head = {.src = header, .len = sizeof(*header), .lkey = vl->mr->lkey};
	struct write write;

	header->sequence = (uint32_t)(vl->link->sent + 1);
	fill_write(&write, &head, slot_target(vl));
	fill_second_source(&write, payload);
	fill_notice(&write, NOTICE_MESSAGE, vl->link);
	post_write(vl, &write, vl->link->sent + 1, true);
	vl->borrowed = vl->posted;
}

void verbs_post_from(struct link *link, struct slot_header *header, const void *src, size_t len)
{
	struct verbs_link *vl = verbs_link_of(link);
	struct source payload;

	if (is_silent(link))
		return;
	if (vl->two_sources && sizeof(*header) + len <= vl->verbs->attr.max_msg_sz &&
	    find_source(vl, src, len, &payload)) {
		post_gathered(vl, header, &payload);
		return;
	}
	memcpy(header + 1, src, len);
	verbs_post(link, header, len);
}

/* A write of no bytes is legal but trips some devices: the header goes to its slot instead. */
void verbs_write(struct link *link, struct slot_header *header, const struct remote *remote,
		 uint64_t offset, const void *src, size_t len)
{
	struct verbs_link *vl = verbs_link_of(link);
	struct target target = {.address = remote->address + offset, .rkey = remote->rkey};
	struct source source;

	if (is_silent(link))
		return;
	if (!len) {
		source = (struct source){header, sizeof(*header), vl->mr->lkey, false};
		target = slot_target(vl);
	} else if (!find_source(vl, src, len, &source)) {
		memcpy(header + 1, src, len);
		source = (struct source){header + 1, len, vl->mr->lkey, false};
	}
	write_message(vl, NOTICE_DIRECT, &source, target);
}

/* --- credits ------------------------------------------------------------------------------- */

/* Does the queue still hold all messages that may be sent, and the reserve, after one more? */
static bool has_room(const struct verbs_link *vl)
{
	const struct link *link = vl->link;
	uint64_t messages = link->tx.slots - (link->sent - link->reusable);
	uint64_t taken = vl->posted - vl->completed;

	return taken + 1 + SEND_RESERVE + messages * vl->verbs->writes_per_message <= vl->depth;
}

static void post_credit(struct verbs_link *vl, bool notice, bool signal)
{
	struct link *link = vl->link;
	uint64_t *word = &vl->credits[(vl->posted + 1) & vl->index_mask];
	struct source source = {.src = word, .len = sizeof(*word), .lkey = vl->mr->lkey};
	struct write write;

	*word = link->consumed;
	fill_write(&write, &source, area_target(vl, area_credit_at()));
	if (notice)
		fill_notice(&write, NOTICE_CREDIT, link);
	fill_inline(&write, vl);
	post_write(vl, &write, link->sent, signal);
}

void verbs_return_credit(struct link *link)
{
	struct verbs_link *vl = verbs_link_of(link);

	if (is_silent(link))
		return;
	vl->credit_due = !has_room(vl);
	if (!vl->credit_due)
		post_credit(vl, link->peer_sleeps, false);
}

void verbs_retry_credit(struct verbs_link *vl)
{
	if (vl->credit_due)
		verbs_return_credit(vl->link);
}

/* The credit word may say more than `credited`: that is harmless. */
void verbs_probe(struct verbs_link *vl)
{
	if (!vl->dead && vl->posted - vl->completed < vl->depth)
		post_credit(vl, false, true);
}

/* --- waiting ------------------------------------------------------------------------------- */

/* Not a notice: it costs no receive, so it may come at any time. */
bool verbs_tell_waiting(struct link *link, const uint64_t words[WAITING_WORDS])
{
	struct verbs_link *vl = verbs_link_of(link);
	unsigned char *copy = vl->memory + area_waiting_at();
	size_t len = WAITING_WORDS * sizeof(*words);
	struct source source = {.src = copy, .len = len, .lkey = vl->mr->lkey};
	struct write write;

	if (is_silent(link) || !has_room(vl))
		return false;
	memcpy(copy, words, len);
	fill_write(&write, &source, area_target(vl, area_waiting_at()));
	fill_inline(&write, vl);
	post_write(vl, &write, link->sent, false);
	return true;
}

/* --- abort and leave ----------------------------------------------------------------------- */

/* Also on a broken communicator: that is what it is for. */
void verbs_send_record(struct link *link, enum reserve which, const struct reserve_record *record)
{
	struct verbs_link *vl = verbs_link_of(link);
	struct reserve_record *copy =
		(struct reserve_record *)(void *)(vl->memory + area_reserve_at(&link->tx, which));
	struct source source = {.src = copy, .len = sizeof(*copy), .lkey = vl->mr->lkey};
	struct write write;

	*copy = *record;
	copy->sequence = 1;
	fill_write(&write, &source, area_target(vl, area_reserve_at(&link->tx, which)));
	fill_notice(&write, which == RESERVE_ABORT ? NOTICE_ABORT : NOTICE_LEAVE, link);
	post_write(vl, &write, link->sent, true);
}

/* --- completions --------------------------------------------------------------------------- */

void verbs_sent(struct verbs_link *vl, uint32_t number)
{
	struct link *link = vl->link;
	uint64_t sent;

	if (vl->dead)
		return;
	vl->completed += number - (uint32_t)vl->completed;
	sent = vl->sent_at[vl->completed & vl->index_mask];
	if (sent != link->reusable) {
		link->reusable = sent;
		transport_progressed(link->transport);
	}
	verbs_retry_credit(vl);
}

bool verbs_drained(struct link *link)
{
	const struct verbs_link *vl = verbs_link_of(link);

	return vl->completed >= vl->borrowed;
}

bool verbs_flushed(struct link *link)
{
	struct verbs_link *vl = verbs_link_of(link);

	if (vl->signaled != vl->posted)
		verbs_probe(vl);
	return vl->completed == vl->posted;
}
