/* mpi.c: the calls of an MPI, to be timed by time.c. */
/* SPDX-License-Identifier: MIT */
#include "bench/soft-roce/time.h"

#include <mpi.h>

static int length;

/* MPI's own error handler ends the program. */
void peer_open(struct peer *peer)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &peer->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &peer->size);
}

void peer_prepare(struct peer *peer, bool broadcast, size_t count)
{
	(void)peer;
	(void)broadcast;
	length = (int)count;
}

void peer_allreduce(struct peer *peer)
{
	MPI_Allreduce(peer->send, peer->recv, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void peer_broadcast(struct peer *peer, int root)
{
	MPI_Bcast(peer->recv, length, MPI_FLOAT, root, MPI_COMM_WORLD);
}

/* What is still to be sent for a call that has returned may wait for the next call of MPI. */
void peer_progress(struct peer *peer)
{
	int found;

	(void)peer;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void peer_close(struct peer *peer)
{
	(void)peer;
	MPI_Finalize();
}
