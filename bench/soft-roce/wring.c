/* wring.c: Wring's calls, to be timed by time.c. */
/* SPDX-License-Identifier: MIT */
#include "bench/soft-roce/time.h"

#include <stdio.h>
#include <stdlib.h>

#include <wring-mpi.h>

static struct wring_comm *comm;
static size_t length;
static void *registered[2]; /* send and recv of the calls to come */

static void die(const char *what, const struct wring_error *error)
{
	fprintf(stderr, "soft-roce: %s: %s\n", what, error->text);
	exit(1);
}

static void must(enum wring_status status, const char *what)
{
	struct wring_error error;

	if (status == WRING_OK)
		return;
	wring_comm_error(comm, &error);
	die(what, &error);
}

void peer_open(struct peer *peer)
{
	struct wring_error error;

	MPI_Init(NULL, NULL);
	if (wring_comm_create_mpi(MPI_COMM_WORLD, NULL, &comm, &error) != WRING_OK)
		die("wring_comm_create_mpi", &error);
	peer->rank = wring_comm_rank(comm);
	peer->size = wring_comm_size(comm);
}

static void deregister_all(void)
{
	for (int i = 0; i < 2; i++) {
		if (registered[i])
			must(wring_deregister(comm, registered[i]), "wring_deregister");
		registered[i] = NULL;
	}
}

/* The other systems register what they are given when they first see it, and remember. */
void peer_prepare(struct peer *peer, bool broadcast, size_t count)
{
	void *buffers[2] = {(void *)(size_t)peer->send, peer->recv};

	(void)broadcast;
	deregister_all();
	length = count;
	for (int i = 0; i < 2; i++) {
		must(wring_register(comm, buffers[i], count * sizeof(float)), "wring_register");
		registered[i] = buffers[i];
	}
}

void peer_allreduce(struct peer *peer)
{
	must(wring_allreduce(comm, peer->send, peer->recv, length, WRING_FLOAT32, WRING_SUM),
	     "wring_allreduce");
}

void peer_broadcast(struct peer *peer, int root)
{
	must(wring_broadcast(comm, peer->recv, length, WRING_FLOAT32, root), "wring_broadcast");
}

/* What Wring's calls have begun, the HCA ends. */
void peer_progress(struct peer *peer)
{
	(void)peer;
}

void peer_close(struct peer *peer)
{
	(void)peer;
	deregister_all();
	wring_comm_destroy(comm);
	MPI_Finalize();
}
