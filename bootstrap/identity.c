/* identity.c: reads who this process is and puts ranks that share a host side by side. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

_Static_assert(sizeof(struct host_identity) == 120, "is sent as it stands: no padding");

static const char boot_id_file[] = "/proc/sys/kernel/random/boot_id";
static const char pid_namespace_file[] = "/proc/self/ns/pid";

static enum wring_status cannot_read(const char *path, int native, struct wring_error *error)
{
	return error_native(error, WRING_ERR_SYSTEM, native, "cannot read %s: %s; %s", path,
			    strerror(native),
			    native == EMFILE || native == ENFILE ? "see ulimit -n and fs.file-max"
								 : "is /proc mounted here?");
}

static enum wring_status read_boot_id(struct host_identity *identity, struct wring_error *error)
{
	FILE *file = fopen(boot_id_file, "re");
	char *line;
	int native;

	if (!file)
		return cannot_read(boot_id_file, errno, error);
	errno = 0;
	line = fgets(identity->boot_id, sizeof(identity->boot_id), file);
	native = errno ? errno : ENODATA;
	(void)fclose(file);
	if (!line)
		return cannot_read(boot_id_file, native, error);
	identity->boot_id[strcspn(identity->boot_id, "\n")] = '\0';
	return WRING_OK;
}

enum wring_status identity_read(struct host_identity *identity, struct wring_error *error)
{
	struct host_identity own = {.pid = getpid()};
	struct stat namespace;
	enum wring_status status = read_boot_id(&own, error);

	if (status)
		return status;
	if (stat(pid_namespace_file, &namespace) != 0)
		return cannot_read(pid_namespace_file, errno, error);
	own.pid_namespace = namespace.st_ino;
	/* A longer name is cut: it is for people only. */
	(void)gethostname(own.host, sizeof(own.host) - 1);
	*identity = own;
	return WRING_OK;
}

/* An empty boot id is nobody's: a rank that could not read its own shares no host. */
bool identity_same_host(const struct host_identity *a, const struct host_identity *b)
{
	return a->boot_id[0] && a->pid_namespace == b->pid_namespace &&
	       memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

void identity_hosts(const struct host_identity *identities, int size, int *host_of_rank)
{
	for (int rank = 0; rank < size; rank++) {
		int lowest = 0;

		while (lowest < rank && !identity_same_host(&identities[lowest], &identities[rank]))
			lowest++;
		host_of_rank[rank] = lowest;
	}
}

/* Append the ranks of one host to the order, which has position ranks so far. */
static int append_host(const int *host_of_rank, int size, int host, int *order, int position)
{
	for (int rank = host; rank < size; rank++)
		if (host_of_rank[rank] == host)
			order[position++] = rank;
	return position;
}

void identity_ring_order(const int *host_of_rank, int size, enum wring_ring ring, int *order)
{
	int position = 0;

	for (int rank = 0; rank < size; rank++) {
		if (ring == WRING_RING_RANK)
			order[position++] = rank;
		else if (host_of_rank[rank] == rank)
			position = append_host(host_of_rank, size, rank, order, position);
	}
}
