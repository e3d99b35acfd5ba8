/* tcp_bootstrap.c: allgather and alltoall over TCP; every wait has a deadline. */
#include "tests/harness/tcp_bootstrap.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0x57524e47, HELLO_MS = 2000, RETRY_MS = 10 };

enum call { CALL_HELLO = 1, CALL_ALLGATHER = 2, CALL_ALLTOALL = 3, CALL_FAILED = 4 };

/* Goes before every payload, in both directions. */
struct frame {
	uint32_t magic, call, round, rank;
	uint64_t len, size;
};

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void nap(int ms)
{
	struct timespec t = {.tv_nsec = (long)ms * 1000000};

	(void)nanosleep(&t, NULL);
}

static int wait_ready(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = deadline - now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			errno = ETIMEDOUT;
		if (n == 0 || errno != EINTR)
			return -1;
	}
}

static bool again(ssize_t n)
{
	return n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
}

static int send_all(int fd, const void *buf, size_t len, int64_t deadline)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n;

		if (wait_ready(fd, POLLOUT, deadline))
			return -1;
		n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (again(n))
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int recv_all(int fd, void *buf, size_t len, int64_t deadline)
{
	char *p = buf;

	while (len > 0) {
		ssize_t n;

		if (wait_ready(fd, POLLIN, deadline))
			return -1;
		n = recv(fd, p, len, MSG_DONTWAIT);
		if (again(n))
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static struct frame make_frame(const struct tcp_bootstrap *tcp, enum call call, size_t len)
{
	return (struct frame){
		.magic = MAGIC,
		.call = (uint32_t)call,
		.round = tcp->round,
		.rank = (uint32_t)tcp->bootstrap.rank,
		.len = len,
		.size = (uint64_t)tcp->bootstrap.size,
	};
}

/* Receive a frame from rank, which must belong to the same call as wanted. */
static int recv_frame(int fd, const struct frame *wanted, int rank, int64_t deadline)
{
	struct frame got;

	if (recv_all(fd, &got, sizeof(got), deadline))
		return -1;
	errno = EPROTO;
	if (got.magic != wanted->magic || got.call != wanted->call || got.round != wanted->round)
		return -1;
	if (got.rank != (uint32_t)rank || got.len != wanted->len || got.size != wanted->size)
		return -1;
	return 0;
}

/* Rank 0: everybody's each bytes, in rank order. */
static int gather(struct tcp_bootstrap *tcp, const struct frame *frame, const void *in, char *all,
		  size_t each, int64_t deadline)
{
	memcpy(all, in, each);
	for (int r = 1; r < tcp->bootstrap.size; r++) {
		if (recv_frame(tcp->sockets[r], frame, r, deadline))
			return -1;
		if (recv_all(tcp->sockets[r], all + (size_t)r * each, each, deadline))
			return -1;
	}
	return 0;
}

/* What rank receives: for allgather everything, for alltoall its column of the matrix. */
static void pick(char *row, const char *all, int rank, int size, enum call call, size_t len)
{
	size_t n = (size_t)size;

	if (call == CALL_ALLGATHER) {
		memcpy(row, all, n * len);
		return;
	}
	for (size_t from = 0; from < n; from++)
		memcpy(row + from * len, all + (from * n + (size_t)rank) * len, len);
}

static int scatter(struct tcp_bootstrap *tcp, const struct frame *frame, const char *all, char *row,
		   int64_t deadline)
{
	int size = tcp->bootstrap.size;
	size_t bytes = (size_t)size * frame->len;

	for (int r = 1; r < size; r++) {
		pick(row, all, r, size, (enum call)frame->call, frame->len);
		if (send_all(tcp->sockets[r], frame, sizeof(*frame), deadline))
			return -1;
		if (send_all(tcp->sockets[r], row, bytes, deadline))
			return -1;
	}
	pick(row, all, 0, size, (enum call)frame->call, frame->len);
	return 0;
}

/* A failed rank leaves the star, so that nobody waits for it until the deadline. */
static int leave(struct tcp_bootstrap *tcp)
{
	int n = tcp->bootstrap.rank == 0 ? tcp->bootstrap.size : 1;
	struct frame failed = make_frame(tcp, CALL_FAILED, 0);
	int saved = errno;

	tcp->broken = true;
	for (int i = 0; i < n; i++) {
		if (tcp->sockets[i] < 0)
			continue;
		(void)send_all(tcp->sockets[i], &failed, sizeof(failed), now_ms());
		(void)shutdown(tcp->sockets[i], SHUT_RDWR);
	}
	errno = saved;
	return -1;
}

static int exchange_root(struct tcp_bootstrap *tcp, const struct frame *frame, const void *in,
			 void *out, size_t each, int64_t deadline)
{
	size_t size = (size_t)tcp->bootstrap.size;
	char *all = malloc(size * each + 1);
	char *row = malloc(size * frame->len + 1);
	int rc = -1;

	if (all && row && gather(tcp, frame, in, all, each, deadline) == 0 &&
	    scatter(tcp, frame, all, row, deadline) == 0) {
		memcpy(out, row, size * frame->len);
		rc = 0;
	}
	free(all);
	free(row);
	return rc;
}

static int exchange_leaf(struct tcp_bootstrap *tcp, const struct frame *frame, const void *in,
			 void *out, size_t each, int64_t deadline)
{
	int fd = tcp->sockets[0];
	size_t bytes = (size_t)tcp->bootstrap.size * frame->len;
	char *row = malloc(bytes + 1);
	int rc = -1;

	if (row && send_all(fd, frame, sizeof(*frame), deadline) == 0 &&
	    send_all(fd, in, each, deadline) == 0 && recv_frame(fd, frame, 0, deadline) == 0 &&
	    recv_all(fd, row, bytes, deadline) == 0) {
		memcpy(out, row, bytes);
		rc = 0;
	}
	free(row);
	return rc;
}

static int exchange(struct tcp_bootstrap *tcp, enum call call, const void *in, void *out,
		    size_t len)
{
	size_t size = (size_t)tcp->bootstrap.size;
	size_t each = call == CALL_ALLTOALL ? size * len : len;
	struct frame frame = make_frame(tcp, call, len);
	int64_t deadline = now_ms() + tcp->timeout_ms;
	int rc;

	if (tcp->broken)
		return -1;
	if (len == 0 || len > SIZE_MAX / 2 / size / size || !in || !out) {
		errno = EINVAL;
		return leave(tcp);
	}
	if (tcp->bootstrap.rank == 0)
		rc = exchange_root(tcp, &frame, in, out, each, deadline);
	else
		rc = exchange_leaf(tcp, &frame, in, out, each, deadline);
	tcp->round++;
	return rc ? leave(tcp) : 0;
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	return exchange(ctx, CALL_ALLGATHER, in, out, len);
}

static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	return exchange(ctx, CALL_ALLTOALL, in, out, len);
}

static struct tcp_bootstrap *make(int rank, int size, int timeout_ms)
{
	struct tcp_bootstrap *tcp = calloc(1, sizeof(*tcp));
	int n = rank == 0 ? size : 1;

	if (!tcp)
		return NULL;
	tcp->sockets = malloc((size_t)n * sizeof(int));
	if (!tcp->sockets) {
		free(tcp);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		tcp->sockets[i] = -1;
	tcp->timeout_ms = timeout_ms;
	tcp->bootstrap = (struct wring_bootstrap){
		.struct_size = sizeof(struct wring_bootstrap),
		.rank = rank,
		.size = size,
		.allgather = allgather,
		.alltoall = alltoall,
		.ctx = tcp,
	};
	return tcp;
}

static void send_without_delay(int fd)
{
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* One connection: a rank we still miss gets its place; anything else is closed and forgotten. */
static bool admit(struct tcp_bootstrap *tcp, int fd, int64_t deadline)
{
	int64_t patience = now_ms() + HELLO_MS;
	struct frame hello;
	bool ours =
		recv_all(fd, &hello, sizeof(hello), patience < deadline ? patience : deadline) == 0;

	ours = ours && hello.magic == MAGIC && hello.call == CALL_HELLO && hello.rank > 0 &&
	       hello.size == (uint64_t)tcp->bootstrap.size && hello.rank < hello.size &&
	       tcp->sockets[hello.rank] < 0;
	if (!ours) {
		(void)close(fd);
		return false;
	}
	send_without_delay(fd);
	tcp->sockets[hello.rank] = fd;
	return true;
}

static int accept_all(struct tcp_bootstrap *tcp, int listener, int64_t deadline)
{
	struct frame welcome = make_frame(tcp, CALL_HELLO, 0);
	int size = tcp->bootstrap.size;

	for (int missing = size - 1; missing > 0;) {
		int fd;

		if (wait_ready(listener, POLLIN, deadline))
			return -1;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0 && admit(tcp, fd, deadline))
			missing--;
	}
	for (int r = 1; r < size; r++) {
		if (send_all(tcp->sockets[r], &welcome, sizeof(welcome), deadline))
			return -1;
	}
	return 0;
}

static struct addrinfo *resolve(const char *host, int port, int flags)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char service[16];
	int rc;

	hints.ai_flags = flags | AI_NUMERICSERV;
	(void)snprintf(service, sizeof(service), "%d", port);
	rc = getaddrinfo(host, service, &hints, &found);
	if (rc == 0)
		return found;
	fprintf(stderr, "# tcp_bootstrap: getaddrinfo %s: %s\n", host ? host : "(null)",
		gai_strerror(rc));
	return NULL;
}

static int connect_once(const struct addrinfo *to, int64_t deadline)
{
	int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failure = 0;
	socklen_t len = sizeof(failure);

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && wait_ready(fd, POLLOUT, deadline) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0)
		return fd;
	if (failure)
		errno = failure;
	failure = errno;
	(void)close(fd);
	errno = failure;
	return -1;
}

static int connect_to_root(struct tcp_bootstrap *tcp, const char *host, int port, int64_t deadline)
{
	struct frame hello = make_frame(tcp, CALL_HELLO, 0);
	struct addrinfo *to = resolve(host, port, 0);
	int fd = -1;

	if (!to)
		return -1;
	while (fd < 0 && now_ms() < deadline) {
		for (const struct addrinfo *a = to; a && fd < 0; a = a->ai_next)
			fd = connect_once(a, deadline);
		if (fd < 0)
			nap(RETRY_MS);
	}
	freeaddrinfo(to);
	if (fd < 0)
		return -1;
	tcp->sockets[0] = fd;
	send_without_delay(fd);
	if (send_all(fd, &hello, sizeof(hello), deadline))
		return -1;
	return recv_frame(fd, &hello, 0, deadline);
}

int tcp_bootstrap_listen(const char *host, int port, int *chosen)
{
	struct addrinfo *at = resolve(host, port, AI_PASSIVE);
	struct sockaddr_storage name = {0};
	socklen_t len = sizeof(name);
	int fd = -1, on = 1;

	if (!at)
		return -1;
	fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&name, &len)) {
		fprintf(stderr, "# tcp_bootstrap: listen at %s:%d: %s\n", host, port,
			strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		fd = -1;
	} else if (chosen) {
		*chosen =
			ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
							 : ((struct sockaddr_in *)&name)->sin_port);
	}
	freeaddrinfo(at);
	return fd;
}

static int finish(struct tcp_bootstrap **tcp, struct tcp_bootstrap *made, int rc)
{
	if (rc) {
		fprintf(stderr, "# tcp_bootstrap: rank %d of %d: %s\n", made->bootstrap.rank,
			made->bootstrap.size, strerror(errno));
		tcp_bootstrap_close(made);
		return -1;
	}
	*tcp = made;
	return 0;
}

int tcp_bootstrap_accept(struct tcp_bootstrap **tcp, int listener, int size, int timeout_ms)
{
	struct tcp_bootstrap *made = size > 0 ? make(0, size, timeout_ms) : NULL;

	if (!made)
		return -1;
	return finish(tcp, made, accept_all(made, listener, now_ms() + timeout_ms));
}

int tcp_bootstrap_open(struct tcp_bootstrap **tcp, const char *host, int port, int rank, int size,
		       int timeout_ms)
{
	struct tcp_bootstrap *made;
	int listener, rc;

	if (rank < 0 || rank >= size) {
		fprintf(stderr, "# tcp_bootstrap: rank %d is outside 0..%d\n", rank, size - 1);
		return -1;
	}
	if (rank == 0) {
		listener = tcp_bootstrap_listen(host, port, NULL);
		if (listener < 0)
			return -1;
		rc = tcp_bootstrap_accept(tcp, listener, size, timeout_ms);
		(void)close(listener);
		return rc;
	}
	made = make(rank, size, timeout_ms);
	if (!made)
		return -1;
	return finish(tcp, made, connect_to_root(made, host, port, now_ms() + timeout_ms));
}

void tcp_bootstrap_close(struct tcp_bootstrap *tcp)
{
	int n;

	if (!tcp)
		return;
	n = tcp->bootstrap.rank == 0 ? tcp->bootstrap.size : 1;
	for (int i = 0; i < n; i++) {
		if (tcp->sockets[i] >= 0)
			(void)close(tcp->sockets[i]);
	}
	free(tcp->sockets);
	free(tcp);
}
