/* topology.c: the nearest HCA, the CPUs and the NUMA node, on made-up machines and this one. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "bootstrap/topology.h"

enum { FILE_BYTES = 65536 };

/* A machine from tests/topology, looked at from these CPUs. */
static struct topology *machine(const char *name, const char *cpus)
{
	const char *srcdir = getenv("srcdir");
	static char xml[FILE_BYTES];
	char path[512];
	struct topology *topology;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/unit/topology/%s", srcdir ? srcdir : ".", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("cannot open %s", path);
	len = fread(xml, 1, sizeof(xml) - 1, file);
	fclose(file);
	xml[len] = '\0';
	topology = topology_import(xml, len + 1, NULL);
	assert_non_null(topology);
	assert_int_equal(topology_place(topology, cpus, NULL), WRING_OK);
	return topology;
}

/* Of names (until NULL) that one is nearest, for that reason. */
static void check_nearest(const char *file, const char *cpus, const char *const *names,
			  const char *nearest, const char *reason)
{
	struct topology *topology = machine(file, cpus);
	char why[128] = "";
	int n = 0, found;

	while (names[n])
		n++;
	found = topology_nearest_device(topology, names, n, why, sizeof(why));
	assert_in_range(found, 0, n - 1);
	assert_string_equal(names[found], nearest);
	assert_string_equal(why, reason);
	topology_free(topology);
}

static const char *const two[] = {"mlx5_0", "mlx5_1", NULL};
static const char *const two_reversed[] = {"mlx5_1", "mlx5_0", NULL};

static void nearest_is_the_hca_of_the_own_package(void **state)
{
	(void)state;
	check_nearest("two_packages.xml", "0-3", two, "mlx5_0", "same NUMA node 0 (Package 0)");
	check_nearest("two_packages.xml", "4-7", two, "mlx5_1", "same NUMA node 1 (Package 1)");
	check_nearest("two_packages.xml", "2", two, "mlx5_0", "same NUMA node 0 (Package 0)");
	check_nearest("two_packages.xml", "5,7", two, "mlx5_1", "same NUMA node 1 (Package 1)");
	check_nearest("two_packages.xml", "7", two_reversed, "mlx5_1",
		      "same NUMA node 1 (Package 1)");
}

static void unbound_takes_the_first_by_name(void **state)
{
	const char *reason =
		"this process is not bound to one NUMA node; the first by name of 2 equals";

	(void)state;
	check_nearest("two_packages.xml", "0-7", two, "mlx5_0", reason);
	check_nearest("two_packages.xml", "3,4", two_reversed, "mlx5_0", reason);
}

static void names_are_ordered_by_their_numbers(void **state)
{
	static const char *const names[] = {"mlx5_10", "mlx5_2", NULL};

	(void)state;
	check_nearest("software_device.xml", "6", names, "mlx5_2",
		      "same NUMA node 1 (Package 1); the first by name of 2 equals");
	check_nearest("software_device.xml", "0", names, "mlx5_2",
		      "same machine, but another NUMA node; the first by name of 2 equals");
}

static void a_software_device_comes_after_real_ones_however_far(void **state)
{
	static const char *const names[] = {"rxe0", "mlx5_10", NULL};
	static const char *const only[] = {"rxe0", NULL};

	(void)state;
	check_nearest("software_device.xml", "0-3", names, "mlx5_10",
		      "same machine, but another NUMA node");
	check_nearest("software_device.xml", "0-3", only, "rxe0", "a software device, without PCI");
}

static void a_device_unknown_to_hwloc_comes_last(void **state)
{
	static const char *const names[] = {"a0", "rxe0", "mlx5_2", NULL};
	static const char *const soft[] = {"a0", "rxe0", NULL};
	static const char *const unknown[] = {"b0", "a0", NULL};

	(void)state;
	check_nearest("software_device.xml", "4", names, "mlx5_2", "same NUMA node 1 (Package 1)");
	check_nearest("software_device.xml", "4", soft, "rxe0", "a software device, without PCI");
	check_nearest("software_device.xml", "4", unknown, "a0",
		      "hwloc does not know where it is; the first by name of 2 equals");
}

static void nearest_of_no_devices_is_none(void **state)
{
	struct topology *topology = machine("two_packages.xml", "0");
	char why[8] = "kept";

	(void)state;
	assert_int_equal(topology_nearest_device(topology, NULL, 0, why, sizeof(why)), -1);
	assert_string_equal(why, "kept");
	topology_free(topology);
}

static void only_devices_without_pci_are_software(void **state)
{
	struct topology *topology = machine("software_device.xml", "0");

	(void)state;
	assert_true(topology_device_is_software(topology, "rxe0"));
	assert_true(topology_device_is_software(topology, "unknown0"));
	assert_false(topology_device_is_software(topology, "mlx5_2"));
	topology_free(topology);
}

static void device_cpus_are_those_of_its_package(void **state)
{
	struct topology *topology = machine("two_packages.xml", "0");
	char cpus[32];

	(void)state;
	assert_true(topology_device_cpus(topology, "mlx5_0", cpus, sizeof(cpus)));
	assert_string_equal(cpus, "0-3");
	assert_true(topology_device_cpus(topology, "mlx5_1", cpus, sizeof(cpus)));
	assert_string_equal(cpus, "4-7");
	assert_true(topology_device_cpus(topology, "mlx5_1", cpus, 3));
	assert_string_equal(cpus, "4-");
	assert_false(topology_device_cpus(topology, "mlx5_7", cpus, sizeof(cpus)));
	assert_string_equal(cpus, "");
	topology_free(topology);
}

static void numa_node_holds_the_whole_place(void **state)
{
	static const struct {
		const char *cpus;
		int node;
	} places[] = {{"0", 0}, {"0-3", 0}, {"4-5", 1}, {"7", 1}, {"3-4", -1}, {"0-7", -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct topology *topology = machine("two_packages.xml", places[i].cpus);

		assert_int_equal(topology_numa_node(topology), places[i].node);
		topology_free(topology);
	}
}

static void place_takes_lists_and_refuses_cpus_that_are_not_there(void **state)
{
	static const char *const wrong[] = {"", "8", "100-200", "x"};
	struct topology *topology = machine("two_packages.xml", "1,3-5,900");
	struct wring_error error;
	char cpus[32];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(topology_place(topology, wrong[i], &error), WRING_ERR_INVALID);
		assert_non_null(strstr(error.text, wrong[i]));
		assert_non_null(strstr(error.text, "lists no CPU of this machine"));
	}
	topology_cpus(topology, cpus, sizeof(cpus));
	assert_string_equal(cpus, "1,3-5");
	assert_int_equal(topology_allowed_cpus(topology), 4);
	topology_free(topology);
}

static void synthetic_machines_are_seen_from_everywhere(void **state)
{
	static const struct {
		const char *text;
		int cpus, node;
	} machines[] = {
		{"pack:1 [numa] pu:1", 1, 0},
		{"pack:1 [numa] core:4 pu:2", 8, 0},
		{"pack:2 [numa] core:4 pu:1", 8, -1},
		{"pack:4 [numa] core:16 pu:2", 128, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct topology *topology = topology_load(machines[i].text, NULL);

		assert_non_null(topology);
		assert_int_equal(topology_allowed_cpus(topology), machines[i].cpus);
		assert_int_equal(topology_numa_node(topology), machines[i].node);
		topology_free(topology);
	}
}

static void what_describes_no_machine_is_refused(void **state)
{
	struct wring_error error;

	(void)state;
	assert_null(topology_load("castle:2", &error));
	assert_int_equal(error.status, WRING_ERR_INVALID);
	assert_non_null(strstr(error.text, "\"castle:2\" does not describe a machine"));
	assert_null(topology_import("nonsense", sizeof("nonsense"), &error));
	assert_int_equal(error.status, WRING_ERR_INVALID);
	assert_null(topology_import("no end", 3, &error));
	assert_int_equal(error.status, WRING_ERR_INVALID);
	assert_null(topology_import("", 0, NULL));
	topology_free(NULL);
}

static void an_exported_topology_is_the_same_when_imported(void **state)
{
	struct topology *topology = machine("two_packages.xml", "0"), *copy;
	char cpus[32], *xml;
	size_t len;

	(void)state;
	assert_int_equal(topology_export(topology, &xml, &len, NULL), WRING_OK);
	topology_free(topology);
	copy = topology_import(xml, len, NULL);
	free(xml);
	assert_non_null(copy);
	assert_true(topology_device_cpus(copy, "mlx5_1", cpus, sizeof(cpus)));
	assert_string_equal(cpus, "4-7");
	topology_free(copy);
}

static int affinity(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

static void check_this_machine(const struct topology *topology)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_in_range(topology_allowed_cpus(topology), 1, affinity());
	assert_true(topology_numa_node(topology) >= 0);
	assert_true(page != MAP_FAILED);
	topology_bind_memory(topology, page, 4096);
	*(char *)page = 1;
	munmap(page, 4096);
}

static void this_machine_is_seen_from_the_own_binding(void **state)
{
	struct topology *topology = topology_load(NULL, NULL), *copy;
	char ours[256], theirs[256], *xml;
	size_t len;

	(void)state;
	assert_non_null(topology);
	check_this_machine(topology);
	topology_cpus(topology, ours, sizeof(ours));
	assert_int_equal(topology_export(topology, &xml, &len, NULL), WRING_OK);
	topology_free(topology);
	copy = topology_import(xml, len, NULL);
	free(xml);
	assert_non_null(copy);
	check_this_machine(copy);
	topology_cpus(copy, theirs, sizeof(theirs));
	assert_string_equal(ours, theirs);
	topology_free(copy);
}

static void a_process_bound_to_one_cpu_sees_one_cpu(void **state)
{
	int cpu = sched_getcpu();
	struct topology *topology;
	cpu_set_t before, one;
	char cpus[32], expected[32];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	topology = topology_load(NULL, NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_non_null(topology);
	snprintf(expected, sizeof(expected), "%d", cpu);
	topology_cpus(topology, cpus, sizeof(cpus));
	assert_string_equal(cpus, expected);
	assert_int_equal(topology_allowed_cpus(topology), 1);
	topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_is_the_hca_of_the_own_package),
		cmocka_unit_test(unbound_takes_the_first_by_name),
		cmocka_unit_test(names_are_ordered_by_their_numbers),
		cmocka_unit_test(a_software_device_comes_after_real_ones_however_far),
		cmocka_unit_test(a_device_unknown_to_hwloc_comes_last),
		cmocka_unit_test(nearest_of_no_devices_is_none),
		cmocka_unit_test(only_devices_without_pci_are_software),
		cmocka_unit_test(device_cpus_are_those_of_its_package),
		cmocka_unit_test(numa_node_holds_the_whole_place),
		cmocka_unit_test(place_takes_lists_and_refuses_cpus_that_are_not_there),
		cmocka_unit_test(synthetic_machines_are_seen_from_everywhere),
		cmocka_unit_test(what_describes_no_machine_is_refused),
		cmocka_unit_test(an_exported_topology_is_the_same_when_imported),
		cmocka_unit_test(this_machine_is_seen_from_the_own_binding),
		cmocka_unit_test(a_process_bound_to_one_cpu_sees_one_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
