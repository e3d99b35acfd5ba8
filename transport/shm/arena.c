/* arena.c: the memfd and where in it wring_alloc puts things. */
/* SPDX-License-Identifier: MIT */
#include "transport/shm/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/available.h"
#include "base/error.h"

#define WORTH_A_LOOK ((size_t)1 << 20)

size_t arena_round_to_page(size_t len)
{
	return (len + ARENA_PAGE - 1) / ARENA_PAGE * ARENA_PAGE;
}

/*
 * Shared memory is only given up when it is freed, and asking for too much would have the kernel
 * kill processes: compare with what there is before asking.
 */
static enum wring_status check_available(size_t len, struct wring_error *error)
{
	size_t available = len < WORTH_A_LOOK ? len : available_memory("");

	if (len <= available)
		return WRING_OK;
	return error_set(error, WRING_ERR_NOMEM,
			 "%zu bytes of shared memory are wanted, %zu are available here; free "
			 "memory, or raise the memory limit of this container or cgroup",
			 len, available);
}

static enum wring_status allocate(struct arena *arena, uint64_t offset, size_t len,
				  struct wring_error *error)
{
	enum wring_status status = check_available(len, error);
	int e;

	if (status)
		return status;
	do {
		e = fallocate(arena->fd, 0, (off_t)offset, (off_t)len) ? errno : 0;
	} while (e == EINTR);
	if (e == 0)
		return WRING_OK;
	return error_native(error, WRING_ERR_NOMEM, e,
			    "fallocate of %zu bytes of shared memory failed: %s; free memory, or "
			    "raise the memory limit of this container or cgroup",
			    len, strerror(e));
}

/* Map part of the file; the pages are there already, so take all faults now. */
static void *map(const struct arena *arena, uint64_t offset, size_t len)
{
	void *base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, arena->fd,
			  (off_t)offset);

	return base == MAP_FAILED ? NULL : base;
}

static enum wring_status map_failed(size_t len, struct wring_error *error)
{
	return error_native(error, WRING_ERR_NOMEM, errno,
			    "mmap of %zu bytes of shared memory failed: %s; see ulimit -v and "
			    "vm.max_map_count",
			    len, strerror(errno));
}

enum wring_status arena_grow_head(struct arena *arena, size_t len, struct wring_error *error)
{
	enum wring_status status = allocate(arena, 0, len, error);
	unsigned char *base;

	if (status)
		return status;
	base = map(arena, 0, len);
	if (!base)
		return map_failed(len, error);
	if (arena->base)
		munmap(arena->base, arena->head_len);
	arena->base = base;
	arena->head_len = len;
	return WRING_OK;
}

static enum wring_status make_file(struct arena *arena, struct wring_error *error)
{
	struct arena_header *header;
	enum wring_status status;

	arena->fd = memfd_create("wring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (arena->fd < 0)
		return error_native(error, WRING_ERR_SYSTEM, errno,
				    "memfd_create failed: %s; see ulimit -n", strerror(errno));
	status = arena_grow_head(arena, ARENA_PAGE, error);
	if (status)
		return status;
	header = arena_header(arena);
	header->holders = 1;
	if (fcntl(arena->fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return error_native(error, WRING_ERR_SYSTEM, errno,
				    "fcntl(F_ADD_SEALS) on a memfd failed: %s", strerror(errno));
	if (getrandom(header->nonce, sizeof(header->nonce), 0) != sizeof(header->nonce))
		return error_native(error, WRING_ERR_SYSTEM, errno, "getrandom failed: %s",
				    strerror(errno));
	return WRING_OK;
}

enum wring_status arena_open(struct arena **arena, struct wring_error *error)
{
	struct arena *a = calloc(1, sizeof(*a));
	enum wring_status status;

	if (!a)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*a));
	a->fd = -1;
	status = make_file(a, error);
	if (status) {
		arena_close(a);
		return status;
	}
	*arena = a;
	return WRING_OK;
}

void arena_hold_head(void *base)
{
	struct arena_header *header = base;

	(void)__atomic_add_fetch(&header->holders, 1, __ATOMIC_RELAXED);
}

void arena_drop_head(void *base, size_t head_len)
{
	struct arena_header *header = base;

	if (__atomic_sub_fetch(&header->holders, 1, __ATOMIC_ACQ_REL) == 0)
		munmap(base, head_len);
}

void arena_close(struct arena *arena)
{
	if (!arena)
		return;
	if (arena->base)
		arena_drop_head(arena->base, arena->head_len);
	if (arena->fd >= 0)
		close(arena->fd);
	free(arena->ranges);
	free(arena);
}

static uint64_t window_up(uint64_t offset)
{
	return (offset + ARENA_WINDOW - 1) / ARENA_WINDOW * ARENA_WINDOW;
}

/* Where len bytes may begin at or after offset, by the rule on windows in arena.h. */
static uint64_t fit(uint64_t offset, size_t len)
{
	uint64_t border = window_up(offset);

	if (offset == border)
		return offset;
	return len <= border - offset ? offset : border;
}

/* First fit: the index before which the new range goes, and its offset. */
static size_t find_gap(const struct arena *arena, size_t len, uint64_t *offset)
{
	uint64_t at = window_up(arena->head_len);
	size_t i;

	for (i = 0; i < arena->n; i++) {
		at = fit(at, len);
		if (at + len <= arena->ranges[i].offset)
			break;
		at = arena->ranges[i].offset + arena->ranges[i].len;
	}
	*offset = fit(at, len);
	return i;
}

static bool make_room(struct arena *arena)
{
	size_t room = arena->room ? 2 * arena->room : 16;
	struct arena_range *ranges;

	if (arena->n < arena->room)
		return true;
	ranges = realloc(arena->ranges, room * sizeof(*ranges));
	if (!ranges)
		return false;
	arena->ranges = ranges;
	arena->room = room;
	return true;
}

static void punch(const struct arena *arena, uint64_t offset, size_t len)
{
	(void)fallocate(arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			(off_t)len);
}

enum wring_status arena_alloc(struct arena *arena, size_t len, void **base, uint64_t *offset,
			      struct wring_error *error)
{
	enum wring_status status;
	uint64_t at;
	void *mapped;
	size_t index;

	if (len > SIZE_MAX / 4)
		return check_available(len, error);
	len = arena_round_to_page(len ? len : 1);
	if (!make_room(arena))
		return error_set(error, WRING_ERR_NOMEM, "no memory for a table entry");
	index = find_gap(arena, len, &at);
	status = allocate(arena, at, len, error);
	if (status)
		return status;
	mapped = map(arena, at, len);
	if (!mapped) {
		status = map_failed(len, error);
		punch(arena, at, len);
		return status;
	}
	memmove(&arena->ranges[index + 1], &arena->ranges[index],
		(arena->n - index) * sizeof(*arena->ranges));
	arena->ranges[index] = (struct arena_range){.offset = at, .len = len};
	arena->n++;
	*base = mapped;
	*offset = at;
	return WRING_OK;
}

void arena_free(struct arena *arena, void *base, uint64_t offset, size_t len)
{
	munmap(base, len);
	punch(arena, offset, len);
	for (size_t i = 0; i < arena->n; i++) {
		if (arena->ranges[i].offset != offset)
			continue;
		arena->n--;
		memmove(&arena->ranges[i], &arena->ranges[i + 1],
			(arena->n - i) * sizeof(*arena->ranges));
		return;
	}
}
