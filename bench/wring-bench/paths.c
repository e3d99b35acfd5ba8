/* paths.c: where each rank is, and how it reaches the others. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/paths.h"

#include <wring.h>

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 8192 };

/* Append the members as 0-3,8. */
static void format_members(char *text, size_t size, const bool *member, int n)
{
	size_t used = strlen(text);
	const char *comma = "";

	for (int first = 0, last; first < n && used < size; first = last + 1) {
		last = first;
		if (!member[first])
			continue;
		while (last + 1 < n && member[last + 1])
			last++;
		if (last == first)
			used += (size_t)snprintf(text + used, size - used, "%s%d", comma, first);
		else
			used += (size_t)snprintf(text + used, size - used, "%s%d-%d", comma, first,
						 last);
		comma = ",";
	}
}

static void describe_cpus(char *text, size_t size)
{
	static bool member[MAX_CPUS];
	cpu_set_t sets[MAX_CPUS / CPU_SETSIZE];

	text[0] = '\0';
	if (sched_getaffinity(0, sizeof(sets), sets) != 0) {
		snprintf(text, size, "?");
		return;
	}
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		member[cpu] = CPU_ISSET_S(cpu, sizeof(sets), sets);
	format_members(text, size, member, MAX_CPUS);
}

/* Append "shm: 1-3" for the peers that are reached so. */
static void describe_transport(char *text, size_t size, const enum wring_transport *transports,
			       bool *member, int n, enum wring_transport transport)
{
	size_t used = strlen(text);
	bool some = false;

	for (int peer = 0; peer < n; peer++) {
		member[peer] = transports[peer] == transport;
		some = some || member[peer];
	}
	if (!some || used >= size)
		return;
	snprintf(text + used, size - used, "%s%s: ", used ? "; " : "",
		 wring_transport_name(transport));
	format_members(text, size, member, n);
}

/* WRING_TRANSPORT speaks where the command line does not. */
static int wanted_transport(const struct options *options)
{
	const char *text = getenv("WRING_TRANSPORT");

	if (options->config.transport >= 0 || !text)
		return options->config.transport;
	if (strcmp(text, wring_transport_name(WRING_TRANSPORT_SHM)) == 0)
		return WRING_TRANSPORT_SHM;
	if (strcmp(text, wring_transport_name(WRING_TRANSPORT_VERBS)) == 0)
		return WRING_TRANSPORT_VERBS;
	return WRING_TRANSPORT_AUTO;
}

static int check_transport(const struct options *options, int rank, int peer,
			   enum wring_transport got, struct complaint *complaint)
{
	int wanted = wanted_transport(options);

	if (wanted <= WRING_TRANSPORT_AUTO || (int)got == wanted)
		return 0;
	return complaint_set(complaint,
			     "transport %s: rank %d reaches rank %d by %s; use "
			     "--transport auto, or ask wring-info why",
			     wring_transport_name((enum wring_transport)wanted), rank, peer,
			     wring_transport_name(got));
}

/* Device and address are those of the first peer that is reached through a device. */
static void note_device(struct path_row *row, const struct wring_peer_info *info)
{
	if (row->port || info->transport != WRING_TRANSPORT_VERBS)
		return;
	snprintf(row->device, sizeof(row->device), "%s", info->device);
	snprintf(row->gid, sizeof(row->gid), "%s", info->gid);
	row->port = info->port;
	row->gid_index = info->gid_index;
	row->mtu = info->mtu;
}

static int ask(const struct wring_comm *comm, int peer, struct wring_peer_info *info,
	       struct complaint *complaint)
{
	enum wring_status status = wring_comm_peer(comm, peer, info, sizeof(*info));

	if (status == WRING_OK)
		return 0;
	return complaint_set(complaint, "wring_comm_peer(%d): %s", peer, wring_strerror(status));
}

static int describe_peers(struct path_row *row, const struct options *options,
			  const struct wring_comm *comm, struct complaint *complaint)
{
	int n = wring_comm_size(comm);
	int rank = wring_comm_rank(comm);
	enum wring_transport *transports = calloc((size_t)n, sizeof(*transports));
	bool *member = calloc((size_t)n, sizeof(*member));
	struct wring_peer_info info;

	if (!transports || !member)
		complaint_set(complaint, "no memory for the table of %d peers", n);
	for (int peer = 0; peer < n && !complaint->text[0]; peer++) {
		if (peer == rank || ask(comm, peer, &info, complaint))
			continue;
		transports[peer] = info.transport;
		note_device(row, &info);
		check_transport(options, rank, peer, info.transport, complaint);
	}
	for (int t = WRING_TRANSPORT_SHM; t <= WRING_TRANSPORT_VERBS && !complaint->text[0]; t++)
		describe_transport(row->peers, sizeof(row->peers), transports, member, n,
				   (enum wring_transport)t);
	free(transports);
	free(member);
	return complaint->text[0] ? -1 : 0;
}

static int describe_rank(struct path_row *row, const struct options *options,
			 const struct wring_comm *comm, struct complaint *complaint)
{
	struct wring_peer_info info;

	if (ask(comm, wring_comm_rank(comm), &info, complaint))
		return -1;
	memcpy(row->host, info.host, sizeof(row->host));
	row->host[sizeof(row->host) - 1] = '\0';
	row->numa_node = info.numa_node;
	row->gid_index = -1;
	snprintf(row->device, sizeof(row->device), "%s", info.device);
	describe_cpus(row->cpus, sizeof(row->cpus));
	return describe_peers(row, options, comm, complaint);
}

int paths_gather(struct path_row **rows, const struct options *options, struct wring_comm *comm,
		 struct complaint *complaint)
{
	int size = wring_comm_size(comm);
	struct path_row *mine = calloc(1, sizeof(*mine));

	*rows = NULL;
	if (wring_comm_rank(comm) == 0)
		*rows = calloc((size_t)size, sizeof(**rows));
	if (!mine || (wring_comm_rank(comm) == 0 && !*rows))
		complaint_die("no memory for the table of %d ranks", size);
	describe_rank(mine, options, comm, complaint);
	MPI_Gather(mine, (int)sizeof(*mine), MPI_BYTE, *rows, (int)sizeof(*mine), MPI_BYTE, 0,
		   MPI_COMM_WORLD);
	free(mine);
	return complaint->text[0] ? -1 : 0;
}

int paths_hosts(const struct path_row *rows, int size)
{
	int hosts = 0;

	for (int i = 0; i < size; i++) {
		int j = 0;

		while (strcmp(rows[j].host, rows[i].host) != 0)
			j++;
		hosts += j == i;
	}
	return hosts;
}
