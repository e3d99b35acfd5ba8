/* names.c: every status, datatype, operation and kind of GID has words of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coll/request.h"
#include "transport/verbs/sysfs.h"
#include "transport/verbs/verbs_state.h"

#include "tests/harness/made_up.h"

static const enum wring_status statuses[] = {
	WRING_OK,
	WRING_ERR_INVALID,
	WRING_ERR_STATE,
	WRING_ERR_NOMEM,
	WRING_ERR_UNSUPPORTED,
	WRING_ERR_NO_DEVICE,
	WRING_ERR_MISMATCH,
	WRING_ERR_PEER,
	WRING_ERR_TIMEOUT,
	WRING_ERR_TRANSPORT,
	WRING_ERR_BOOTSTRAP,
	WRING_ERR_SYSTEM,
	WRING_ERR_ABORTED,
};

enum { STATUSES = sizeof(statuses) / sizeof(statuses[0]), MOST = 16 };

/* All of them are there, none is "unknown" or "empty", and no two are alike. */
static void assert_distinct(const char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		assert_true(words[i] && words[i][0]);
		assert_string_not_equal(words[i], "unknown");
		for (int k = 0; k < i; k++)
			assert_string_not_equal(words[i], words[k]);
	}
}

static void every_status_has_words(void **state)
{
	const char *words[MOST];

	(void)state;
	for (int i = 0; i < STATUSES; i++)
		words[i] = wring_strerror(statuses[i]);
	assert_distinct(words, STATUSES);
}

static void every_datatype_operation_and_transport_has_a_name(void **state)
{
	const char *words[MOST];

	(void)state;
	for (int i = 0; i <= WRING_FLOAT64; i++)
		words[i] = wring_datatype_name((enum wring_datatype)i);
	assert_distinct(words, WRING_FLOAT64 + 1);
	for (int i = 0; i <= WRING_AVG; i++)
		words[i] = wring_op_name((enum wring_op)i);
	assert_distinct(words, WRING_AVG + 1);
	for (int i = 0; i <= WRING_TRANSPORT_VERBS; i++)
		words[i] = wring_transport_name((enum wring_transport)i);
	assert_distinct(words, WRING_TRANSPORT_VERBS + 1);
}

static void every_collective_has_a_name_and_no_other_number(void **state)
{
	const char *words[] = {collective_name(COLLECTIVE_ALLREDUCE),
			       collective_name(COLLECTIVE_BROADCAST),
			       collective_name(COLLECTIVE_BARRIER)};

	(void)state;
	assert_distinct(words, 3);
	assert_string_equal(collective_name(99), "unknown");
}

static void every_kind_of_gid_has_words(void **state)
{
	const char *words[MOST];

	(void)state;
	for (int i = 0; i <= GID_INFINIBAND; i++)
		words[i] = verbs_gid_class_text((enum gid_class)i);
	assert_distinct(words, GID_INFINIBAND + 1);
	assert_string_equal(words[GID_EMPTY], "empty");
}

static void a_gid_is_written_as_an_address(void **state)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [15] = 2}};
	char text[GID_TEXT];

	(void)state;
	verbs_gid_text(&gid, text);
	assert_string_equal(text, "::ffff:10.1.0.2");
}

/* --- what the kernel calls a port's network interface -------------------------------------- */

static struct ibv_device device;

static const char *netdev(int port)
{
	static char name[64];

	(void)snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%.200s/dev", root);
	verbs_netdev(&device, port, name, sizeof(name));
	return name;
}

static void the_netdev_of_a_port_is_read(void **state)
{
	(void)state;
	assert_string_equal(netdev(1), "");
	put("/dev/ports/2/gid_attrs/ndevs/0", "eth2\n");
	assert_string_equal(netdev(2), "eth2");
	assert_string_equal(netdev(1), "");
	put("/dev/parent", "eth7\n");
	assert_string_equal(netdev(1), "eth7");
	put("/dev/ports/2/gid_attrs/ndevs/0", "");
	assert_string_equal(netdev(2), "eth7");
}

static void a_device_with_a_parent_is_software(void **state)
{
	(void)state;
	(void)netdev(1);
	assert_false(verbs_is_software(&device));
	put("/dev/parent", "eth7\n");
	assert_true(verbs_is_software(&device));
	(void)snprintf(device.ibdev_path, sizeof(device.ibdev_path), "/nowhere");
	assert_false(verbs_is_software(&device));
	(void)snprintf(device.name, sizeof(device.name), "rxe_eth0");
	assert_true(verbs_is_software(&device));
	(void)snprintf(device.name, sizeof(device.name), "siw0");
	assert_true(verbs_is_software(&device));
	(void)snprintf(device.name, sizeof(device.name), "mlx5_0");
	assert_false(verbs_is_software(&device));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_words),
		cmocka_unit_test(every_datatype_operation_and_transport_has_a_name),
		cmocka_unit_test(every_collective_has_a_name_and_no_other_number),
		cmocka_unit_test(every_kind_of_gid_has_words),
		cmocka_unit_test(a_gid_is_written_as_an_address),
		cmocka_unit_test_setup_teardown(the_netdev_of_a_port_is_read, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_device_with_a_parent_is_software, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
