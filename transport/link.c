/* link.c: counts slots and credits of a link; the same for every back end. */
/* SPDX-License-Identifier: MIT */
#include "transport/link.h"

#include <stdio.h>
#include <string.h>

#include "base/cache_line.h"
#include "transport/transport_state.h"

_Static_assert(sizeof(struct slot_header) == CACHE_LINE, "a header is one cache line");
_Static_assert(sizeof(struct reserve_record) % CACHE_LINE == 0,
	       "reserve slots are whole cache lines");
_Static_assert(sizeof(struct buffers) <= MESSAGE_INLINE, "a ready fits in a header");
_Static_assert((1 + WAITING_WORDS) * sizeof(uint64_t) <= CACHE_LINE, "both are in one cache line");

static size_t slot_stride(const struct area *area)
{
	return CACHE_LINE + area->slot_bytes;
}

size_t area_credit_at(void)
{
	return 0;
}

size_t area_waiting_at(void)
{
	return sizeof(uint64_t);
}

size_t area_slot_at(const struct area *area, uint32_t slot)
{
	return CACHE_LINE + slot * slot_stride(area);
}

size_t area_reserve_at(const struct area *area, enum reserve which)
{
	return area_slot_at(area, area->slots) + (size_t)which * sizeof(struct reserve_record);
}

size_t area_len(const struct area *area)
{
	return area_reserve_at(area, RESERVES);
}

void link_believe_credit(struct link *link, uint64_t consumed)
{
	link->credits_seen = consumed;
	transport_progressed(link->transport);
	trace_event(link->transport->trace, "credit", "received", link->peer, "consumed", consumed);
}

/* The credit word is written by another process: believe it only within what is possible. */
static void read_credit_word(struct link *link)
{
	uint64_t value = __atomic_load_n(link->credit_word, __ATOMIC_ACQUIRE);

	if (value == link->word_seen)
		return;
	if (value - link->word_seen > link->sent - link->word_seen) {
		transport_fail_at(link->transport, WRING_ERR_TRANSPORT, link->peer, 0,
				  "rank %d returned a credit count of %llu, possible are %llu to "
				  "%llu; its memory or this rank's was overwritten",
				  link->peer, (unsigned long long)value,
				  (unsigned long long)link->word_seen,
				  (unsigned long long)link->sent);
		return;
	}
	link->word_seen = value;
	if (link->sent - value < link->sent - link->credits_seen)
		link_believe_credit(link, value);
}

unsigned link_credits(struct link *link)
{
	uint64_t used = link->sent - link->credits_seen;
	uint64_t building;

	if (used == link->tx.slots) {
		read_credit_word(link);
		used = link->sent - link->credits_seen;
	}
	if (transport_status(link->transport))
		return 0;
	if (link->reusable != SENT_AT_ONCE) {
		building = link->sent - link->reusable;
		if (building > used)
			used = building;
	}
	return (unsigned)(link->tx.slots - used);
}

/* Write the header; the sequence is left to the back end, which publishes. */
static struct slot_header *write_header(struct link *link, enum message_kind kind,
					const struct signature *signature, size_t len)
{
	struct slot_header *header = link_tx_header(link, link->sent);

	header->len = (uint32_t)len;
	header->operation = signature->operation;
	header->count = signature->count;
	header->root = signature->root;
	header->collective = signature->collective;
	header->datatype = signature->datatype;
	header->op = signature->op;
	header->kind = (uint8_t)kind;
	return header;
}

static void count_sent(struct link *link, size_t len)
{
	link->sent++;
	transport_progressed(link->transport);
	trace_event(link->transport->trace, "message", "sent", link->peer, "len", len);
}

/* Where the next message's payload of len bytes is built. */
static void *payload_at(struct slot_header *header, size_t len)
{
	return len <= MESSAGE_INLINE ? header->payload : (unsigned char *)(header + 1);
}

void link_copy(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len)
{
	struct slot_header *header = write_header(link, kind, signature, len);

	if (len)
		memcpy(payload_at(header, len), src, len);
	link->ops->post(link, header, len);
	count_sent(link, len);
}

void link_notify(struct link *link, enum message_kind kind, const struct signature *signature)
{
	link_copy(link, kind, signature, NULL, 0);
}

void link_send(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len)
{
	if (len <= MESSAGE_INLINE) {
		link_copy(link, kind, signature, src, len);
		return;
	}
	link->ops->post_from(link, write_header(link, kind, signature, len), src, len);
	count_sent(link, len);
}

void link_write(struct link *link, const struct signature *signature, const struct remote *remote,
		uint64_t offset, const void *src, size_t len)
{
	link->ops->write(link, write_header(link, MESSAGE_DIRECT, signature, 0), remote, offset,
			 src, len);
	count_sent(link, len);
}

bool link_drained(struct link *link)
{
	return link->ops->drained(link);
}

bool link_peek(struct link *link, struct message *message)
{
	return !transport_status(link->transport) && link->ops->peek(link, message);
}

static bool refuse_header(struct link *link, const char *what, unsigned value)
{
	transport_fail_at(link->transport, WRING_ERR_TRANSPORT, link->peer, 0,
			  "message %llu of rank %d has %s %u; its memory or this rank's was "
			  "overwritten",
			  (unsigned long long)link->consumed, link->peer, what, value);
	return false;
}

bool link_read_header(struct link *link, const struct slot_header *header, struct message *message)
{
	if (header->len > link->rx.slot_bytes)
		return refuse_header(link, "a length of", header->len);
	if (header->kind < MESSAGE_DATA || header->kind > MESSAGE_DONE)
		return refuse_header(link, "the unknown kind", header->kind);
	if (header->kind == MESSAGE_READY && header->len != sizeof(struct buffers))
		return refuse_header(link, "a ready of length", header->len);
	message->kind = (enum message_kind)header->kind;
	message->len = header->len;
	message->payload = header->len <= MESSAGE_INLINE ? header->payload
							 : (const unsigned char *)(header + 1);
	message->signature = (const struct signature *)(const void *)&header->operation;
	return true;
}

_Static_assert(offsetof(struct slot_header, count) - offsetof(struct slot_header, operation) ==
		       offsetof(struct signature, count),
	       "a header holds a signature");
_Static_assert(offsetof(struct slot_header, root) - offsetof(struct slot_header, operation) ==
		       offsetof(struct signature, root),
	       "a header holds a signature");
_Static_assert(offsetof(struct slot_header, op) - offsetof(struct slot_header, operation) ==
		       offsetof(struct signature, op),
	       "a header holds a signature");

void link_flush_credit(struct link *link)
{
	if (link->credited == link->consumed || transport_status(link->transport))
		return;
	link->credited = link->consumed;
	link->ops->return_credit(link);
	trace_event(link->transport->trace, "credit", "returned", link->peer, "consumed",
		    link->consumed);
}

void link_consume(struct link *link)
{
	link->consumed++;
	transport_progressed(link->transport);
	trace_event(link->transport->trace, "message", "consumed", link->peer, "number",
		    link->consumed);
	if (link->consumed - link->credited >= link->rx.slots / 2)
		link_flush_credit(link);
}

/* Checksum: a torn write does not match. Never 0, which is what the words are at first. */
static uint64_t check_of(const uint64_t words[WAITING_WORDS])
{
	return (words[0] * 0x9e3779b97f4a7c15u + words[1] * 0xc2b2ae3d27d4eb4fu +
		words[2] * 0x165667b19e3779f9u) |
	       1;
}

bool link_tell_waiting(struct link *link, const struct signature *signature)
{
	uint64_t words[WAITING_WORDS] = {
		signature->operation,
		signature->count,
		(uint64_t)(uint32_t)signature->root << 32 | (uint64_t)signature->collective << 16 |
			(uint64_t)signature->datatype << 8 | signature->op,
	};

	words[3] = check_of(words);
	return !transport_status(link->transport) && link->ops->tell_waiting(link, words);
}

void link_read_waiting(const struct link *link, struct signature *signature)
{
	const uint64_t *from = (const uint64_t *)(const void *)(link->rx_area + area_waiting_at());
	uint64_t words[WAITING_WORDS];

	for (int i = 0; i < WAITING_WORDS; i++)
		words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	*signature = (struct signature){0};
	if (words[3] != check_of(words))
		return;
	*signature = (struct signature){
		.operation = words[0],
		.count = words[1],
		.root = (int32_t)(uint32_t)(words[2] >> 32),
		.collective = (uint8_t)(words[2] >> 16),
		.datatype = (uint8_t)(words[2] >> 8),
		.op = (uint8_t)words[2],
	};
}

void link_describe(struct link *link, const void *buf, size_t len, struct remote *remote)
{
	*remote = (struct remote){0};
	link->ops->describe(link, buf, len, remote);
}

void *link_reach(struct link *link, const struct remote *remote, size_t len)
{
	return remote->reach ? link->ops->reach(link, remote, len) : NULL;
}
