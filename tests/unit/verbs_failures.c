/* verbs_failures.c: bad completions, posts that fail, async events, sleeping, and silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>

#include "tests/harness/fake_pair_talk.h"

static struct verbs *verbs_of(int rank)
{
	return pair_verbs(&pair, rank);
}

static void send_one(struct link *link)
{
	link_copy(link, MESSAGE_DATA, &signature, "\1", 1);
}

static void assert_failed(int rank, enum wring_status status, int culprit, const char *part)
{
	const struct wring_error *failure = &pair.ends[rank].transport.error;

	assert_int_equal(failure->status, status);
	assert_int_equal(failure->rank, culprit);
	if (!strstr(failure->text, part))
		fail_msg("\"%s\" does not say \"%s\"", failure->text, part);
}

static void assert_well(int rank)
{
	assert_int_equal(pair.ends[rank].transport.error.status, WRING_OK);
}

/* --- bad completions ----------------------------------------------------------------------- */

static void each_status_is_told_in_words(void **state)
{
	char number[32];
	int culprit;

	(void)state;
	for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_ERR; status++) {
		if (status == IBV_WC_WR_FLUSH_ERR)
			continue;
		(void)teardown(NULL);
		assert_int_equal(setup_connected(NULL), 0);
		fake.next_status = (enum ibv_wc_status)status;
		send_one(left);
		poll_both();
		(void)snprintf(number, sizeof(number), "(status %d, vendor 0x81)", status);
		culprit = status == IBV_WC_LOC_QP_OP_ERR ? 0 : 1;
		assert_failed(0,
			      status == IBV_WC_RETRY_EXC_ERR ? WRING_ERR_PEER : WRING_ERR_TRANSPORT,
			      culprit, number);
		assert_failed(0, pair.ends[0].transport.error.status, culprit,
			      ibv_wc_status_str((enum ibv_wc_status)status));
		assert_failed(0, pair.ends[0].transport.error.status, culprit,
			      "fake0 port 1, link to rank 1: send completion: ");
		assert_int_equal(pair.ends[0].transport.error.native, status);
	}
}

static void bad_completion_on_a_port_that_is_down_says_so(void **state)
{
	(void)state;
	fake.devices[0].ports[0].attr.state = IBV_PORT_DOWN;
	fake.next_status = IBV_WC_LOC_QP_OP_ERR;
	send_one(left);
	poll_both();
	assert_failed(0, WRING_ERR_TRANSPORT, 0,
		      "; the port of rank 0 is down: ip link set NETDEV up");
}

static void bad_completion_without_the_gid_says_so(void **state)
{
	(void)state;
	fake.devices[0].ports[0].gids[1].error = ENODATA;
	fake.next_status = IBV_WC_LOC_QP_OP_ERR;
	send_one(left);
	poll_both();
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "; the GID of rank 0 (index 1) is gone");
}

/* A driver that cannot send knows it before the port's state has changed. */
static void bad_completion_of_the_own_end_blames_the_own_port(void **state)
{
	(void)state;
	fake.next_status = IBV_WC_LOC_QP_OP_ERR;
	send_one(left);
	poll_both();
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "; the port of rank 0 may be down: ip link set");
}

static void first_bad_completion_is_kept(void **state)
{
	(void)state;
	fake.hold_sends = true;
	fake.next_status = IBV_WC_REM_ACCESS_ERR;
	send_one(left);
	send_one(left); /* flushed */
	fake_release();
	poll_both();
	assert_failed(0, WRING_ERR_TRANSPORT, 1, "remote access error");
	assert_true(left->ops->flushed(left));
	assert_true(left->ops->drained(left));
}

static void nothing_is_posted_after_a_failure(void **state)
{
	uint32_t writes;

	(void)state;
	fake.next_status = IBV_WC_REM_ACCESS_ERR;
	send_one(left);
	poll_both();
	writes = fake.writes;
	send_one(left);
	left->ops->return_credit(left);
	left->ops->send_record(left, RESERVE_ABORT, &(struct reserve_record){.status = 33});
	assert_int_equal(fake.writes, writes);
	assert_int_equal(link_credits(left), 0);
}

static void peer_that_left_may_vanish(void **state)
{
	(void)state;
	right->ops->send_record(right, RESERVE_LEAVE, &(struct reserve_record){.rank = 1});
	poll_both();
	right->ops->close(right);
	send_one(left);
	poll_both();
	assert_well(0);
	assert_true(left->ops->flushed(left));
}

static void peer_that_vanishes_is_missed_by_the_watch(void **state)
{
	(void)state;
	verbs_watch(verbs_of(0));
	poll_both();
	assert_well(0);
	verbs_link_free(right);
	verbs_watch(verbs_of(0));
	verbs_watch(verbs_of(0));
	poll_both();
	assert_failed(0, WRING_ERR_PEER, 1, "look for its process");
}

static void watching_alone_is_no_progress(void **state)
{
	uint64_t progress = pair.ends[0].transport.progress;

	(void)state;
	for (int i = 0; i < 5; i++) {
		verbs_watch(verbs_of(0));
		poll_both();
	}
	assert_int_equal(pair.ends[0].transport.progress, progress);
	assert_int_equal(fake.writes, 5);
}

static void queue_pair_broken_underneath_is_told(void **state)
{
	(void)state;
	fake_break_qp(pair_verbs_link(&pair, 0)->qp->qp_num);
	poll_both();
	assert_well(0); /* the cause may still come */
	verbs_watch(verbs_of(0));
	assert_failed(0, WRING_ERR_TRANSPORT, 1, "the queue pair was moved to ERROR");
}

static void own_closing_is_no_failure(void **state)
{
	(void)state;
	left->ops->close(left);
	left->closed = true;
	left->ops->close(left);
	poll_both();
	verbs_watch(verbs_of(0));
	assert_well(0);
}

/* --- calls that fail ----------------------------------------------------------------------- */

static void fail_next_call(void)
{
	fake.fail_at = fake.calls + 1;
}

static void failed_post_send_is_told(void **state)
{
	(void)state;
	fail_next_call();
	send_one(left);
	assert_failed(0, WRING_ERR_TRANSPORT, 1,
		      "link to rank 1: ibv_post_send: Input/output error");
}

static void failed_poll_is_told(void **state)
{
	(void)state;
	fail_next_call();
	verbs_poll(verbs_of(0));
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "fake0 port 1: ibv_poll_cq returned -1");
}

static void failed_post_recv_is_told(void **state)
{
	(void)state;
	send_one(left);
	fake.fail_at = fake.calls + 2; /* after ibv_poll_cq */
	verbs_poll(verbs_of(1));
	assert_failed(1, WRING_ERR_TRANSPORT, 0, "ibv_post_recv: Input/output error");
}

static void failed_arming_is_told(void **state)
{
	(void)state;
	fail_next_call();
	verbs_arm(verbs_of(0));
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "ibv_req_notify_cq: Input/output error");
}

/* --- notices that cannot be ----------------------------------------------------------------- */

/* Write to the peer's credit word with an immediate of the test's own. */
static void send_notice(uint32_t kind, uint32_t number, uint32_t consumed)
{
	const struct verbs_link *vl = pair_verbs_link(&pair, 0);
	struct ibv_sge sge = {.addr = (uintptr_t)vl->credits, .length = 8, .lkey = vl->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(notice_pack((enum notice)kind, number, consumed)),
		.wr.rdma = {.remote_addr = vl->remote.area_address, .rkey = vl->remote.arena_rkey},
	};
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(vl->qp, &wr, &bad), 0);
	poll_both();
}

static void wrong_message_number_is_refused(void **state)
{
	(void)state;
	send_notice(NOTICE_MESSAGE, 1, 0);
	assert_failed(1, WRING_ERR_TRANSPORT, 0, "kind 1, number 1 arrived, which is not the next");
}

static void message_without_credit_is_refused(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= PAIR_SLOTS; i++)
		send_notice(NOTICE_DIRECT, i, 0);
	assert_failed(1, WRING_ERR_TRANSPORT, 0, "number 4 arrived, for which there was no credit");
}

static void impossible_credit_is_refused(void **state)
{
	(void)state;
	send_notice(NOTICE_CREDIT, 0, 1);
	assert_failed(1, WRING_ERR_TRANSPORT, 0, "a count of consumed messages that cannot be");
}

static void unknown_kind_is_refused(void **state)
{
	(void)state;
	send_notice(9, 77, 0);
	assert_failed(1, WRING_ERR_TRANSPORT, 0, "kind 9, number 77 arrived");
}

/* --- events -------------------------------------------------------------------------------- */

static void raise_event(enum ibv_event_type type, int port, uint32_t qp_num)
{
	fake_raise(verbs_of(0)->context, type, port, qp_num);
	verbs_acknowledge(verbs_of(0));
}

static void port_going_down_is_told(void **state)
{
	(void)state;
	raise_event(IBV_EVENT_PORT_ERR, 2, 0);
	assert_well(0);
	raise_event(IBV_EVENT_PORT_ERR, 1, 0);
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "fake0 port 1: the port of rank 0 went down");
}

static void gid_change_elsewhere_is_a_warning(void **state)
{
	(void)state;
	raise_event(IBV_EVENT_GID_CHANGE, 1, 0);
	assert_well(0);
	assert_non_null(strstr(logged, "GID ::ffff:10.77.0.1 stays in use"));
}

static void own_gid_gone_is_told(void **state)
{
	(void)state;
	fake.devices[0].ports[0].gids[1].error = ENODATA;
	raise_event(IBV_EVENT_GID_CHANGE, 1, 0);
	assert_failed(0, WRING_ERR_TRANSPORT, 0,
		      "GID ::ffff:10.77.0.1 (index 1) of rank 0 is gone");
}

static void own_gid_that_moved_is_told_with_its_new_index(void **state)
{
	struct fake_gid *gids = fake.devices[0].ports[0].gids;

	(void)state;
	gids[3] = gids[1];
	gids[1].error = ENODATA;
	raise_event(IBV_EVENT_GID_CHANGE, 1, 0);
	assert_failed(0, WRING_ERR_TRANSPORT, 0,
		      "GID ::ffff:10.77.0.1 has moved from index 1 to 3");
}

static void device_fatal_is_told(void **state)
{
	(void)state;
	raise_event(IBV_EVENT_DEVICE_FATAL, 0, 0);
	assert_failed(0, WRING_ERR_TRANSPORT, 0, ibv_event_type_str(IBV_EVENT_DEVICE_FATAL));
}

static void queue_pair_event_names_the_peer(void **state)
{
	(void)state;
	raise_event(IBV_EVENT_QP_FATAL, 0, pair_verbs_link(&pair, 0)->qp->qp_num);
	assert_failed(0, WRING_ERR_TRANSPORT, 1, ibv_event_type_str(IBV_EVENT_QP_FATAL));
}

/* Both wait in the queue when it is read. */
static void first_of_two_events_names_the_rank(void **state)
{
	(void)state;
	fake_raise(verbs_of(0)->context, IBV_EVENT_PORT_ERR, 1, 0);
	raise_event(IBV_EVENT_QP_FATAL, 0, pair_verbs_link(&pair, 0)->qp->qp_num);
	assert_failed(0, WRING_ERR_TRANSPORT, 0, "the port of rank 0 went down");
}

static void harmless_events_are_ignored(void **state)
{
	(void)state;
	raise_event(IBV_EVENT_PORT_ACTIVE, 1, 0);
	raise_event(IBV_EVENT_SM_CHANGE, 1, 0);
	raise_event(IBV_EVENT_COMM_EST, 0, pair_verbs_link(&pair, 0)->qp->qp_num);
	assert_well(0);
}

/* --- sleeping ------------------------------------------------------------------------------ */

static bool is_awake(int rank)
{
	struct pollfd polled[2];
	int n = verbs_fds(verbs_of(rank), polled);

	assert_int_equal(n, 2);
	return poll(polled, (nfds_t)n, 0) > 0;
}

static void arrival_wakes_a_sleeper(void **state)
{
	(void)state;
	verbs_arm(verbs_of(1));
	assert_false(is_awake(1));
	send_one(left);
	assert_true(is_awake(1));
	verbs_acknowledge(verbs_of(1));
	assert_false(is_awake(1));
	verbs_acknowledge(verbs_of(1)); /* nothing there: does not block */
}

static void credit_wakes_only_who_may_sleep(void **state)
{
	(void)state;
	verbs_arm(verbs_of(0));
	right->consumed = right->arrived = left->sent = 0;
	right->ops->return_credit(right);
	assert_false(is_awake(0));
	right->peer_sleeps = true;
	right->ops->return_credit(right);
	assert_true(is_awake(0));
	verbs_acknowledge(verbs_of(0));
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(each_status_is_told_in_words),
		cmocka_unit_test(bad_completion_on_a_port_that_is_down_says_so),
		cmocka_unit_test(bad_completion_without_the_gid_says_so),
		cmocka_unit_test(bad_completion_of_the_own_end_blames_the_own_port),
		cmocka_unit_test(first_bad_completion_is_kept),
		cmocka_unit_test(nothing_is_posted_after_a_failure),
		cmocka_unit_test(peer_that_left_may_vanish),
		cmocka_unit_test(peer_that_vanishes_is_missed_by_the_watch),
		cmocka_unit_test(watching_alone_is_no_progress),
		cmocka_unit_test(queue_pair_broken_underneath_is_told),
		cmocka_unit_test(own_closing_is_no_failure),
		cmocka_unit_test(failed_post_send_is_told),
		cmocka_unit_test(failed_poll_is_told),
		cmocka_unit_test(failed_post_recv_is_told),
		cmocka_unit_test(failed_arming_is_told),
		cmocka_unit_test(wrong_message_number_is_refused),
		cmocka_unit_test(message_without_credit_is_refused),
		cmocka_unit_test(impossible_credit_is_refused),
		cmocka_unit_test(unknown_kind_is_refused),
		cmocka_unit_test(port_going_down_is_told),
		cmocka_unit_test(gid_change_elsewhere_is_a_warning),
		cmocka_unit_test(own_gid_gone_is_told),
		cmocka_unit_test(own_gid_that_moved_is_told_with_its_new_index),
		cmocka_unit_test(device_fatal_is_told),
		cmocka_unit_test(queue_pair_event_names_the_peer),
		cmocka_unit_test(first_of_two_events_names_the_rank),
		cmocka_unit_test(harmless_events_are_ignored),
		cmocka_unit_test(arrival_wakes_a_sleeper),
		cmocka_unit_test(credit_wakes_only_who_may_sleep),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tests[i].setup_func = setup_connected;
		tests[i].teardown_func = teardown;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
