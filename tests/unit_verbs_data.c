/* unit_verbs_data.c: messages, credits, notices and failures of two links over a fake fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>

#include "tests/fake_pair.h"

static struct pair pair;
static struct wring_error error;
static struct link *left, *right; /* of rank 0 and of rank 1 */
static const struct signature signature = {.operation = 7, .count = 3, .root = -1};
static uint64_t first_message;

static void start_counters_at(uint64_t n)
{
	for (int rank = 0; rank < 2; rank++) {
		struct link *link = pair_link(&pair, rank);

		link->sent = link->arrived = link->consumed = link->credited = n;
		link->credits_seen = link->word_seen = n;
		memcpy(link->rx_area + area_credit_at(), &n, sizeof(n));
	}
}

static void connect_pair(void)
{
	start_counters_at(first_message);
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	pair_register(&pair, 0);
	pair_register(&pair, 1);
}

static int setup(void **state)
{
	(void)state;
	fake_reset(2);
	pair_make(&pair);
	left = pair_link(&pair, 0);
	right = pair_link(&pair, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pair_close(&pair);
	if (fake.broken)
		print_error("rule broken: %s\n", fake.broken_rule);
	return fake.broken || fake.objects;
}

static void poll_both(void)
{
	verbs_poll(pair.ends[0].transport.verbs);
	verbs_poll(pair.ends[1].transport.verbs);
}

static const struct wring_error *error_of(int rank)
{
	return &pair.ends[rank].transport.error;
}

static void assert_text(int rank, const char *part)
{
	if (!strstr(error_of(rank)->text, part))
		fail_msg("\"%s\" does not say \"%s\"", error_of(rank)->text, part);
}

static void send_byte(struct link *link, size_t len, unsigned char value)
{
	memset(link_payload(link, len), value, len);
	link_post(link, MESSAGE_DATA, &signature, len);
}

static void assert_head(struct link *link, size_t len, unsigned char value)
{
	struct message message;

	assert_true(link_peek(link, &message));
	assert_int_equal(message.kind, MESSAGE_DATA);
	assert_int_equal(message.len, len);
	assert_int_equal(message.signature->operation, 7);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(((const unsigned char *)message.payload)[i], value);
	link_consume(link);
}

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

/* --- credits and counters ------------------------------------------------------------------ */

/* Both ways at once, one end lazy in polling and completions late: nothing overflows (the fake
 * counts broken rules), nothing stops. */
static void exchange(int rounds)
{
	unsigned char sent[2] = {0}, taken[2] = {0};
	struct message message;

	for (int i = 0; i < rounds; i++) {
		for (int rank = 0; rank < 2; rank++) {
			struct link *link = pair_link(&pair, rank);

			while (link_credits(link) && (i + rank) % 3)
				send_byte(link, (size_t)(sent[rank] * 7), sent[rank]), sent[rank]++;
			while (link_peek(link, &message)) {
				assert_head(link, (size_t)(taken[rank] * 7), taken[rank]);
				taken[rank]++;
			}
			if (i % 2)
				link_flush_credit(link);
		}
		if (i % 3 == 0)
			fake_release();
		verbs_poll(pair.ends[i % 2].transport.verbs);
		if (i % 5 == 0)
			poll_both();
	}
	assert_int_equal(error_of(0)->status, WRING_OK);
	assert_int_equal(error_of(1)->status, WRING_OK);
	assert_true(left->sent - first_message > (uint64_t)rounds / 8);
}

static void traffic_both_ways_never_overflows(void **state)
{
	(void)state;
	connect_pair();
	exchange(2000);
}

static void late_completions_hold_credits_back(void **state)
{
	(void)state;
	connect_pair();
	fake.hold_sends = true;
	exchange(2000);
}

static void one_credit_room_is_enough(void **state)
{
	(void)state;
	fake.devices[0].largest_qp = fake.devices[1].largest_qp = PAIR_SLOTS + SEND_RESERVE + 1;
	connect_pair();
	fake.hold_sends = true;
	exchange(2000);
}

static void credit_without_room_comes_later(void **state)
{
	(void)state;
	fake.devices[1].largest_qp = PAIR_SLOTS + SEND_RESERVE + 1;
	connect_pair();
	for (int i = 0; i < PAIR_SLOTS; i++) {
		fake.hold_sends = false;
		send_byte(left, 1, 1);
		poll_both();
		fake.hold_sends = true;
		assert_head(right, 1, 1);
		link_flush_credit(right);
	}
	assert_true(pair_verbs_link(&pair, 1)->credit_due);
	assert_int_equal(link_credits(left), 1);
	fake_release();
	poll_both();
	left->credits_seen = left->word_seen = 0; /* look at the word again */
	assert_int_equal(link_credits(left), PAIR_SLOTS);
}

static void messages_return_credits(void **state)
{
	(void)state;
	connect_pair();
	for (int i = 0; i < 100; i++) {
		send_byte(left, 1, 1);
		poll_both();
		assert_head(right, 1, 1);
		send_byte(right, 1, 2);
		poll_both();
		assert_head(left, 1, 2);
	}
	assert_int_equal(left->credits_seen, left->sent);
	assert_int_equal(right->credits_seen, right->sent - 1);
	assert_int_equal(fake.writes, 200);
}

/* A notice overtakes the word when no credit was written since, and the word a notice when that
 * was not looked at yet. */
static void the_later_of_word_and_notice_counts(void **state)
{
	(void)state;
	connect_pair();
	for (int i = 0; i < PAIR_SLOTS; i++)
		send_byte(left, 1, 1);
	poll_both();
	assert_head(right, 1, 1);
	send_byte(right, 1, 2);
	assert_head(right, 1, 1);
	link_flush_credit(right);
	assert_int_equal(link_credits(left), 2);
	poll_both();
	assert_int_equal(link_credits(left), 2);
	assert_head(right, 1, 1);
	send_byte(right, 1, 2);
	poll_both();
	assert_int_equal(link_credits(left), 3);
	for (int i = 0; i < 3; i++)
		send_byte(left, 1, 1);
	assert_int_equal(link_credits(left), 0);
	assert_int_equal(error_of(0)->status, WRING_OK);
}

static void sleeping_peers_get_credits_as_notices(void **state)
{
	uint32_t notices;

	(void)state;
	connect_pair();
	left->peer_sleeps = right->peer_sleeps = true;
	send_byte(left, 1, 1);
	poll_both();
	assert_head(right, 1, 1);
	notices = fake.notices;
	link_flush_credit(right);
	assert_int_equal(fake.notices, notices + 1);
	poll_both();
	fake.hold_sends = true;
	exchange(2000);
}

static void counters_wrap(void **state)
{
	static const uint64_t starts[] = {(1u << 14) - 5, (1ull << 32) - 5};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		(void)teardown(NULL);
		(void)setup(NULL);
		first_message = starts[i];
		connect_pair();
		exchange(300);
	}
	first_message = 0;
}

static void send_all_credits(struct link *link)
{
	unsigned n = link_credits(link);

	assert_int_equal(n, PAIR_SLOTS);
	while (n--)
		send_byte(link, 1, 1);
}

static void take_all_one_by_one(struct link *link)
{
	verbs_poll(link->transport->verbs);
	for (int i = 0; i < PAIR_SLOTS; i++) {
		assert_head(link, 1, 1);
		link_flush_credit(link);
	}
}

/* The worst that can come to a rank that does not look at its completions: a credit notice for
 * each message that was under way, and for as many sent since, and the peer's own messages. */
static void receives_suffice_for_a_rank_that_does_not_look(void **state)
{
	const struct fake_qp *qp;

	(void)state;
	connect_pair();
	right->peer_sleeps = true;
	send_all_credits(left);
	verbs_poll(pair.ends[0].transport.verbs);
	take_all_one_by_one(right);
	send_all_credits(left);
	take_all_one_by_one(right);
	send_all_credits(right);
	qp = fake_qp_of(pair_verbs_link(&pair, 0)->qp->qp_num);
	assert_int_equal(qp->receives, RESERVES);
	poll_both();
	assert_int_equal(error_of(0)->status, WRING_OK);
	assert_int_equal(error_of(1)->status, WRING_OK);
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
	left->ops->reserve(left, RESERVE_ABORT, &record);
	left->ops->reserve(left, RESERVE_LEAVE, &record);
	assert_null(right->ops->reserved(right, RESERVE_ABORT));
	poll_both();
	seen = right->ops->reserved(right, RESERVE_ABORT);
	assert_non_null(seen);
	assert_int_equal(seen->operation, 9);
	assert_string_equal(seen->text, "why");
	assert_non_null(right->ops->reserved(right, RESERVE_LEAVE));
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
		cmocka_unit_test(traffic_both_ways_never_overflows),
		cmocka_unit_test(late_completions_hold_credits_back),
		cmocka_unit_test(one_credit_room_is_enough),
		cmocka_unit_test(credit_without_room_comes_later),
		cmocka_unit_test(messages_return_credits),
		cmocka_unit_test(the_later_of_word_and_notice_counts),
		cmocka_unit_test(sleeping_peers_get_credits_as_notices),
		cmocka_unit_test(counters_wrap),
		cmocka_unit_test(receives_suffice_for_a_rank_that_does_not_look),
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
