/* cpus.c: CPU quotas are read from control groups of both versions, up to the root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cpus.h"

#include "tests/harness/made_up.h"

static void quota_leaves_whole_cpus_and_at_least_one(void **state)
{
	(void)state;
	assert_int_equal(cpus_from_quota("max 100000\n", 8), 8);
	assert_int_equal(cpus_from_quota("200000 100000\n", 8), 2);
	assert_int_equal(cpus_from_quota("250000 100000", 8), 2);
	assert_int_equal(cpus_from_quota("50000 100000", 8), 1);
	assert_int_equal(cpus_from_quota("0 100000", 8), 1);
	assert_int_equal(cpus_from_quota("1600000 100000", 8), 8);
	assert_int_equal(cpus_from_quota("9000000000000 1", 8), 8);
	assert_int_equal(cpus_from_quota("200000 100000", 1), 1);
}

static void another_text_than_a_quota_limits_nothing(void **state)
{
	(void)state;
	assert_int_equal(cpus_from_quota("", 8), 8);
	assert_int_equal(cpus_from_quota("100000", 8), 8);
	assert_int_equal(cpus_from_quota("-1 100000", 8), 8);
	assert_int_equal(cpus_from_quota("100000 0", 8), 8);
	assert_int_equal(cpus_from_quota("max", 8), 8);
	assert_int_equal(cpus_from_quota("nonsense 1", 0), 1);
}

static void no_control_groups_limit_nothing(void **state)
{
	(void)state;
	assert_int_equal(cpus_within_cgroups(root, 8), 8);
	assert_int_equal(cpus_within_cgroups("/no/such/root", 3), 3);
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 8);
}

static void the_least_quota_up_to_the_root_counts(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/a/b/c\n");
	put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/a/b/cpu.max", "600000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 6);
	put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 3);
	put("/sys/fs/cgroup/a/b/c/cpu.max", "100000 50000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 2);
	put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 1);
}

static void a_container_that_sees_the_hosts_path_reads_its_own_root(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/docker/0123456789\n");
	put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 4);
	put("/proc/self/cgroup", "0::/../../elsewhere\n");
	put("/sys/elsewhere/cpu.max", "100000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 4);
}

static void version_1_is_read_as_well(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "5:cpuset:/x\n4:cpuacct,cpu:/job/step\n3:memory:/job\n0::/\n");
	put("/sys/fs/cgroup/cpu/job/step/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/job/step/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 8);
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "500000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 8);
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 5);
}

static void cpuset_is_not_taken_for_cpu(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "5:cpuset,cpuacct:/x\n");
	put("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "100000\n");
	put("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 8);
}

static void version_2_beside_version_1_is_read(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "1:name=systemd:/u\n0::/u\nnonsense\n\n");
	put("/sys/fs/cgroup/unified/u/cpu.max", "200000 100000\n");
	assert_int_equal(cpus_within_cgroups(root, 8), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota_leaves_whole_cpus_and_at_least_one),
		cmocka_unit_test(another_text_than_a_quota_limits_nothing),
		cmocka_unit_test_setup_teardown(no_control_groups_limit_nothing, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(the_least_quota_up_to_the_root_counts, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(
			a_container_that_sees_the_hosts_path_reads_its_own_root, make_root,
			remove_root),
		cmocka_unit_test_setup_teardown(version_1_is_read_as_well, make_root, remove_root),
		cmocka_unit_test_setup_teardown(cpuset_is_not_taken_for_cpu, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(version_2_beside_version_1_is_read, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
