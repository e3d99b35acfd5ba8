/* topology.c: asks hwloc where this process and the HCAs are; the only file that knows hwloc. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct topology {
	hwloc_topology_t machine;
	hwloc_bitmap_t place; /* never empty, always within the machine */
};

/*
 * Leave out what is slow and of no use here: the drivers of GPUs, and libpciaccess (it reads the
 * list of all PCI vendors and never frees it; without it hwloc finds PCI in /sys).
 */
#if HWLOC_API_VERSION >= 0x00020100
static void skip_components(hwloc_topology_t machine)
{
	static const char *const components[] = {
		"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl", "pci", NULL,
	};

	for (int i = 0; components[i]; i++)
		(void)hwloc_topology_set_components(
			machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, components[i]);
}
#else
static void skip_components(hwloc_topology_t machine)
{
	(void)machine;
}
#endif

/* An unloaded topology that will keep PCI and the devices on it. */
static struct topology *create(struct wring_error *error)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	if (!topology)
		goto fail;
	topology->place = hwloc_bitmap_alloc();
	if (!topology->place || hwloc_topology_init(&topology->machine) != 0)
		goto fail;
	(void)hwloc_topology_set_io_types_filter(topology->machine,
						 HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	return topology;
fail:
	topology_free(topology);
	(void)error_set(error, WRING_ERR_NOMEM, "no memory for a hwloc topology");
	return NULL;
}

void topology_free(struct topology *topology)
{
	if (!topology)
		return;
	if (topology->machine)
		hwloc_topology_destroy(topology->machine);
	hwloc_bitmap_free(topology->place);
	free(topology);
}

/* Look from where the calling thread is bound, or from everywhere if that is not known. */
static void place_own(struct topology *topology)
{
	hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology->machine);
	int unknown = -1;

	if (hwloc_topology_is_thissystem(topology->machine))
		unknown =
			hwloc_get_cpubind(topology->machine, topology->place, HWLOC_CPUBIND_THREAD);
	if (unknown == 0)
		(void)hwloc_bitmap_and(topology->place, topology->place, all);
	if (unknown || hwloc_bitmap_iszero(topology->place))
		(void)hwloc_bitmap_copy(topology->place, all);
}

/* Load what has been prepared. Takes topology: it is freed on failure. */
static struct topology *load(struct topology *topology, unsigned long flags,
			     struct wring_error *error)
{
	if (hwloc_topology_set_flags(topology->machine, flags) == 0 &&
	    hwloc_topology_load(topology->machine) == 0) {
		place_own(topology);
		return topology;
	}
	(void)error_native(error, WRING_ERR_SYSTEM, errno,
			   "hwloc_topology_load: %s; does lstopo work on this host?",
			   strerror(errno));
	topology_free(topology);
	return NULL;
}

struct topology *topology_load(const char *synthetic, struct wring_error *error)
{
	struct topology *topology = create(error);

	if (!topology)
		return NULL;
	skip_components(topology->machine);
	if (!synthetic)
		return load(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED, error);
	if (hwloc_topology_set_synthetic(topology->machine, synthetic) == 0)
		return load(topology, 0, error);
	(void)error_native(error, WRING_ERR_INVALID, errno,
			   "\"%s\" does not describe a machine to hwloc", synthetic);
	topology_free(topology);
	return NULL;
}

enum wring_status topology_place(struct topology *topology, const char *cpus,
				 struct wring_error *error)
{
	hwloc_bitmap_t place = hwloc_bitmap_alloc();

	if (!place)
		return error_set(error, WRING_ERR_NOMEM, "no memory for a set of CPUs");
	if (hwloc_bitmap_list_sscanf(place, cpus) != 0)
		hwloc_bitmap_zero(place);
	(void)hwloc_bitmap_and(place, place, hwloc_topology_get_topology_cpuset(topology->machine));
	if (hwloc_bitmap_iszero(place)) {
		hwloc_bitmap_free(place);
		return error_set(error, WRING_ERR_INVALID,
				 "\"%s\" lists no CPU of this machine; lists look like 0-3,8",
				 cpus);
	}
	hwloc_bitmap_free(topology->place);
	topology->place = place;
	return WRING_OK;
}

/* The first NUMA node that holds all these CPUs, or NULL. */
static hwloc_obj_t node_of(hwloc_topology_t machine, hwloc_const_bitmap_t cpus)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_isincluded(cpus, node->cpuset))
			return node;
	return NULL;
}

/* How far an HCA is; the smaller kind first, then the deeper common part. */
enum kind { REAL, SOFTWARE, UNKNOWN };

struct distance {
	enum kind kind;
	hwloc_obj_t common; /* the smallest part that holds the place and the HCA; or NULL */
};

static hwloc_obj_t find_device(const struct topology *topology, const char *name)
{
	hwloc_obj_t device = NULL;

	while ((device = hwloc_get_next_osdev(topology->machine, device)))
		if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS &&
		    strcmp(device->name, name) == 0)
			return device;
	return NULL;
}

static bool has_pci(hwloc_obj_t device)
{
	while (device && device->type != HWLOC_OBJ_PCI_DEVICE)
		device = device->parent;
	return device != NULL;
}

bool topology_device_cpus(const struct topology *topology, const char *name, char *buf, size_t len)
{
	hwloc_obj_t device = find_device(topology, name);
	hwloc_obj_t near;

	if (len > 0)
		buf[0] = '\0';
	if (!device)
		return false;
	near = hwloc_get_non_io_ancestor_obj(topology->machine, device);
	(void)hwloc_bitmap_list_snprintf(buf, len, near->cpuset);
	return true;
}

static struct distance measure(const struct topology *topology, const char *name)
{
	hwloc_obj_t device = find_device(topology, name);
	hwloc_obj_t near, here;

	if (!device)
		return (struct distance){.kind = UNKNOWN};
	near = hwloc_get_non_io_ancestor_obj(topology->machine, device);
	here = hwloc_get_obj_covering_cpuset(topology->machine, topology->place);
	return (struct distance){
		.kind = has_pci(device) ? REAL : SOFTWARE,
		.common = hwloc_get_common_ancestor_obj(topology->machine, here, near),
	};
}

/* Negative if a is nearer, positive if b is, 0 if they are equally far. */
static int compare(struct distance a, struct distance b)
{
	if (a.kind != b.kind)
		return (int)a.kind - (int)b.kind;
	return a.common ? b.common->depth - a.common->depth : 0;
}

static void explain(const struct topology *topology, struct distance distance, int equals,
		    char *why, size_t len)
{
	char part[32] = "", tie[64] = "";
	hwloc_obj_t common = distance.common;

	if (equals > 1)
		(void)snprintf(tie, sizeof(tie), "; the first by name of %d equals", equals);
	if (common)
		(void)hwloc_obj_type_snprintf(part, sizeof(part), common, 0);
	if (distance.kind == UNKNOWN)
		(void)snprintf(why, len, "hwloc does not know where it is%s", tie);
	else if (distance.kind == SOFTWARE)
		(void)snprintf(why, len, "a software device, without PCI%s", tie);
	else if (hwloc_bitmap_weight(common->nodeset) == 1)
		(void)snprintf(why, len, "same NUMA node %d (%s %u)%s",
			       hwloc_bitmap_first(common->nodeset), part, common->logical_index,
			       tie);
	else if (common->parent)
		(void)snprintf(why, len, "same %s %u%s", part, common->logical_index, tie);
	else if (node_of(topology->machine, topology->place))
		(void)snprintf(why, len, "same machine, but another NUMA node%s", tie);
	else
		(void)snprintf(why, len, "this process is not bound to one NUMA node%s", tie);
}

int topology_nearest_device(const struct topology *topology, const char *const *names, int n,
			    char *why, size_t len)
{
	struct distance best = {.kind = UNKNOWN};
	int nearest = -1, equals = 0;

	for (int i = 0; i < n; i++) {
		struct distance distance = measure(topology, names[i]);
		int order = nearest < 0 ? -1 : compare(distance, best);

		if (order < 0)
			equals = 0;
		if (order <= 0)
			equals++;
		if (order < 0 || (order == 0 && strverscmp(names[i], names[nearest]) < 0)) {
			nearest = i;
			best = distance;
		}
	}
	if (nearest >= 0)
		explain(topology, best, equals, why, len);
	return nearest;
}
