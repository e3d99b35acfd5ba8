/* connect.c: opens the memory, the doorbell and the process of a host peer. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cache_line.h"
#include "transport/transport_state.h"

static const char *hint_for(int e)
{
	if (e == EMFILE || e == ENFILE)
		return "see ulimit -n and fs.file-max";
	if (e == ENOMEM)
		return "free memory, or raise the memory limit of this container or cgroup";
	return "do the ranks share one PID namespace and user?";
}

static enum wring_status cannot_reach(const struct link *link, const char *call, const char *path,
				      struct wring_error *error)
{
	int e = errno;

	return error_native(error, WRING_ERR_SYSTEM, e, "shm: %s(%s) of rank %d failed: %s; %s",
			    call, path, link->peer, strerror(e), hint_for(e));
}

static int open_proc(int pid, int fd, int flags, char *path, size_t len)
{
	(void)snprintf(path, len, "/proc/%d/fd/%d", pid, fd);
	return open(path, flags | O_CLOEXEC);
}

static bool nonce_matches(int fd, const struct shm_address *address)
{
	struct arena_header header;

	return pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       header.nonce[0] == address->nonce[0] && header.nonce[1] == address->nonce[1];
}

/* A memfd that could shrink under our feet would turn a load into SIGBUS. */
static bool sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* The doorbell is written to: it must not be whatever else that process has open. */
static bool is_pipe(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISFIFO(stat.st_mode);
}

static enum wring_status open_peer(struct link *link, struct shm_link *shm,
				   struct wring_error *error)
{
	const struct shm_address *address = &shm->address;
	char path[64];

	shm->fd = open_proc(address->pid, address->arena_fd, O_RDWR, path, sizeof(path));
	if (shm->fd < 0)
		return cannot_reach(link, "open", path, error);
	if (!sealed(shm->fd) || !nonce_matches(shm->fd, address))
		return error_set(error, WRING_ERR_SYSTEM,
				 "shm: %s is not the memory of rank %d (nonce differs); do the "
				 "ranks share one PID namespace?",
				 path, link->peer);
	/* To read as well: a pipe that keeps a reader raises no SIGPIPE when its owner has left. */
	shm->doorbell = open_proc(address->pid, address->doorbell_fd, O_RDWR | O_NONBLOCK, path,
				  sizeof(path));
	if (shm->doorbell < 0)
		return cannot_reach(link, "open", path, error);
	if (!is_pipe(shm->doorbell))
		return error_set(error, WRING_ERR_SYSTEM,
				 "shm: %s is not the doorbell of rank %d (no pipe); do all ranks "
				 "run the same version?",
				 path, link->peer);
	shm->pidfd = (int)syscall(SYS_pidfd_open, address->pid, 0);
	if (shm->pidfd < 0 && errno != ENOSYS)
		return cannot_reach(link, "pidfd_open", "", error);
	return WRING_OK;
}

enum wring_status shm_link_open(struct link *link, const struct shm_address *address,
				struct wring_error *error)
{
	struct shm_link *shm = calloc(1, sizeof(*shm));
	enum wring_status status;

	if (!shm)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*shm));
	shm->fd = shm->doorbell = shm->pidfd = -1;
	shm->address = *address;
	shm->same_process = address->pid == (int32_t)getpid();
	link->back_end = shm;
	link->kind = WRING_TRANSPORT_SHM;
	link->reusable = SENT_AT_ONCE;
	status = open_peer(link, shm, error);
	if (status)
		shm_link_free(link);
	return status;
}

/* Nobody has called wring_alloc yet: the file is the head and nothing else. */
static enum wring_status check_offer(const struct link *link, const struct shm_offer *offer,
				     struct wring_error *error)
{
	struct shm_link *shm = link->back_end;
	struct stat stat = {0};

	if (!fstat(shm->fd, &stat) && offer->head_len == (uint64_t)stat.st_size &&
	    offer->area_offset % CACHE_LINE == 0 && offer->area_offset >= ARENA_PAGE &&
	    offer->area_offset <= offer->head_len &&
	    area_len(&link->tx) <= offer->head_len - offer->area_offset) {
		shm->file_len = offer->head_len;
		return WRING_OK;
	}
	return error_set(error, WRING_ERR_BOOTSTRAP,
			 "shm: rank %d offers an area at %llu of %llu bytes in a file of "
			 "%lld; do all ranks run the same version?",
			 link->peer, (unsigned long long)offer->area_offset,
			 (unsigned long long)offer->head_len, (long long)stat.st_size);
}

/* Asked of the kernel, which does not mind a wrong address. */
static bool own_map_has_nonce(uint64_t base, const struct shm_address *address)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	struct arena_header header;
	bool has;

	if (fd < 0)
		return false;
	has = pread(fd, &header, sizeof(header), (off_t)base) == (ssize_t)sizeof(header) &&
	      memcmp(header.nonce, address->nonce, sizeof(header.nonce)) == 0;
	close(fd);
	return has;
}

/*
 * Ranks that are threads of one process use the owner's own map, so that a race detector sees
 * both sides of a message at one address.
 */
static enum wring_status share_head(struct link *link, const struct shm_offer *offer,
				    struct wring_error *error)
{
	struct shm_link *shm = link->back_end;

	if (offer->base % ARENA_PAGE || !own_map_has_nonce(offer->base, &shm->address))
		return error_set(error, WRING_ERR_BOOTSTRAP,
				 "shm: rank %d is a thread of this process, but its memory is not "
				 "at 0x%llx; do all ranks run the same version?",
				 link->peer, (unsigned long long)offer->base);
	shm->head = (unsigned char *)(uintptr_t)offer->base;
	shm->head_len = offer->head_len;
	arena_hold_head(shm->head);
	return WRING_OK;
}

static enum wring_status map_head(struct link *link, const struct shm_offer *offer,
				  struct wring_error *error)
{
	struct shm_link *shm = link->back_end;
	void *base;

	base = mmap(NULL, offer->head_len, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, 0);
	if (base == MAP_FAILED)
		return error_native(error, WRING_ERR_NOMEM, errno,
				    "mmap of %llu bytes of rank %d failed: %s; see ulimit -v",
				    (unsigned long long)offer->head_len, link->peer,
				    strerror(errno));
	shm->head = base;
	shm->head_len = offer->head_len;
	return WRING_OK;
}

enum wring_status shm_link_connect(struct link *link, const struct transport_offer *offer,
				   struct wring_error *error)
{
	struct shm_link *shm = link->back_end;
	enum wring_status status = check_offer(link, &offer->shm, error);

	if (!status)
		status = shm->same_process ? share_head(link, &offer->shm, error)
					   : map_head(link, &offer->shm, error);
	if (status)
		return status;
	link->tx_area = shm->head + offer->shm.area_offset;
	return WRING_OK;
}

void shm_link_make_offer(const struct link *link, struct transport_offer *offer)
{
	const struct arena *arena = link->transport->arena;

	offer->shm.area_offset = link->rx.offset;
	offer->shm.head_len = arena->head_len;
	offer->shm.base = (uint64_t)(uintptr_t)arena->base;
}

void shm_link_free(struct link *link)
{
	struct shm_link *shm = link->back_end;

	for (size_t i = 0; i < shm->n; i++)
		munmap(shm->windows[i].base, shm->windows[i].len);
	free(shm->windows);
	if (shm->head && shm->same_process)
		arena_drop_head(shm->head, shm->head_len);
	else if (shm->head)
		munmap(shm->head, shm->head_len);
	if (shm->fd >= 0)
		close(shm->fd);
	if (shm->doorbell >= 0)
		close(shm->doorbell);
	if (shm->pidfd >= 0)
		close(shm->pidfd);
	free(shm);
	link->back_end = NULL;
	link->ops = NULL;
	link->kind = WRING_TRANSPORT_AUTO;
}

/* The sequence of an empty slot is the one before the first that will be written there. */
void shm_area_init(unsigned char *base, const struct area *area, uint64_t first)
{
	memset(base, 0, area_len(area));
	for (uint64_t s = first; s < first + area->slots; s++) {
		struct slot_header *header =
			(void *)(base + area_slot_at(area, (uint32_t)(s & (area->slots - 1))));

		header->sequence = (uint32_t)(s + 1 - area->slots);
	}
	memcpy(base + area_credit_at(), &first, sizeof(first));
}

/* Without pidfds: a process that has ended, reaped or not, has no files any more. */
static bool memfd_is_gone(const struct shm_link *shm)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", shm->address.pid,
		       shm->address.arena_fd);
	return access(path, F_OK) && errno == ENOENT;
}

bool shm_peer_ended(const struct link *link)
{
	const struct shm_link *shm = link->back_end;
	struct pollfd fd = {.fd = shm->pidfd, .events = POLLIN};

	return shm->pidfd < 0 ? memfd_is_gone(shm) : poll(&fd, 1, 0) == 1;
}
