/* fingerprint.c: what must be equal on all ranks is compared, and the QP's timeout is chosen. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bootstrap/config.h"
#include "bootstrap/tuning.h"
#include "coll/coll.h"

static struct wring_config defaults(void)
{
	struct wring_config config;

	assert_int_equal(config_resolve(&config, NULL, NULL, NULL), WRING_OK);
	return config;
}

static struct config_fingerprint fingerprint_of(const struct wring_config *config)
{
	struct config_fingerprint fingerprint;
	struct wring_config changed = *config;
	struct wring_error error;
	struct tuning tuning;

	if (tuning_load(&tuning, &changed, coll_candidate, &error))
		fail_msg("%s", error.text);
	memset(&fingerprint, 0x55, sizeof(fingerprint));
	config_fingerprint(config, tuning.hash, &fingerprint);
	return fingerprint;
}

/* The two settings differ, as seen from ranks 0 and 3, with exactly this text. */
static void check_differs(const struct wring_config *a, const struct wring_config *b,
			  const char *expected)
{
	struct config_fingerprint ours = fingerprint_of(a), theirs = fingerprint_of(b);
	char text[256];

	assert_true(config_fingerprint_differs(&ours, 0, &theirs, 3, text, sizeof(text)));
	assert_string_equal(text, expected);
}

/* Write text to a new file; its name goes to path. */
static void make_file(char *path, size_t len, const char *text)
{
	int fd;

	snprintf(path, len, "%s/unit_fingerprint.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void equal_settings_do_not_differ(void **state)
{
	struct wring_config a = defaults(), b = defaults();
	struct config_fingerprint ours = fingerprint_of(&a), theirs;
	char text[64] = "untouched";

	(void)state;
	strcpy(b.device, "mlx5_1");
	b.port = 2;
	b.gid_index = 3;
	b.wait = WRING_WAIT_EVENT;
	strcpy(b.trace, "/tmp/trace");
	b.timeout_ms = 1;
	theirs = fingerprint_of(&b);
	assert_memory_equal(&ours, &theirs, sizeof(ours));
	assert_false(config_fingerprint_differs(&ours, 0, &theirs, 3, text, sizeof(text)));
	assert_string_equal(text, "untouched");
}

static void each_difference_is_named_with_both_values(void **state)
{
	struct wring_config a = defaults(), b = defaults();

	(void)state;
	b.segment_bytes = 32768;
	check_differs(&a, &b,
		      "segment_bytes is 65536 on rank 0 and 32768 on rank 3: set "
		      "WRING_SEGMENT_BYTES alike");
	b = defaults();
	b.slots = 16;
	check_differs(&b, &a, "slots is 16 on rank 0 and 8 on rank 3: set WRING_SLOTS alike");
	b = defaults();
	b.eager_bytes = 100;
	check_differs(&a, &b,
		      "eager_bytes is -1 on rank 0 and 100 on rank 3: set WRING_EAGER_BYTES alike");
	b = defaults();
	b.transport = WRING_TRANSPORT_VERBS;
	check_differs(&a, &b,
		      "transport is auto on rank 0 and verbs on rank 3: set WRING_TRANSPORT alike");
	b = defaults();
	b.ring = WRING_RING_RANK;
	check_differs(&a, &b, "ring is host on rank 0 and rank on rank 3: set WRING_RING alike");
}

static void another_version_is_named_before_anything_else(void **state)
{
	struct wring_config config = defaults();
	struct config_fingerprint a = fingerprint_of(&config), b = a;
	char text[128], expected[128];

	(void)state;
	b.version = 7 << 16 | 12;
	b.slots = 4;
	assert_true(config_fingerprint_differs(&a, 1, &b, 2, text, sizeof(text)));
	snprintf(expected, sizeof(expected),
		 "Wring is %d.%d on rank 1 and 7.12 on rank 2: run the same libwring everywhere",
		 WRING_VERSION_MAJOR, WRING_VERSION_MINOR);
	assert_string_equal(text, expected);
}

static void a_word_out_of_range_from_the_wire_is_printed_as_a_number(void **state)
{
	struct wring_config config = defaults();
	struct config_fingerprint a = fingerprint_of(&config), b = a;
	char text[128];

	(void)state;
	b.ring = -77;
	assert_true(config_fingerprint_differs(&a, 0, &b, 1, text, sizeof(text)));
	assert_non_null(strstr(text, "ring is host on rank 0 and -77 on rank 1"));
}

static void text_is_cut_at_its_length(void **state)
{
	struct wring_config config = defaults();
	struct config_fingerprint a = fingerprint_of(&config), b = a;
	char text[16];

	(void)state;
	memset(text, 'x', sizeof(text));
	b.slots = 2;
	assert_true(config_fingerprint_differs(&a, 0, &b, 1, text, 10));
	assert_memory_equal(text, "slots is \0x", 11);
}

static void tuning_files_are_compared_by_content(void **state)
{
	struct wring_config a = defaults(), b = defaults(), none = defaults();
	struct config_fingerprint ours, theirs;

	(void)state;
	make_file(a.tuning, sizeof(a.tuning), "eager_bytes 1024\n");
	make_file(b.tuning, sizeof(b.tuning), "eager_bytes 1024\n");
	ours = fingerprint_of(&a);
	theirs = fingerprint_of(&b);
	assert_memory_equal(&ours, &theirs, sizeof(ours));
	unlink(b.tuning);
	make_file(b.tuning, sizeof(b.tuning), "eager_bytes 2048\n");
	check_differs(&a, &b, "the tuning files (WRING_TUNING) of rank 0 and rank 3 differ");
	check_differs(&none, &a,
		      "rank 3 has a tuning file and rank 0 has none: set WRING_TUNING alike");
	unlink(a.tuning);
	unlink(b.tuning);
	make_file(b.tuning, sizeof(b.tuning), "");
	check_differs(&b, &none,
		      "rank 0 has a tuning file and rank 3 has none: set WRING_TUNING alike");
	unlink(b.tuning);
}

static double worst_ms(int t, int retry)
{
	return 4.096e-3 * (double)(UINT64_C(1) << t) * (retry + 1);
}

static void qp_timeout_is_the_largest_that_fits(void **state)
{
	(void)state;
	assert_int_equal(config_qp_timeout(6, 2000), 15);
	assert_int_equal(config_qp_timeout(0, 600000), 26);
	assert_int_equal(config_qp_timeout(7, 10), 8);
	assert_int_equal(config_qp_timeout(0, 2147483647), 31);
	for (int retry = 0; retry <= 7; retry++)
		for (int ms = 10; ms <= 600000; ms = ms * 3 / 2) {
			int t = config_qp_timeout(retry, ms);

			assert_true(t >= 1 && t <= 31);
			assert_true(worst_ms(t, retry) <= 0.9 * ms);
			assert_true(t == 31 || worst_ms(t + 1, retry) > 0.9 * ms);
		}
}

static void qp_timeout_is_1_if_nothing_fits(void **state)
{
	(void)state;
	assert_int_equal(config_qp_timeout(7, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_settings_do_not_differ),
		cmocka_unit_test(each_difference_is_named_with_both_values),
		cmocka_unit_test(another_version_is_named_before_anything_else),
		cmocka_unit_test(a_word_out_of_range_from_the_wire_is_printed_as_a_number),
		cmocka_unit_test(text_is_cut_at_its_length),
		cmocka_unit_test(tuning_files_are_compared_by_content),
		cmocka_unit_test(qp_timeout_is_the_largest_that_fits),
		cmocka_unit_test(qp_timeout_is_1_if_nothing_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
