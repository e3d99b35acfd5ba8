/* available.c: free memory is the least of the machine's and what each control group leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/available.h"

#include "tests/harness/made_up.h"

#define MIB ((size_t)1 << 20)

static void without_any_file_nothing_limits(void **state)
{
	(void)state;
	assert_true(available_memory("/no/such/root") >= SIZE_MAX / 2 / 1024 * 1024);
	assert_true(available_memory(root) >= SIZE_MAX / 2 / 1024 * 1024);
}

static void meminfo_counts_where_no_group_limits(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:  8192 kB\n");
	assert_int_equal(available_memory(root), 8 * MIB);
	put("/proc/self/cgroup", "0::/a\n");
	put("/sys/fs/cgroup/a/memory.max", "max\n");
	put("/sys/fs/cgroup/a/memory.current", "1000000\n");
	assert_int_equal(available_memory(root), 8 * MIB);
}

static void meminfo_without_the_line_limits_nothing(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemTotal: 9000 kB\n");
	assert_true(available_memory(root) >= SIZE_MAX / 2 / 1024 * 1024);
}

static void the_tightest_group_up_to_the_root_counts(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemAvailable: 8192 kB\n");
	put("/proc/self/cgroup", "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "6291456\n");
	put("/sys/fs/cgroup/a/b/memory.current", "1048576\n");
	assert_int_equal(available_memory(root), 5 * MIB);
	put("/sys/fs/cgroup/a/memory.max", "6291456\n");
	put("/sys/fs/cgroup/a/memory.current", "3145728\n");
	assert_int_equal(available_memory(root), 3 * MIB);
	put("/sys/fs/cgroup/memory.max", "4194304\n");
	put("/sys/fs/cgroup/memory.current", "5242880\n");
	assert_int_equal(available_memory(root), 0);
}

static void page_cache_is_not_lost(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/a\n");
	put("/sys/fs/cgroup/a/memory.max", "6291456\n");
	put("/sys/fs/cgroup/a/memory.current", "6291456\n");
	assert_int_equal(available_memory(root), 0);
	put("/sys/fs/cgroup/a/memory.stat",
	    "anon 1\nactive_anon 99999999\ninactive_file 2097152\nactive_file 1048576\n");
	assert_int_equal(available_memory(root), 3 * MIB);
	put("/sys/fs/cgroup/a/memory.stat", "inactive_file 999999999\n");
	assert_int_equal(available_memory(root), 6 * MIB);
}

static void version_1_is_read_as_well(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemAvailable: 8192 kB\n");
	put("/proc/self/cgroup", "4:cpu:/x\n3:hugetlb,memory:/job/step\n0::/\n");
	put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "7340032\n");
	put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5242880\n");
	put("/sys/fs/cgroup/memory/job/memory.stat",
	    "inactive_file 5\ntotal_inactive_file 1048576\ntotal_active_file 0\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "99999999\n");
	assert_int_equal(available_memory(root), 3 * MIB);
}

static void a_group_that_cannot_be_read_limits_nothing(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemAvailable: 8192 kB\n");
	put("/proc/self/cgroup", "0::/a\n");
	put("/sys/fs/cgroup/a/memory.max", "1048576\n");
	assert_int_equal(available_memory(root), 8 * MIB);
	put("/sys/fs/cgroup/a/memory.current", "");
	assert_int_equal(available_memory(root), 8 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_any_file_nothing_limits, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(meminfo_counts_where_no_group_limits, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(meminfo_without_the_line_limits_nothing, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(the_tightest_group_up_to_the_root_counts, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(page_cache_is_not_lost, make_root, remove_root),
		cmocka_unit_test_setup_teardown(version_1_is_read_as_well, make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_group_that_cannot_be_read_limits_nothing,
						make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
