/* cgroup.h: the control groups that this process is in, and what their files say. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call visit for the directory of each group that a controller ("cpu", "memory") of version 1 or
 * version 2 may limit this process by: its own and all parents. A directory need not exist. root
 * comes before /proc and /sys; "" is this machine.
 */
void cgroup_visit(const char *root, const char *controller,
		  void (*visit)(void *ctx, const char *directory), void *ctx);

/* Read the first line of directory/name, without its end; false if there is none. */
bool cgroup_read(const char *directory, const char *name, char *line, size_t len);

#endif
