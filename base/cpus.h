/* cpus.h: how many CPUs the control groups of this process leave it, and where it runs. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

/*
 * The least of cpus and the quotas of this process's control groups and all their parents
 * (version 2: cpu.max, version 1: cpu.cfs_quota_us); at least 1. A file that is missing limits
 * nothing. root comes before /proc and /sys; "" is this machine.
 */
int cpus_within_cgroups(const char *root, int cpus);

/*
 * The least of cpus and what the text of a cpu.max file leaves ("150000 100000", "max 100000"):
 * whole CPUs only, at least 1. Any other text limits nothing.
 */
int cpus_from_quota(const char *cpu_max_text, int cpus);

/* The NUMA node on which the calling thread runs just now; -1: not known. */
int cpus_numa_node(void);

#endif
