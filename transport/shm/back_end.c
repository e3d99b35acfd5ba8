/* back_end.c: this rank's half of shared memory: the doorbell that wakes it, and its address. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/shm/shm.h"

static struct shm *shm_of(struct back_end *back_end)
{
	return (struct shm *)back_end;
}

void shm_get_address(const struct back_end *back_end, struct shm_address *address)
{
	const struct shm *shm = (const struct shm *)back_end;
	const struct arena_header *header = arena_header(shm->arena);

	*address = (struct shm_address){
		.pid = (int32_t)getpid(),
		.arena_fd = shm->arena->fd,
		.doorbell_fd = shm->pipe[1],
		.nonce = {header->nonce[0], header->nonce[1]},
	};
}

/* --- sleeping ------------------------------------------------------------------------------ */

/* Writers store, fence, and then read this flag; the sleeper sets it, fences, and then looks at
 * what they have stored: at least one of them sees the other. */
static void arm(struct back_end *back_end)
{
	__atomic_store_n(&arena_header(shm_of(back_end)->arena)->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void disarm(struct back_end *back_end)
{
	__atomic_store_n(&arena_header(shm_of(back_end)->arena)->asleep, 0, __ATOMIC_RELAXED);
}

static int fds(const struct back_end *back_end, struct pollfd *fds)
{
	*fds = (struct pollfd){.fd = ((const struct shm *)back_end)->pipe[0], .events = POLLIN};
	return 1;
}

static void acknowledge(struct back_end *back_end, const struct pollfd *fds)
{
	char bytes[64];

	if (!fds->revents)
		return;
	while (read(shm_of(back_end)->pipe[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
		;
}

/* --- what shared memory need not do -------------------------------------------------------- */

/* The links are open already: transport_try_shm. */
static enum wring_status lay_out(struct back_end *back_end, struct wring_error *error)
{
	(void)back_end;
	(void)error;
	return WRING_OK;
}

/* Messages are seen by link_peek; nothing completes, and nothing can fail in between. */
static void do_nothing(struct back_end *back_end)
{
	(void)back_end;
}

static void explain_delay(const struct back_end *back_end, char *text, size_t len)
{
	(void)back_end;
	(void)len;
	text[0] = '\0';
}

/* Peers map the file of wring_alloc when they need it; other memory they cannot reach. */
static enum wring_status register_region(struct back_end *back_end, struct region *region,
					 struct wring_error *error)
{
	(void)back_end;
	(void)region;
	(void)error;
	return WRING_OK;
}

static void deregister_region(struct back_end *back_end, struct region *region)
{
	(void)back_end;
	(void)region;
}

static void describe(const struct back_end *back_end, struct wring_peer_info *info)
{
	(void)back_end;
	(void)info;
}

/* --- beginning and end --------------------------------------------------------------------- */

static void close_back_end(struct back_end *back_end)
{
	struct shm *shm = shm_of(back_end);

	close(shm->pipe[0]);
	close(shm->pipe[1]);
	free(shm);
}

static const struct back_end_ops ops = {
	.kind = WRING_TRANSPORT_SHM,
	.polls = false,
	.lay_out = lay_out,
	.poll = do_nothing,
	.arm = arm,
	.disarm = disarm,
	.fds = fds,
	.acknowledge = acknowledge,
	.watch = do_nothing,
	.explain_delay = explain_delay,
	.register_region = register_region,
	.deregister_region = deregister_region,
	.describe = describe,
	.close = close_back_end,
};

enum wring_status shm_open_back_end(struct back_end **back_end, struct arena *arena,
				    struct wring_error *error)
{
	struct shm *shm = calloc(1, sizeof(*shm));

	if (!shm)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*shm));
	shm->base.ops = &ops;
	shm->arena = arena;
	if (pipe2(shm->pipe, O_CLOEXEC | O_NONBLOCK)) {
		int e = errno;

		free(shm);
		return error_native(error, WRING_ERR_SYSTEM, e, "pipe2 failed: %s; see ulimit -n",
				    strerror(e));
	}
	*back_end = &shm->base;
	return WRING_OK;
}
