/* sysfs.c: what the kernel's files under /sys say of a device and verbs calls do not. */
/* SPDX-License-Identifier: MIT */
#include "transport/verbs/sysfs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* First line of a small file, without its newline; "" if it cannot be read. */
static void read_line(const char *path, char *line, size_t len)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, (int)len, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	(void)fclose(file);
}

/* Only rxe names its netdev in such a file. Without sysfs the usual names must do. */
bool verbs_is_software(const struct ibv_device *device)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/parent", device->ibdev_path);
	return access(path, R_OK) == 0 || strncmp(device->name, "rxe", 3) == 0 ||
	       strncmp(device->name, "siw", 3) == 0;
}

void verbs_netdev(const struct ibv_device *device, int port, char *name, size_t len)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/ports/%d/gid_attrs/ndevs/0", device->ibdev_path,
		       port);
	read_line(path, name, len);
	if (*name)
		return;
	(void)snprintf(path, sizeof(path), "%s/parent", device->ibdev_path);
	read_line(path, name, len);
}
