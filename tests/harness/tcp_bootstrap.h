/* tcp_bootstrap.h: a bootstrap without MPI: ranks joined by TCP, a star through rank 0. */
#ifndef TESTS_HARNESS_TCP_BOOTSTRAP_H
#define TESTS_HARNESS_TCP_BOOTSTRAP_H

#include "wring.h"

#include <stdbool.h>

/*
 * &tcp->bootstrap is what wring_comm_create wants; its ctx is this object. The rest is private.
 * All ranks must run on machines of the same byte order.
 */
struct tcp_bootstrap {
	struct wring_bootstrap bootstrap;
	int timeout_ms; /* for each call */
	bool broken;	/* a call failed: all later ones fail at once */
	unsigned int round;
	int *sockets; /* rank 0: one per rank, its own is -1; other ranks: one, to rank 0 */
};

/*
 * Join size ranks; collective, ends within timeout_ms. Rank 0 listens at host:port, the others
 * connect there and retry until it listens. Gives *tcp; end it with tcp_bootstrap_close.
 * Returns 0, or -1 after one line on stderr; *tcp is written only on success.
 */
int tcp_bootstrap_open(struct tcp_bootstrap **tcp, const char *host, int port, int rank, int size,
		       int timeout_ms);

/* The same for rank 0 when the socket listens already; borrows listener until it returns. */
int tcp_bootstrap_accept(struct tcp_bootstrap **tcp, int listener, int size, int timeout_ms);

/* A listening socket at host:port; port 0 lets the system choose. *chosen is the port. Or -1. */
int tcp_bootstrap_listen(const char *host, int port, int *chosen);

/* NULL is fine. A peer that is still in a call sees the close as that call's failure. */
void tcp_bootstrap_close(struct tcp_bootstrap *tcp);

#endif
