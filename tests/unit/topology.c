/* topology.c: the nearest HCA, on made-up machines and this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bootstrap/topology.h"

/* A machine from a file, looked at from these CPUs. */
static struct topology *machine(const char *name, const char *cpus)
{
	const char *srcdir = getenv("srcdir");
	struct topology *topology;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/unit/topology/%s", srcdir ? srcdir : ".", name);
	assert_int_equal(setenv("HWLOC_XMLFILE", path, 1), 0);
	topology = topology_load(NULL, NULL);
	unsetenv("HWLOC_XMLFILE");
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

static void place_takes_lists_and_refuses_cpus_that_are_not_there(void **state)
{
	static const char *const wrong[] = {"", "8", "100-200", "x"};
	struct topology *topology = machine("two_packages.xml", "1,3-5,900");
	struct wring_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(topology_place(topology, wrong[i], &error), WRING_ERR_INVALID);
		assert_non_null(strstr(error.text, wrong[i]));
		assert_non_null(strstr(error.text, "lists no CPU of this machine"));
	}
	topology_free(topology);
}

static void synthetic_machines_are_described_by_hwloc_words(void **state)
{
	static const char *const machines[] = {"pack:1 [numa] pu:1", "pack:4 [numa] core:16 pu:2"};
	struct topology *topology;

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		topology = topology_load(machines[i], NULL);
		assert_non_null(topology);
		assert_int_equal(topology_place(topology, i ? "127" : "0", NULL), WRING_OK);
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
	topology_free(NULL);
}

static void this_machine_can_be_looked_at(void **state)
{
	struct topology *topology = topology_load(NULL, NULL);
	const char *name = "no_such_device0";
	char why[128] = "";

	(void)state;
	assert_non_null(topology);
	assert_int_equal(topology_nearest_device(topology, &name, 1, why, sizeof(why)), 0);
	assert_string_equal(why, "hwloc does not know where it is");
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
		cmocka_unit_test(device_cpus_are_those_of_its_package),
		cmocka_unit_test(place_takes_lists_and_refuses_cpus_that_are_not_there),
		cmocka_unit_test(synthetic_machines_are_described_by_hwloc_words),
		cmocka_unit_test(what_describes_no_machine_is_refused),
		cmocka_unit_test(this_machine_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
