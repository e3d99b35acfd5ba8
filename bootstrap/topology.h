/* topology.h: the machine around this process: which HCA is near, which CPUs it may use. */
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
 * at from everywhere. Returns NULL after filling *error. INVALID: the description. SYSTEM.
 */
struct topology *topology_load(const char *synthetic, struct wring_error *error);

/*
 * One load per host: one rank exports, the others of its host import what it sends them. Export
 * gives len bytes of text in *xml; end it with free(). Import looks from the CPUs to which the
 * calling thread is bound, or from everywhere if the text has none of them; it borrows xml until
 * it returns. SYSTEM, NOMEM; import also INVALID: no topology.
 */
enum wring_status topology_export(const struct topology *topology, char **xml, size_t *len,
				  struct wring_error *error);
struct topology *topology_import(const char *xml, size_t len, struct wring_error *error);

/* NULL is fine. */
void topology_free(struct topology *topology);

/*
 * From now on look from these CPUs, a list such as "0-3,8", instead of from the process's own.
 * INVALID: no list, or the machine has none of them; then nothing has changed.
 */
enum wring_status topology_place(struct topology *topology, const char *cpus,
				 struct wring_error *error);

/* Write the list of CPUs of the place, "0-3,8"; cut at len. */
void topology_cpus(const struct topology *topology, char *buf, size_t len);

/* The number of CPUs this process may use: those of the place, less by a cgroup quota; >= 1. */
int topology_allowed_cpus(const struct topology *topology);

/*
 * The NUMA node (the system's number) that holds the whole place; if the process is bound to
 * more than one, that of the CPU it runs on just now; else -1.
 */
int topology_numa_node(const struct topology *topology);

/*
 * Ask the system to take the pages of buf (page-aligned) from the place's NUMA nodes. Pages that
 * exist do not move; a system that refuses is no error. Does nothing after topology_place.
 */
void topology_bind_memory(const struct topology *topology, void *buf, size_t len);

/*
 * The index in names[0..n-1] of the HCA nearest to the place, -1 if n is 0: the one with which it
 * shares the smallest part of the machine. Software devices come after all real ones, and names
 * that hwloc does not know last; among equals the first by name ("mlx5_2" before "mlx5_10").
 * Writes to why in words what decided: "same NUMA node 0 (Package 0)". Borrows names.
 */
int topology_nearest_device(const struct topology *topology, const char *const *names, int n,
			    char *why, size_t len);

/* True if no PCI device is behind the HCA (rxe, siw): it keeps one of the host's CPUs busy. */
bool topology_device_is_software(const struct topology *topology, const char *name);

/* Write the list of CPUs near the HCA, cut at len; false (and "") if hwloc does not know it. */
bool topology_device_cpus(const struct topology *topology, const char *name, char *buf, size_t len);

#endif
