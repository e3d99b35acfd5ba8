/* verbs_credits.c: credits, counters and receives of two links over a fake fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/fake_pair_talk.h"

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
		verbs_poll(pair_verbs(&pair, i % 2));
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
	transport_poll(link->transport);
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
	verbs_poll(pair_verbs(&pair, 0));
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

static void assert_waiting(const struct signature *wanted)
{
	struct signature seen;

	link_read_waiting(right, &seen);
	assert_int_equal(seen.operation, wanted->operation);
	assert_int_equal(seen.count, wanted->count);
	assert_int_equal(seen.root, wanted->root);
	assert_int_equal(seen.collective, wanted->collective);
}

static void a_wait_is_told_beside_the_credits(void **state)
{
	const struct signature none = {.operation = 0}, later = {.operation = 8, .collective = 2};
	const struct fake_qp *qp;
	uint32_t receives, credits;

	(void)state;
	connect_pair();
	qp = fake_qp_of(pair_verbs_link(&pair, 1)->qp->qp_num);
	receives = qp->receives;
	credits = link_credits(left);
	assert_waiting(&none);
	assert_true(link_tell_waiting(left, &signature));
	assert_waiting(&signature);
	assert_true(link_tell_waiting(left, &later));
	assert_waiting(&later);
	poll_both();
	assert_int_equal(qp->receives, receives);
	assert_int_equal(link_credits(left), credits);
	exchange(100);
	assert_waiting(&later);
}

/* Its words may land one by one, some of them late. */
static void a_wait_that_is_torn_is_not_believed(void **state)
{
	const struct signature none = {.operation = 0};
	struct signature later = signature;
	uint64_t words[2][WAITING_WORDS], *there;

	(void)state;
	connect_pair();
	there = (uint64_t *)(void *)(right->rx_area + area_waiting_at());
	later.operation++;
	later.count *= 2;
	for (int i = 0; i < 2; i++) {
		assert_true(link_tell_waiting(left, i ? &later : &signature));
		memcpy(words[i], there, sizeof(words[i]));
	}
	for (unsigned late = 1; late < (1u << WAITING_WORDS) - 1; late++) {
		for (int i = 0; i < WAITING_WORDS; i++)
			there[i] = words[late >> i & 1 ? 0 : 1][i];
		if (memcmp(there, words[0], sizeof(words[0])) == 0)
			assert_waiting(&signature);
		else if (memcmp(there, words[1], sizeof(words[1])) == 0)
			assert_waiting(&later);
		else
			assert_waiting(&none);
	}
}

/* It takes nothing from the messages that credits allow: without room it is for another time. */
static void a_wait_without_room_is_not_told(void **state)
{
	unsigned told = 0;

	(void)state;
	connect_pair();
	fake.hold_sends = true;
	while (told < 1000 && link_tell_waiting(left, &signature))
		told++;
	assert_in_range(told, 1, 999);
	send_all_credits(left);
	assert_int_equal(error_of(0)->status, WRING_OK);
	assert_false(link_tell_waiting(left, &signature));
	fake_release();
	poll_both();
	assert_true(link_tell_waiting(left, &signature));
}

static void a_wait_is_not_told_after_a_failure(void **state)
{
	(void)state;
	connect_pair();
	pair.ends[0].transport.error.status = WRING_ERR_PEER;
	assert_false(link_tell_waiting(left, &signature));
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(traffic_both_ways_never_overflows),
		cmocka_unit_test(late_completions_hold_credits_back),
		cmocka_unit_test(one_credit_room_is_enough),
		cmocka_unit_test(credit_without_room_comes_later),
		cmocka_unit_test(messages_return_credits),
		cmocka_unit_test(the_later_of_word_and_notice_counts),
		cmocka_unit_test(sleeping_peers_get_credits_as_notices),
		cmocka_unit_test(a_wait_is_told_beside_the_credits),
		cmocka_unit_test(a_wait_that_is_torn_is_not_believed),
		cmocka_unit_test(a_wait_without_room_is_not_told),
		cmocka_unit_test(a_wait_is_not_told_after_a_failure),
		cmocka_unit_test(counters_wrap),
		cmocka_unit_test(receives_suffice_for_a_rank_that_does_not_look),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tests[i].setup_func = setup;
		tests[i].teardown_func = teardown;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
