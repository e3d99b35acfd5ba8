/* available.c: reads /proc/meminfo and the memory limits of control groups. */
#include "transport/available.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define UNLIMITED (SIZE_MAX / 2)

static size_t read_meminfo(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t kib = UNLIMITED / 1024;
	char line[128];

	if (!file)
		return UNLIMITED;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
			break;
	(void)fclose(file);
	return kib * 1024;
}

/* A number in one of the group's files; "max" and no file are UNLIMITED. */
static size_t read_number(const char *group, const char *name)
{
	char path[PATH_MAX];
	size_t value = UNLIMITED;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name) >=
	    sizeof(path))
		return UNLIMITED;
	file = fopen(path, "re");
	if (!file)
		return UNLIMITED;
	if (fscanf(file, "%zu", &value) != 1)
		value = UNLIMITED;
	(void)fclose(file);
	return value;
}

/* What the group leaves: its limit less what it uses. */
static size_t left_by(const char *group)
{
	size_t limit = read_number(group, "memory.max");
	size_t used = read_number(group, "memory.current");

	if (limit == UNLIMITED || used == UNLIMITED)
		return UNLIMITED;
	return used < limit ? limit - used : 0;
}

static void own_group(char *group, size_t len)
{
	FILE *file = fopen("/proc/self/cgroup", "re");

	group[0] = 0;
	if (!file)
		return;
	while (fgets(group, (int)len, file)) {
		if (strncmp(group, "0::", 3) != 0)
			continue;
		memmove(group, group + 3, strlen(group + 3) + 1);
		group[strcspn(group, "\n")] = 0;
		(void)fclose(file);
		return;
	}
	(void)fclose(file);
	group[0] = 0;
}

size_t available_memory(void)
{
	size_t available = read_meminfo(), left;
	char group[PATH_MAX / 2];
	char *slash;

	own_group(group, sizeof(group));
	while ((slash = strrchr(group, '/'))) {
		left = left_by(group);
		if (left < available)
			available = left;
		*slash = 0;
	}
	return available;
}
