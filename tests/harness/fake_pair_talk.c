/* fake_pair_talk.c: two links over the fake fabric, and a few words to let them talk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/fake_pair_talk.h"

struct pair pair;
struct wring_error error;
struct link *left, *right;
const struct signature signature = {.operation = 7, .count = 3, .root = -1};
uint64_t first_message;
char logged[512];

static void keep_line(void *context, const char *line)
{
	(void)context;
	(void)snprintf(logged, sizeof(logged), "%s", line);
}

static void start_counters_at(uint64_t n)
{
	for (int rank = 0; rank < 2; rank++) {
		struct link *link = pair_link(&pair, rank);

		link->sent = link->arrived = link->consumed = link->credited = n;
		link->credits_seen = link->word_seen = n;
		memcpy(link->rx_area + area_credit_at(), &n, sizeof(n));
	}
}

void connect_pair(void)
{
	start_counters_at(first_message);
	assert_int_equal(pair_connect(&pair, &error), WRING_OK);
	pair_register(&pair, 0);
	pair_register(&pair, 1);
}

int setup(void **state)
{
	(void)state;
	fake_reset(2);
	pair_make(&pair);
	left = pair_link(&pair, 0);
	right = pair_link(&pair, 1);
	pair.ends[0].transport.config.log = keep_line;
	logged[0] = '\0';
	error = (struct wring_error){.status = WRING_OK};
	return 0;
}

int setup_connected(void **state)
{
	return setup(state) || pair_connect(&pair, &error) != WRING_OK;
}

int teardown(void **state)
{
	(void)state;
	pair_close(&pair);
	if (fake.broken)
		print_error("rule broken: %s\n", fake.broken_rule);
	return fake.broken || fake.objects;
}

void poll_both(void)
{
	verbs_poll(pair_verbs(&pair, 0));
	verbs_poll(pair_verbs(&pair, 1));
}

const struct wring_error *error_of(int rank)
{
	return &pair.ends[rank].transport.error;
}

void assert_text(int rank, const char *part)
{
	if (!strstr(error_of(rank)->text, part))
		fail_msg("\"%s\" does not say \"%s\"", error_of(rank)->text, part);
}

void send_byte(struct link *link, size_t len, unsigned char value)
{
	unsigned char bytes[PAIR_SLOT_BYTES];

	memset(bytes, value, len);
	link_copy(link, MESSAGE_DATA, &signature, bytes, len);
}

void assert_head(struct link *link, size_t len, unsigned char value)
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
