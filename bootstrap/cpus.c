/* cpus.c: reads CPU quotas, version 1 and 2, from a process's control group up to the root. */
#include "bootstrap/cpus.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int cpus_from_quota(const char *cpu_max_text, int cpus)
{
	long long quota, period;

	if (sscanf(cpu_max_text, "%lld %lld", &quota, &period) != 2 || quota < 0 || period <= 0)
		return cpus < 1 ? 1 : cpus;
	if (quota / period < cpus)
		cpus = (int)(quota / period);
	return cpus < 1 ? 1 : cpus;
}

/* Read the first line of directory/name, without its end; false if there is none. */
static bool read_line(const char *directory, const char *name, char *line, int len)
{
	char path[PATH_MAX];
	FILE *file;
	bool found;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(line, len, file) != NULL;
	(void)fclose(file);
	if (found)
		line[strcspn(line, "\n")] = '\0';
	return found;
}

/* What one group's directory says, in either version's files. */
static int within_directory(const char *directory, int cpus)
{
	char line[128], quota[32], period[32];

	if (read_line(directory, "cpu.max", line, sizeof(line)))
		return cpus_from_quota(line, cpus);
	if (!read_line(directory, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
	    !read_line(directory, "cpu.cfs_period_us", period, sizeof(period)))
		return cpus;
	(void)snprintf(line, sizeof(line), "%s %s", quota, period);
	return cpus_from_quota(line, cpus);
}

/*
 * Walk from the group up to the root of the mount. In a container group may be the path that the
 * host sees: its directories are missing here, and the mount's root is the container's own group.
 * A group outside our namespace ("/../x") cannot be walked; then only the root is looked at.
 */
static int within_group(const char *mount, const char *group, int cpus)
{
	char directory[PATH_MAX];
	size_t root = strlen(mount);

	if (strstr(group, "/.."))
		group = "";
	if (snprintf(directory, sizeof(directory), "%s%s", mount, group) >= (int)sizeof(directory))
		return cpus;
	for (;;) {
		char *slash = strrchr(directory + root, '/');

		cpus = within_directory(directory, cpus);
		if (!slash)
			return cpus;
		*slash = '\0';
	}
}

/* True if a comma-separated list of controllers has "cpu" itself (not only "cpuset"). */
static bool has_cpu(const char *controllers, size_t len)
{
	while (len >= 3) {
		const char *comma = memchr(controllers, ',', len);
		size_t word = comma ? (size_t)(comma - controllers) : len;

		if (word == 3 && memcmp(controllers, "cpu", 3) == 0)
			return true;
		if (!comma)
			return false;
		controllers += word + 1;
		len -= word + 1;
	}
	return false;
}

/* One line of /proc/self/cgroup: "0::/group" (version 2) or "4:cpu,cpuacct:/group". */
static int within_line(const char *root, const char *line, int cpus)
{
	const char *controllers = strchr(line, ':');
	const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	char mount[PATH_MAX];
	size_t len;

	if (!group)
		return cpus;
	len = (size_t)(group - controllers - 1);
	if (len == 0) {
		(void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
		cpus = within_group(mount, group + 1, cpus);
		(void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/unified", root);
		return within_group(mount, group + 1, cpus);
	}
	if (!has_cpu(controllers + 1, len))
		return cpus;
	(void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
	return within_group(mount, group + 1, cpus);
}

int cpus_within_cgroups(const char *root, int cpus)
{
	char line[PATH_MAX];
	FILE *file;

	(void)snprintf(line, sizeof(line), "%s/proc/self/cgroup", root);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		cpus = within_line(root, line, cpus);
	}
	if (file)
		(void)fclose(file);
	return cpus < 1 ? 1 : cpus;
}
