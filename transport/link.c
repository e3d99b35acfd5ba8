/* link.c: counts slots and credits of a link; the same for every back end. */
#include "transport/link.h"

#include <stdio.h>
#include <string.h>

#include "transport/transport_state.h"

#define LINE_LEN    64
#define CREDIT_LINE 64

_Static_assert(sizeof(struct line) == LINE_LEN, "a line is one cache line");
_Static_assert(sizeof(struct reserve_record) % 64 == 0, "reserve slots are whole cache lines");
_Static_assert(sizeof(struct buffers) <= MESSAGE_INLINE, "ready fits in a line");
_Static_assert((1 + WAITING_WORDS) * sizeof(uint64_t) <= CREDIT_LINE, "both are in one line");

static size_t slot_stride(const struct area *area)
{
	return LINE_LEN + area->slot_bytes;
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
	return CREDIT_LINE + slot * slot_stride(area);
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
	link->transport->moved++;
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
	if (link->transport->error.status)
		return 0;
	if (link->reusable != SENT_AT_ONCE) {
		building = link->sent - link->reusable;
		if (building > used)
			used = building;
	}
	return (unsigned)(link->tx.slots - used);
}

void *link_payload(struct link *link, size_t len)
{
	struct line *line = link_tx_line(link, link->sent);

	return len <= MESSAGE_INLINE ? line->payload : (unsigned char *)line + LINE_LEN;
}

/* Write the header; the sequence is left to the back end, which publishes. */
static struct line *write_line(struct link *link, enum message_kind kind,
			       const struct signature *signature, size_t len)
{
	struct line *line = link_tx_line(link, link->sent);

	line->len = (uint32_t)len;
	line->operation = signature->operation;
	line->count = signature->count;
	line->root = signature->root;
	line->collective = signature->collective;
	line->datatype = signature->datatype;
	line->op = signature->op;
	line->kind = (uint8_t)kind;
	return line;
}

static void count_sent(struct link *link, size_t len)
{
	link->sent++;
	link->transport->moved++;
	trace_event(link->transport->trace, "message", "sent", link->peer, "len", len);
}

void link_post(struct link *link, enum message_kind kind, const struct signature *signature,
	       size_t len)
{
	link->ops->post(link, write_line(link, kind, signature, len), len);
	count_sent(link, len);
}

void link_copy(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len)
{
	if (len)
		memcpy(link_payload(link, len), src, len);
	link_post(link, kind, signature, len);
}

void link_send(struct link *link, enum message_kind kind, const struct signature *signature,
	       const void *src, size_t len)
{
	if (len <= MESSAGE_INLINE) {
		link_copy(link, kind, signature, src, len);
		return;
	}
	link->ops->post_from(link, write_line(link, kind, signature, len), src, len);
	count_sent(link, len);
}

void link_write(struct link *link, const struct signature *signature, const struct remote *remote,
		uint64_t offset, const void *src, size_t len)
{
	link->ops->write(link, write_line(link, MESSAGE_DIRECT, signature, 0), remote, offset, src,
			 len);
	count_sent(link, len);
}

bool link_drained(struct link *link)
{
	return link->ops->drained(link);
}

bool link_peek(struct link *link, struct message *message)
{
	return !link->transport->error.status && link->ops->peek(link, message);
}

static bool refuse_line(struct link *link, const char *what, unsigned value)
{
	transport_fail_at(link->transport, WRING_ERR_TRANSPORT, link->peer, 0,
			  "message %llu of rank %d has %s %u; its memory or this rank's was "
			  "overwritten",
			  (unsigned long long)link->consumed, link->peer, what, value);
	return false;
}

bool link_read_line(struct link *link, const struct line *line, struct message *message)
{
	if (line->len > link->rx.slot_bytes)
		return refuse_line(link, "a length of", line->len);
	if (line->kind < MESSAGE_DATA || line->kind > MESSAGE_DONE)
		return refuse_line(link, "the unknown kind", line->kind);
	if (line->kind == MESSAGE_READY && line->len != sizeof(struct buffers))
		return refuse_line(link, "a ready of length", line->len);
	message->kind = (enum message_kind)line->kind;
	message->len = line->len;
	message->payload = line->len <= MESSAGE_INLINE ? line->payload
						       : (const unsigned char *)line + LINE_LEN;
	message->signature = (const struct signature *)(const void *)&line->operation;
	return true;
}

_Static_assert(offsetof(struct line, count) - offsetof(struct line, operation) ==
		       offsetof(struct signature, count),
	       "a line holds a signature");
_Static_assert(offsetof(struct line, root) - offsetof(struct line, operation) ==
		       offsetof(struct signature, root),
	       "a line holds a signature");
_Static_assert(offsetof(struct line, op) - offsetof(struct line, operation) ==
		       offsetof(struct signature, op),
	       "a line holds a signature");

void link_flush_credit(struct link *link)
{
	if (link->credited == link->consumed || link->transport->error.status)
		return;
	link->credited = link->consumed;
	link->ops->credit(link);
	trace_event(link->transport->trace, "credit", "returned", link->peer, "consumed",
		    link->consumed);
}

void link_consume(struct link *link)
{
	link->consumed++;
	link->transport->moved++;
	trace_event(link->transport->trace, "message", "consumed", link->peer, "number",
		    link->consumed);
	if (link->consumed - link->credited >= link->rx.slots / 2)
		link_flush_credit(link);
}

/* Of words that were not written together it is another one. Never 0, as all words are at first. */
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
	return !link->transport->error.status && link->ops->waiting(link, words);
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
