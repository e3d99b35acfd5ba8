/* cpus.c: reads CPU quotas, version 1 and 2, from a process's control group up to the root. */
/* SPDX-License-Identifier: MIT */
#include "base/cpus.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cgroup.h"

int cpus_from_quota(const char *cpu_max_text, int cpus)
{
	long long quota, period;

	if (sscanf(cpu_max_text, "%lld %lld", &quota, &period) != 2 || quota < 0 || period <= 0)
		return cpus < 1 ? 1 : cpus;
	if (quota / period < cpus)
		cpus = (int)(quota / period);
	return cpus < 1 ? 1 : cpus;
}

/* What one group's directory says, in either version's files. */
static void look_into(void *ctx, const char *directory)
{
	char line[128], quota[32], period[32];
	int *cpus = ctx;

	if (!cgroup_read(directory, "cpu.max", line, sizeof(line))) {
		if (!cgroup_read(directory, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
		    !cgroup_read(directory, "cpu.cfs_period_us", period, sizeof(period)))
			return;
		(void)snprintf(line, sizeof(line), "%s %s", quota, period);
	}
	*cpus = cpus_from_quota(line, *cpus);
}

int cpus_within_cgroups(const char *root, int cpus)
{
	cgroup_visit(root, "cpu", look_into, &cpus);
	return cpus < 1 ? 1 : cpus;
}

int cpus_numa_node(void)
{
	unsigned cpu, node;

	return syscall(SYS_getcpu, &cpu, &node, NULL) ? -1 : (int)node;
}
