/* verbs_data.c: messages, records and flushing of two links over a fake fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/fake_pair_talk.h"

/* --- messages ------------------------------------------------------------------------------ */

static void small_message_goes_inline(void **state)
{
	(void)state;
	connect_pair();
	send_byte(left, 5, 42);
	assert_int_equal(fake.inlined, 1);
	poll_both();
	assert_head(right, 5, 42);
	assert_false(link_peek(right, &(struct message){0}));
}

static void long_message_is_one_write(void **state)
{
	(void)state;
	connect_pair();
	send_byte(left, PAIR_SLOT_BYTES, 43);
	assert_int_equal(fake.writes, 1);
	poll_both();
	assert_head(right, PAIR_SLOT_BYTES, 43);
}

static void device_without_inline_sends_all(void **state)
{
	(void)state;
	fake.devices[0].max_inline = fake.devices[1].max_inline = 0;
	connect_pair();
	for (int i = 0; i < 50; i++) {
		send_byte(left, 8, (unsigned char)i);
		poll_both();
		assert_head(right, 8, (unsigned char)i);
		link_flush_credit(right);
		poll_both();
	}
	assert_int_equal(fake.inlined, 0);
	assert_int_equal(error_of(0)->status, WRING_OK);
}

static void small_max_msg_sz_splits_messages(void **state)
{
	(void)state;
	fake.devices[0].ports[0].attr.max_msg_sz = 1024;
	fake.devices[1].ports[0].attr.max_msg_sz = 1024;
	connect_pair();
	for (int i = 0; i < 20; i++) {
		send_byte(left, PAIR_SLOT_BYTES, (unsigned char)i);
		poll_both();
		assert_head(right, PAIR_SLOT_BYTES, (unsigned char)i);
		link_flush_credit(right);
		poll_both();
	}
	assert_int_equal(fake.writes, 20 * 5 + 20);
	assert_int_equal(fake.notices, 20);
}

static void registered_payload_is_gathered(void **state)
{
	unsigned char *user = pair.ends[0].user;

	(void)state;
	connect_pair();
	memset(user, 44, 2000);
	fake.hold_sends = true;
	link_send(left, MESSAGE_DATA, &signature, user, 2000);
	assert_int_equal(fake.gathered, 1);
	assert_false(link_drained(left));
	fake_release();
	poll_both();
	assert_true(link_drained(left));
	assert_head(right, 2000, 44);
}

static void one_source_only_copies(void **state)
{
	unsigned char *user = pair.ends[0].user;

	(void)state;
	fake.devices[0].limits.max_sge = 1;
	connect_pair();
	memset(user, 45, 2000);
	link_send(left, MESSAGE_DATA, &signature, user, 2000);
	assert_int_equal(fake.gathered, 0);
	assert_true(link_drained(left));
	poll_both();
	assert_head(right, 2000, 45);
}

static void plain_payload_is_copied(void **state)
{
	unsigned char plain[100];

	(void)state;
	connect_pair();
	memset(plain, 46, sizeof(plain));
	link_send(left, MESSAGE_DATA, &signature, plain, sizeof(plain));
	memset(plain, 0, sizeof(plain));
	poll_both();
	assert_head(right, sizeof(plain), 46);
}

static void direct(const void *src, size_t len)
{
	struct message message;
	struct remote remote;

	link_describe(right, pair.ends[1].user, PAIR_USER, &remote);
	assert_int_equal(remote.reach, 1);
	assert_null(link_reach(left, &remote, 1));
	link_write(left, &signature, &remote, 100, src, len);
	poll_both();
	assert_true(link_peek(right, &message));
	assert_int_equal(message.kind, MESSAGE_DIRECT);
	assert_null(message.signature);
	link_consume(right);
	if (len)
		assert_memory_equal(pair.ends[1].user + 100, src, len);
}

static void direct_write_reaches_the_buffer(void **state)
{
	unsigned char plain[3000];

	(void)state;
	connect_pair();
	memset(pair.ends[0].user, 47, PAIR_SLOT_BYTES);
	memset(plain, 48, sizeof(plain));
	direct(pair.ends[0].user, PAIR_SLOT_BYTES);
	direct(plain, sizeof(plain));
	direct(plain, 0);
	assert_true(link_drained(left));
}

static void direct_write_outside_the_buffer_is_refused(void **state)
{
	struct remote remote;

	(void)state;
	connect_pair();
	link_describe(right, pair.ends[1].user, PAIR_USER, &remote);
	link_write(left, &signature, &remote, PAIR_USER - 10, pair.ends[0].user, 20);
	poll_both();
	assert_int_equal(error_of(0)->status, WRING_ERR_TRANSPORT);
	assert_text(0, "remote access error (status 10");
}

static void plain_memory_is_described_as_nowhere(void **state)
{
	struct remote remote;

	(void)state;
	connect_pair();
	link_describe(right, &remote, sizeof(remote), &remote);
	assert_int_equal(remote.reach, 0);
}

static void few_writes_are_signalled(void **state)
{
	static const struct area wide = {.slots = 16, .slot_bytes = 64};

	(void)state;
	left->tx = left->rx = right->tx = right->rx = wide;
	for (int i = 0; i < 2; i++)
		pair.ends[i].transport.config.slots = 16;
	connect_pair();
	assert_int_equal(pair_verbs_link(&pair, 0)->signal_every, 4);
	for (int i = 0; i < 3; i++)
		send_byte(left, 1, 1);
	assert_int_equal(fake.signalled, 0);
	send_byte(left, 1, 1);
	assert_int_equal(fake.signalled, 1);
	assert_int_equal(left->reusable, 0);
	poll_both();
	assert_int_equal(left->reusable, 4);
}

/* --- records, flushing --------------------------------------------------------------------- */

static void records_arrive_outside_the_credits(void **state)
{
	struct reserve_record record = {.status = 33, .rank = 4, .operation = 9, .text = "why"};
	const struct reserve_record *seen;

	(void)state;
	connect_pair();
	while (link_credits(left))
		send_byte(left, 1, 1);
	left->ops->send_record(left, RESERVE_ABORT, &record);
	left->ops->send_record(left, RESERVE_LEAVE, &record);
	assert_null(right->ops->find_record(right, RESERVE_ABORT));
	poll_both();
	seen = right->ops->find_record(right, RESERVE_ABORT);
	assert_non_null(seen);
	assert_int_equal(seen->operation, 9);
	assert_string_equal(seen->text, "why");
	assert_non_null(right->ops->find_record(right, RESERVE_LEAVE));
	assert_true(left->ops->flushed(left));
}

static void unsignalled_writes_get_flushed(void **state)
{
	(void)state;
	connect_pair();
	pair_verbs_link(&pair, 0)->signal_every = 4;
	send_byte(left, 1, 1);
	assert_false(left->ops->flushed(left));
	poll_both();
	assert_true(left->ops->flushed(left));
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(small_message_goes_inline),
		cmocka_unit_test(long_message_is_one_write),
		cmocka_unit_test(device_without_inline_sends_all),
		cmocka_unit_test(small_max_msg_sz_splits_messages),
		cmocka_unit_test(registered_payload_is_gathered),
		cmocka_unit_test(one_source_only_copies),
		cmocka_unit_test(plain_payload_is_copied),
		cmocka_unit_test(direct_write_reaches_the_buffer),
		cmocka_unit_test(direct_write_outside_the_buffer_is_refused),
		cmocka_unit_test(plain_memory_is_described_as_nowhere),
		cmocka_unit_test(few_writes_are_signalled),
		cmocka_unit_test(records_arrive_outside_the_credits),
		cmocka_unit_test(unsignalled_writes_get_flushed),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tests[i].setup_func = setup;
		tests[i].teardown_func = teardown;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
