/* available.c: reads /proc/meminfo and the memory limits of control groups. */
/* SPDX-License-Identifier: MIT */
#include "base/available.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"

#define UNLIMITED (SIZE_MAX / 2)

/* A control group's files, by version. */
struct names {
	const char *limit, *used, *cache[2];
};

static const struct names version_2 = {
	"memory.max", "memory.current", {"inactive_file ", "active_file "}};
static const struct names version_1 = {"memory.limit_in_bytes",
				       "memory.usage_in_bytes",
				       {"total_inactive_file ", "total_active_file "}};

static FILE *open_in(const char *directory, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return NULL;
	return fopen(path, "re");
}

static size_t read_meminfo(const char *root)
{
	FILE *file = open_in(root, "proc/meminfo");
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

/* The number after one of the two words; 0 if the line begins with neither. */
static size_t after_word(const char *line, const char *const *words)
{
	for (int i = 0; i < 2; i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return (size_t)strtoull(line + strlen(words[i]), NULL, 10);
	return 0;
}

/*
 * Pages of files count as used, but the kernel takes them back before it refuses or kills: without
 * them a job that has read its input would seem to have no memory left.
 */
static size_t page_cache(const char *directory, const struct names *names)
{
	FILE *file = open_in(directory, "memory.stat");
	size_t bytes = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		bytes += after_word(line, names->cache);
	(void)fclose(file);
	return bytes;
}

/* A number, or "max"; false if there is no such file. */
static bool read_bytes(const char *directory, const char *name, size_t *bytes)
{
	char line[64];

	if (!cgroup_read(directory, name, line, sizeof(line)))
		return false;
	if (sscanf(line, "%zu", bytes) != 1)
		*bytes = UNLIMITED;
	return true;
}

/* What the group leaves: its limit less what it uses and needs. */
static size_t left_by(const char *directory, const struct names *names)
{
	size_t limit, used, cache;

	if (!read_bytes(directory, names->limit, &limit) || limit >= UNLIMITED ||
	    !read_bytes(directory, names->used, &used))
		return UNLIMITED;
	cache = page_cache(directory, names);
	used = used > cache ? used - cache : 0;
	return used < limit ? limit - used : 0;
}

static void look_into(void *ctx, const char *directory)
{
	size_t *available = ctx;
	size_t left = left_by(directory, &version_2), left_1 = left_by(directory, &version_1);

	if (left_1 < left)
		left = left_1;
	if (left < *available)
		*available = left;
}

size_t available_memory(const char *root)
{
	size_t available = read_meminfo(root);

	cgroup_visit(root, "memory", look_into, &available);
	return available;
}
