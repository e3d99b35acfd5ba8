/* verbs_fake.c: choosing and opening ports, and every call that fails: what rxe cannot show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>

#include "tests/harness/fake_pair_talk.h"

static void assert_error_text(const char *part)
{
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void refuses(enum wring_status status, const char *part)
{
	assert_int_equal(pair_connect(&pair, &error), status);
	assert_int_equal(error.status, status);
	assert_error_text(part);
}

/* --- which GID ----------------------------------------------------------------------------- */

static int chosen_gid(void)
{
	struct verbs_address address;

	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	verbs_get_address(pair_verbs(&pair, 0), &address);
	return address.gid_index;
}

static void ipv4_gid_is_preferred(void **state)
{
	(void)state;
	assert_int_equal(chosen_gid(), 1);
	assert_int_equal(fake.last_path.is_global, 1);
	assert_int_equal(fake.last_path.grh.hop_limit, 64);
}

static void unreadable_entries_are_passed_over(void **state)
{
	struct fake_gid *gids = fake.devices[0].ports[0].gids;

	(void)state;
	gids[0].error = EIO;
	gids[1].error = ENODATA;
	fake_set_gid(&gids[5], "10.0.0.9", IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(chosen_gid(), 5);
}

static void global_ipv6_beats_link_local(void **state)
{
	struct fake_gid *gids = fake.devices[0].ports[0].gids;

	(void)state;
	fake_set_gid(&gids[1], "169.254.7.7", IBV_GID_TYPE_ROCE_V2);
	fake_set_gid(&gids[3], "2001:db8::1", IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(chosen_gid(), 3);
}

static void version_2_beats_version_1(void **state)
{
	struct fake_gid *gids = fake.devices[0].ports[0].gids;

	(void)state;
	fake_set_gid(&gids[0], "10.0.0.1", IBV_GID_TYPE_ROCE_V1);
	fake_set_gid(&gids[1], "fe80::1", IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(chosen_gid(), 1);
}

static void version_1_does_not_talk_to_version_2(void **state)
{
	(void)state;
	fake.devices[0].ports[0].gids[0].error = ENODATA;
	fake_set_gid(&fake.devices[0].ports[0].gids[1], "10.0.0.1", IBV_GID_TYPE_ROCE_V1);
	refuses(WRING_ERR_TRANSPORT, "RoCE v2 there, RoCE v1 here");
	assert_int_equal(error.rank, 1);
}

static void gid_index_of_the_user_counts(void **state)
{
	(void)state;
	pair.ends[0].transport.config.gid_index = 0;
	assert_int_equal(chosen_gid(), 0);
}

static void empty_gid_index_is_refused(void **state)
{
	(void)state;
	pair.ends[0].transport.config.gid_index = 7;
	refuses(WRING_ERR_INVALID, "gid_index 7 of fake0 port 1 is empty");
}

static void gid_index_that_fits_no_device_is_invalid(void **state)
{
	struct wring_config *config = &pair.ends[0].transport.config;
	struct verbs_candidate candidates[4];

	(void)state;
	config->gid_index = 7;
	assert_int_equal(verbs_candidates(config, candidates, 4), 2);
	assert_int_equal(verbs_no_device(config, candidates, 2, &error), WRING_ERR_INVALID);
	assert_error_text("gid_index 7 of fake0 port 1 is empty");
}

static void port_without_gid_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < FAKE_GIDS; i++)
		fake.devices[0].ports[0].gids[i].error = ENODATA;
	refuses(WRING_ERR_NO_DEVICE, "fake0 port 1 has no GID");
}

/* --- InfiniBand, MTU, limits --------------------------------------------------------------- */

static void make_infiniband(void)
{
	fake_make_infiniband(&fake.devices[0], 11);
	fake_make_infiniband(&fake.devices[1], 12);
}

static void infiniband_goes_by_lid(void **state)
{
	struct wring_peer_info info;

	(void)state;
	make_infiniband();
	memset(&info, 0, sizeof(info));
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(fake.last_path.is_global, 0);
	assert_int_equal(fake.last_path.dlid, 11); /* rank 1 was connected last */
	verbs_link_describe(pair_link(&pair, 0), &info);
	assert_int_equal(info.lid, 11);
}

static void other_subnet_needs_a_grh(void **state)
{
	(void)state;
	make_infiniband();
	fake_set_gid(&fake.devices[1].ports[0].gids[0], "fec0::2:c903:0:c", IBV_GID_TYPE_IB);
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(fake.last_path.is_global, 1);
	assert_int_equal(fake.last_path.dlid, 11);
}

static void infiniband_works_without_a_gid(void **state)
{
	struct verbs_address address;

	(void)state;
	make_infiniband();
	fake.devices[0].ports[0].gids[0].error = EIO;
	fake.devices[1].ports[0].gids[0].error = EIO;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	verbs_get_address(pair_verbs(&pair, 0), &address);
	assert_int_equal(address.gid_index, -1);
}

static void lid_0_is_refused(void **state)
{
	(void)state;
	make_infiniband();
	fake.devices[0].ports[0].attr.lid = 0;
	refuses(WRING_ERR_NO_DEVICE, "has no LID: is a subnet manager running?");
}

static void infiniband_does_not_talk_to_roce(void **state)
{
	(void)state;
	fake_make_infiniband(&fake.devices[0], 11);
	refuses(WRING_ERR_TRANSPORT, "RoCE v2 there, InfiniBand here");
}

static void smaller_mtu_counts_at_both_ends(void **state)
{
	struct wring_peer_info info;

	(void)state;
	memset(&info, 0, sizeof(info));
	fake.devices[1].ports[0].attr.active_mtu = IBV_MTU_512;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	for (int rank = 0; rank < 2; rank++) {
		verbs_link_describe(pair_link(&pair, rank), &info);
		assert_int_equal(info.mtu, 512);
	}
}

static void queue_pairs_allow_remote_write_only(void **state)
{
	const struct fake_qp *qp;

	(void)state;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	qp = fake_qp_of(pair_verbs_link(&pair, 0)->qp->qp_num);
	assert_int_equal(qp->attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(qp->attr.rnr_retry, 0);
	assert_int_equal(qp->attr.retry_cnt, 6);
	assert_int_equal(qp->attr.timeout, 15); /* 0.134 s x 7 <= 1.8 s < 0.268 s x 7 */
	assert_true(qp->attr.sq_psn <= 0xffffff);
}

static void device_without_inline_is_served(void **state)
{
	(void)state;
	fake.devices[0].max_inline = 0;
	fake.devices[0].refuses_inline = true;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(pair_verbs_link(&pair, 0)->max_inline, 0);
}

static void queues_are_stepped_down(void **state)
{
	(void)state;
	fake.devices[0].largest_qp = PAIR_SLOTS + SEND_RESERVE + 1;
	fake.devices[1].largest_cq = PAIR_SLOTS + SEND_RESERVE + 1 + 3 * PAIR_SLOTS + 2;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(pair_verbs_link(&pair, 0)->depth, PAIR_SLOTS + SEND_RESERVE + 1);
	assert_int_equal(pair_verbs_link(&pair, 1)->depth, PAIR_SLOTS + SEND_RESERVE + 1);
}

static void queue_pair_that_never_fits_is_told(void **state)
{
	(void)state;
	fake.devices[0].largest_qp = PAIR_SLOTS;
	refuses(WRING_ERR_NOMEM, "ibv_create_qp for rank 1 with 9 sends and 14 receives");
	assert_error_text("RLIMIT_MEMLOCK");
}

static void max_cqe_is_told(void **state)
{
	(void)state;
	fake.devices[0].limits.max_cqe = 22;
	refuses(WRING_ERR_NO_DEVICE, "of 22 entries (max_cqe), this rank needs 23");
}

static void max_qp_wr_is_told(void **state)
{
	(void)state;
	fake.devices[0].limits.max_qp_wr = 13;
	refuses(WRING_ERR_NO_DEVICE, "of 13 work requests (max_qp_wr), 4 slots need 14");
}

static void max_qp_is_told(void **state)
{
	(void)state;
	fake.devices[0].limits.max_qp = 0;
	refuses(WRING_ERR_NO_DEVICE, "has 0 queue pairs (max_qp), this rank needs 1");
}

static void memlock_is_compared(void **state)
{
	struct rlimit before, small;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	small = before;
	small.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &small), 0);
	fake.devices[0].mr_error = ENOMEM;
	refuses(WRING_ERR_NOMEM, "RLIMIT_MEMLOCK is 65536 bytes");
	assert_error_text("ibv_reg_mr of the arena of 32768 bytes");
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

static void memory_that_is_not_there_is_no_memlock(void **state)
{
	(void)state;
	fake.devices[0].mr_error = EFAULT;
	refuses(WRING_ERR_TRANSPORT, "Bad address");
}

/* --- devices that cannot be used ----------------------------------------------------------- */

static struct verbs_candidate only_candidate(void)
{
	struct verbs_candidate candidates[4];

	fake.n_devices = 1;
	assert_int_equal(verbs_candidates(&pair.ends[0].transport.config, candidates, 4), 1);
	return candidates[0];
}

static void port_that_is_down_is_refused(void **state)
{
	(void)state;
	fake.devices[0].ports[0].attr.state = IBV_PORT_DOWN;
	refuses(WRING_ERR_NO_DEVICE, "fake0 port 1 is down: ip link set NETDEV up");
	assert_false(only_candidate().usable);
}

static void iwarp_is_refused(void **state)
{
	(void)state;
	fake.devices[0].device.transport_type = IBV_TRANSPORT_IWARP;
	assert_string_equal(only_candidate().why,
			    "fake0 has no RDMA Write with immediate (it is iWARP)");
}

static void device_that_cannot_be_opened_is_listed(void **state)
{
	(void)state;
	fake.devices[0].open_error = EACCES;
	assert_string_equal(only_candidate().why, "ibv_open_device: Permission denied; may "
						  "/dev/infiniband/uverbs0 be opened?");
}

static void all_ports_are_listed(void **state)
{
	struct verbs_candidate candidates[4];

	(void)state;
	fake.devices[1].limits.phys_port_cnt = 2;
	assert_int_equal(verbs_candidates(&pair.ends[0].transport.config, candidates, 4), 3);
	assert_string_equal(candidates[2].device, "fake1");
	assert_int_equal(candidates[2].port, 2);
	assert_true(candidates[2].usable);
	assert_int_equal(verbs_candidates(&pair.ends[0].transport.config, candidates, 2), 2);
}

static void unknown_device_is_told_with_the_others(void **state)
{
	struct wring_config *config = &pair.ends[0].transport.config;

	(void)state;
	strcpy(config->device, "mlx5_0");
	assert_int_equal(verbs_candidates(config, NULL, 0), 0);
	assert_int_equal(verbs_no_device(config, NULL, 0, &error), WRING_ERR_NO_DEVICE);
	assert_string_equal(error.text, "there is no RDMA device mlx5_0, only: fake0, fake1");
}

static void no_device_at_all_is_told(void **state)
{
	struct verbs_candidate candidates[4];
	const struct wring_config *config = &pair.ends[0].transport.config;

	(void)state;
	fake.n_devices = 0;
	assert_int_equal(verbs_candidates(config, candidates, 4), 0);
	assert_int_equal(verbs_no_device(config, candidates, 0, &error), WRING_ERR_NO_DEVICE);
	assert_error_text("rdma link add rxe0 type rxe");
}

static void unknown_port_is_told(void **state)
{
	(void)state;
	pair.ends[0].transport.config.port = 3;
	assert_string_equal(only_candidate().why, "fake0 has no port 3, only 1 to 1");
}

static void retrying_for_ever_is_refused_on_soft_roce(void **state)
{
	(void)state;
	strcpy(fake.devices[0].device.name, "rxe0");
	pair.ends[0].transport.config.qp_retry = 7;
	refuses(WRING_ERR_INVALID, "qp_retry 7 on rxe0");
}

static void fork_is_prepared_only_where_needed(void **state)
{
	(void)state;
	fake.fork_status = IBV_FORK_DISABLED;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(fake.fork_inits, 2);
}

static void fork_is_left_alone_where_safe(void **state)
{
	(void)state;
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	assert_int_equal(fake.fork_inits, 0);
}

/* --- every call fails in turn -------------------------------------------------------------- */

static void every_call_that_fails_is_named_and_nothing_leaks(void **state)
{
	enum wring_status status;
	int n = 1;

	(void)state;
	for (;; n++) {
		pair_close(&pair);
		fake_reset(2);
		pair_make(&pair);
		fake.fail_at = n;
		error = (struct wring_error){.status = WRING_OK};
		status = pair_connect(&pair, &error);
		if (!*fake.failed_call)
			break;
		assert_int_equal(status, error.status);
		assert_true(status == WRING_ERR_TRANSPORT || status == WRING_ERR_NO_DEVICE);
		assert_error_text(fake.failed_call);
		assert_error_text("Input/output error");
		pair_close(&pair);
		assert_int_equal(fake.objects, 0);
		pair_make(&pair);
	}
	assert_int_equal(status, WRING_OK);
	assert_true(n > 25);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_gid_is_preferred),
		cmocka_unit_test(unreadable_entries_are_passed_over),
		cmocka_unit_test(global_ipv6_beats_link_local),
		cmocka_unit_test(version_2_beats_version_1),
		cmocka_unit_test(version_1_does_not_talk_to_version_2),
		cmocka_unit_test(gid_index_of_the_user_counts),
		cmocka_unit_test(empty_gid_index_is_refused),
		cmocka_unit_test(gid_index_that_fits_no_device_is_invalid),
		cmocka_unit_test(port_without_gid_is_refused),
		cmocka_unit_test(infiniband_goes_by_lid),
		cmocka_unit_test(other_subnet_needs_a_grh),
		cmocka_unit_test(infiniband_works_without_a_gid),
		cmocka_unit_test(lid_0_is_refused),
		cmocka_unit_test(infiniband_does_not_talk_to_roce),
		cmocka_unit_test(smaller_mtu_counts_at_both_ends),
		cmocka_unit_test(queue_pairs_allow_remote_write_only),
		cmocka_unit_test(device_without_inline_is_served),
		cmocka_unit_test(queues_are_stepped_down),
		cmocka_unit_test(queue_pair_that_never_fits_is_told),
		cmocka_unit_test(max_cqe_is_told),
		cmocka_unit_test(max_qp_wr_is_told),
		cmocka_unit_test(max_qp_is_told),
		cmocka_unit_test(memlock_is_compared),
		cmocka_unit_test(memory_that_is_not_there_is_no_memlock),
		cmocka_unit_test(port_that_is_down_is_refused),
		cmocka_unit_test(iwarp_is_refused),
		cmocka_unit_test(device_that_cannot_be_opened_is_listed),
		cmocka_unit_test(all_ports_are_listed),
		cmocka_unit_test(unknown_device_is_told_with_the_others),
		cmocka_unit_test(no_device_at_all_is_told),
		cmocka_unit_test(unknown_port_is_told),
		cmocka_unit_test(retrying_for_ever_is_refused_on_soft_roce),
		cmocka_unit_test(fork_is_prepared_only_where_needed),
		cmocka_unit_test(fork_is_left_alone_where_safe),
		cmocka_unit_test(every_call_that_fails_is_named_and_nothing_leaks),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tests[i].setup_func = setup;
		tests[i].teardown_func = teardown;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
