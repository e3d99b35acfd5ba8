/* data.c: the data path over shared memory: a write is a store, a notification one word. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_line.h"
#include "transport/shm/shm.h"
#include "transport/transport_state.h"

enum { FETCH_BYTES = 1024 };

static struct shm_link *shm_link(const struct link *link)
{
	return link->back_end;
}

/*
 * The peer may be asleep. Our store (sequence or credit word) must be visible before we read its
 * flag: it sets the flag, fences, and looks at the stores once more before it sleeps, so at least
 * one of us sees the other.
 */
static void wake(const struct link *link)
{
	struct shm_link *shm = shm_link(link);
	struct arena_header *header = (struct arena_header *)shm->head;
	ssize_t ignored;

	if (!link->peer_sleeps)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&header->asleep, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&header->asleep, 0, __ATOMIC_RELAXED);
	ignored = write(shm->doorbell, "", 1); /* a full pipe wakes as well */
	(void)ignored;
}

static void publish(struct link *link, struct slot_header *header)
{
	__atomic_store_n(&header->sequence, (uint32_t)(link->sent + 1), __ATOMIC_RELEASE);
	wake(link);
}

/*
 * The receiver has read the next slot's lines a lap ago, so they are in its cache. Ask for those
 * that a message like this one will need: they come while we wait for the answer to this one.
 */
static void fetch_next_slot(const struct link *link, size_t len)
{
	const unsigned char *next = (const unsigned char *)link_tx_header(link, link->sent + 1);
	size_t at, most = len < FETCH_BYTES ? len : FETCH_BYTES;

	__builtin_prefetch(next, 1);
	if (len > MESSAGE_INLINE)
		for (at = sizeof(struct slot_header); at < sizeof(struct slot_header) + most;
		     at += CACHE_LINE)
			__builtin_prefetch(next + at, 1);
}

static void post(struct link *link, struct slot_header *header, size_t len)
{
	publish(link, header);
	fetch_next_slot(link, len);
}

static void post_from(struct link *link, struct slot_header *header, const void *src, size_t len)
{
	memcpy(header + 1, src, len);
	publish(link, header);
}

static bool peek(struct link *link, struct message *message)
{
	struct slot_header *header = link_rx_header(link, link->consumed);

	if (__atomic_load_n(&header->sequence, __ATOMIC_ACQUIRE) != (uint32_t)(link->consumed + 1))
		return false;
	link->arrived = link->consumed + 1;
	return link_read_header(link, header, message);
}

static void return_credit(struct link *link)
{
	uint64_t *word = (uint64_t *)(void *)(link->tx_area + area_credit_at());

	__atomic_store_n(word, link->consumed, __ATOMIC_RELEASE);
	wake(link);
}

static bool tell_waiting(struct link *link, const uint64_t words[WAITING_WORDS])
{
	uint64_t *to = (uint64_t *)(void *)(link->tx_area + area_waiting_at());

	for (int i = 0; i < WAITING_WORDS; i++)
		__atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
	return true;
}

static void send_record(struct link *link, enum reserve which, const struct reserve_record *record)
{
	struct reserve_record *slot = (void *)(link->tx_area + area_reserve_at(&link->tx, which));

	memcpy((char *)slot + sizeof(slot->sequence), (const char *)record + sizeof(slot->sequence),
	       sizeof(*slot) - sizeof(slot->sequence));
	__atomic_store_n(&slot->sequence, 1, __ATOMIC_RELEASE);
	wake(link);
}

static const struct reserve_record *find_record(struct link *link, enum reserve which)
{
	const struct reserve_record *slot =
		(void *)(link->rx_area + area_reserve_at(&link->rx, which));

	return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) ? slot : NULL;
}

static bool drained(struct link *link)
{
	(void)link;
	return true;
}

static void describe(struct link *link, const void *buf, size_t len, struct remote *remote)
{
	const struct region *region = region_find(&link->transport->regions, buf, len);

	if (!region || !region->owned)
		return;
	remote->address =
		region->file_offset + (uint64_t)((const unsigned char *)buf - region->base);
	remote->reach = 1;
}

/* May the peer's file be touched up to end? It can only have grown since we last looked. */
static bool within_file(struct shm_link *shm, uint64_t end)
{
	struct stat stat;

	if (end <= shm->file_len)
		return true;
	if (fstat(shm->fd, &stat))
		return false;
	shm->file_len = (uint64_t)stat.st_size;
	return end <= shm->file_len;
}

static bool window_holds(const struct shm_window *window, uint64_t offset, size_t len)
{
	return offset >= window->offset && offset - window->offset <= window->len &&
	       len <= window->len - (offset - window->offset);
}

static struct shm_window *find_window(struct shm_link *shm, uint64_t offset, size_t len)
{
	if (shm->last < shm->n && window_holds(&shm->windows[shm->last], offset, len))
		return &shm->windows[shm->last];
	for (size_t i = 0; i < shm->n; i++) {
		if (!window_holds(&shm->windows[i], offset, len))
			continue;
		shm->last = i;
		return &shm->windows[i];
	}
	return NULL;
}

static struct shm_window *new_window(struct shm_link *shm, uint64_t offset, size_t len)
{
	uint64_t begin = offset / ARENA_WINDOW * ARENA_WINDOW;
	uint64_t end = (offset + len + ARENA_WINDOW - 1) / ARENA_WINDOW * ARENA_WINDOW;
	size_t room = shm->room ? 2 * shm->room : 8;
	struct shm_window *windows = shm->windows;
	void *base;

	if (shm->n == shm->room) {
		windows = realloc(windows, room * sizeof(*windows));
		if (!windows)
			return NULL;
		shm->windows = windows;
		shm->room = room;
	}
	base = mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, (off_t)begin);
	if (base == MAP_FAILED)
		return NULL;
	windows[shm->n] = (struct shm_window){.offset = begin, .len = end - begin, .base = base};
	return &windows[shm->n++];
}

/* The peer's file range as a pointer; mapped when it is first mentioned. */
static void *reach(struct link *link, const struct remote *remote, size_t len)
{
	struct shm_link *shm = shm_link(link);
	struct shm_window *window;

	if (remote->address > UINT64_MAX / 2 || len > UINT64_MAX / 4 ||
	    !within_file(shm, remote->address + len))
		return NULL;
	window = find_window(shm, remote->address, len);
	if (!window)
		window = new_window(shm, remote->address, len);
	return window ? window->base + (remote->address - window->offset) : NULL;
}

static void write_direct(struct link *link, struct slot_header *header, const struct remote *remote,
			 uint64_t offset, const void *src, size_t len)
{
	struct remote at = *remote;
	void *dst;

	at.address += offset;
	dst = reach(link, &at, len);
	if (!dst) {
		transport_fail_at(link->transport, WRING_ERR_SYSTEM, link->peer, header->operation,
				  "cannot map %zu bytes of rank %d's memory at %llu; see ulimit -v "
				  "and vm.max_map_count",
				  len, link->peer, (unsigned long long)at.address);
		return;
	}
	memcpy(dst, src, len);
	publish(link, header);
}

static void describe_path(const struct link *link, struct wring_peer_info *info)
{
	(void)link;
	info->transport = WRING_TRANSPORT_SHM;
}

/* Nothing is under way: what was stored is there. */
static void close_link(struct link *link)
{
	(void)link;
}

const struct link_ops shm_link_ops = {
	.make_offer = shm_link_make_offer,
	.connect = shm_link_connect,
	.describe_path = describe_path,
	.post = post,
	.post_from = post_from,
	.write = write_direct,
	.peek = peek,
	.return_credit = return_credit,
	.tell_waiting = tell_waiting,
	.send_record = send_record,
	.find_record = find_record,
	.drained = drained,
	.flushed = drained,
	.describe = describe,
	.reach = reach,
	.has_ended = shm_peer_ended,
	.close = close_link,
	.free = shm_link_free,
};
