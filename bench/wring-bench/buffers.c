/* buffers.c: the two vectors of a rank, of the wanted kind, made once for the longest size. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/buffers.h"

#include <wring.h>

#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, TOP_PAD = 64 << 20 };

void buffers_keep_scratch(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, TOP_PAD);
}

const char *buffers_malloc_note(void)
{
	return "M_MMAP_MAX=0, M_TRIM_THRESHOLD=-1, M_TOP_PAD=64Mi: freed memory stays with the "
	       "process";
}

/* What /proc/meminfo calls available, in bytes; 0: not known. */
static size_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[256];
	unsigned long long kilobytes = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
			break;
	fclose(file);
	return (size_t)kilobytes * 1024;
}

static int ranks_on_host(void)
{
	MPI_Comm host;
	int ranks;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &ranks);
	MPI_Comm_free(&host);
	return ranks;
}

/* Better refused than killed by the kernel half way. */
static int check_room(size_t bytes, int vectors, struct complaint *complaint)
{
	size_t available = memory_available();
	int ranks = ranks_on_host();
	int copies = vectors * ranks;

	MPI_Barrier(MPI_COMM_WORLD);
	if (!available || bytes <= available / (size_t)copies)
		return 0;
	return complaint_set(complaint,
			     "%d x %zu bytes for each of %d ranks: only %zu MiB are "
			     "available on this host; lower --max",
			     vectors, bytes, ranks, available >> 20);
}

static void *make_plain(size_t bytes, struct complaint *complaint)
{
	void *buf = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);

	if (!buf)
		complaint_set(complaint, "no memory for a vector of %zu bytes; lower --max", bytes);
	return buf;
}

static void *make_registered(struct wring_comm *comm, size_t bytes, struct complaint *complaint)
{
	void *buf = make_plain(bytes, complaint);
	struct wring_error error;

	if (!buf || wring_register(comm, buf, bytes) == WRING_OK)
		return buf;
	wring_comm_error(comm, &error);
	complaint_set(complaint, "wring_register of %zu bytes: %s", bytes, error.text);
	free(buf);
	return NULL;
}

static void *make_alloced(struct wring_comm *comm, size_t bytes, struct complaint *complaint)
{
	void *buf = NULL;
	struct wring_error error;

	if (wring_alloc(comm, bytes, &buf) == WRING_OK)
		return buf;
	wring_comm_error(comm, &error);
	complaint_set(complaint, "wring_alloc of %zu bytes: %s", bytes, error.text);
	return NULL;
}

static void *make(struct buffers *buffers, size_t bytes, struct complaint *complaint)
{
	void *buf = NULL;

	switch (buffers->kind) {
	case BUFFERS_ALLOC:
		buf = make_alloced(buffers->comm, bytes, complaint);
		break;
	case BUFFERS_MALLOC:
		buf = make_plain(bytes, complaint);
		break;
	case BUFFERS_REGISTER:
		buf = make_registered(buffers->comm, bytes, complaint);
		break;
	}
	if (buf)
		memset(buf, 1, bytes);
	return buf;
}

static void drop(struct buffers *buffers, void *buf)
{
	if (!buf)
		return;
	if (buffers->kind == BUFFERS_ALLOC) {
		wring_free(buffers->comm, buf);
		return;
	}
	if (buffers->kind == BUFFERS_REGISTER && wring_deregister(buffers->comm, buf) != WRING_OK)
		complaint_die("wring_deregister failed");
	free(buf);
}

int buffers_make(struct buffers *buffers, const struct options *options, struct wring_comm *comm,
		 struct complaint *complaint)
{
	size_t bytes = options_longest(options);
	int vectors = options->in_place || options->collective != ALLREDUCE ? 1 : 2;

	*buffers = (struct buffers){.kind = options->buffers, .comm = comm};
	if (check_room(bytes, options->limits ? vectors + 2 : vectors, complaint))
		return -1;
	buffers->recv = make(buffers, bytes, complaint);
	buffers->send = vectors == 1 ? buffers->recv : make(buffers, bytes, complaint);
	return buffers->recv && buffers->send ? 0 : -1;
}

void buffers_free(struct buffers *buffers)
{
	if (buffers->send != buffers->recv)
		drop(buffers, buffers->send);
	drop(buffers, buffers->recv);
	buffers->send = NULL;
	buffers->recv = NULL;
}
