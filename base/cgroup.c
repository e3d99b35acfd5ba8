/* cgroup.c: walks through control groups, version 1 and 2, from a process's own up to the root. */
/* SPDX-License-Identifier: MIT */
#include "base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What stays the same during a walk. */
struct walk {
	const char *root, *controller;
	void (*visit)(void *ctx, const char *directory);
	void *ctx;
};

bool cgroup_read(const char *directory, const char *name, char *line, size_t len)
{
	char path[PATH_MAX];
	FILE *file;
	bool found;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(line, (int)len, file) != NULL;
	(void)fclose(file);
	if (found)
		line[strcspn(line, "\n")] = '\0';
	return found;
}

/*
 * From the group up to the root of the mount. In a container group may be the path that the host
 * sees: its directories are missing here, and the mount's root is the container's own group. A
 * group outside our namespace ("/../x") cannot be walked; then only the root is looked at.
 */
static void walk_up(const struct walk *walk, const char *mount, const char *group)
{
	char directory[PATH_MAX];
	size_t start;

	if (strstr(group, "/.."))
		group = "";
	if (snprintf(directory, sizeof(directory), "%s/sys/fs/cgroup%s%s", walk->root, mount,
		     group) >= (int)sizeof(directory))
		return;
	start = strlen(directory) - strlen(group);
	for (;;) {
		char *slash = strrchr(directory + start, '/');

		walk->visit(walk->ctx, directory);
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* True if a comma-separated list has the word itself ("cpu" is not in "cpuset,cpuacct"). */
static bool has_word(const char *list, size_t len, const char *word)
{
	size_t wanted = strlen(word);

	while (len >= wanted) {
		const char *comma = memchr(list, ',', len);
		size_t n = comma ? (size_t)(comma - list) : len;

		if (n == wanted && memcmp(list, word, n) == 0)
			return true;
		if (!comma)
			return false;
		list += n + 1;
		len -= n + 1;
	}
	return false;
}

/* One line of /proc/self/cgroup: "0::/group" (version 2) or "4:cpu,cpuacct:/group". */
static void follow_line(const struct walk *walk, const char *line)
{
	const char *controllers = strchr(line, ':');
	const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	char mount[64];
	size_t len;

	if (!group)
		return;
	len = (size_t)(group - controllers - 1);
	if (len == 0) {
		walk_up(walk, "", group + 1);
		walk_up(walk, "/unified", group + 1);
	} else if (has_word(controllers + 1, len, walk->controller)) {
		(void)snprintf(mount, sizeof(mount), "/%s", walk->controller);
		walk_up(walk, mount, group + 1);
	}
}

void cgroup_visit(const char *root, const char *controller,
		  void (*visit)(void *ctx, const char *directory), void *ctx)
{
	const struct walk walk = {
		.root = root, .controller = controller, .visit = visit, .ctx = ctx};
	char line[PATH_MAX];
	FILE *file;

	(void)snprintf(line, sizeof(line), "%s/proc/self/cgroup", root);
	file = fopen(line, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		follow_line(&walk, line);
	}
	(void)fclose(file);
}
