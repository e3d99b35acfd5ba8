/* topology.h: the machine around this process: which HCA is near. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_TOPOLOGY_H
#define BOOTSTRAP_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "wring.h"

/* A machine, and the place (a set of CPUs) from which it is looked at. */
struct topology;

/*
 * Gives a topology; end it with topology_free. synthetic NULL: this machine, looked at from the
 * CPUs to which the calling thread is bound. That may take a second on a large machine: call it
 * once per process. Otherwise a machine described in hwloc's words ("pack:2 core:4 pu:1"), looked
 * at from everywhere. HWLOC_XMLFILE in the environment names a machine in a file instead of this
 * one, for tests. Returns NULL after filling *error. INVALID: the description. SYSTEM.
 */
struct topology *topology_load(const char *synthetic, struct wring_error *error);

/* NULL is fine. */
void topology_free(struct topology *topology);

/*
 * From now on look from these CPUs, a list such as "0-3,8", instead of from the process's own.
 * INVALID: no list, or the machine has none of them; then nothing has changed.
 */
enum wring_status topology_place(struct topology *topology, const char *cpus,
				 struct wring_error *error);

/*
 * The index in names[0..n-1] of the HCA nearest to the place, -1 if n is 0: the one with which it
 * shares the smallest part of the machine. Software devices come after all real ones, and names
 * that hwloc does not know last; among equals the first by name ("mlx5_2" before "mlx5_10").
 * Writes to why in words what decided: "same NUMA node 0 (Package 0)". Borrows names.
 */
int topology_nearest_device(const struct topology *topology, const char *const *names, int n,
			    char *why, size_t len);

/* Write the list of CPUs near the HCA, cut at len; false (and "") if hwloc does not know it. */
bool topology_device_cpus(const struct topology *topology, const char *name, char *buf, size_t len);

#endif
