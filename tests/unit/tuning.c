/* tuning.c: the tuning file is read as wring(7) says, and every line that is none is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bootstrap/tuning.h"
#include "coll/request.h"
#include "coll/select.h"
#include "tests/harness/settings.h"
#include "transport/transport_state.h"

static void make_file(struct wring_config *config, const char *text, size_t len)
{
	int fd;

	snprintf(config->tuning, sizeof(config->tuning), "%s/unit_tuning.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	fd = mkstemp(config->tuning);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static struct wring_config defaults(void)
{
	struct wring_config config;

	assert_int_equal(resolve(&config, NULL, NULL, NULL), WRING_OK);
	return config;
}

static void load(const char *text, struct tuning *tuning, struct wring_config *config)
{
	struct wring_error error = {.text = ""};

	make_file(config, text, strlen(text));
	if (tuning_load(tuning, config, coll_candidate, &error) != WRING_OK)
		fail_msg("%s", error.text);
	unlink(config->tuning);
}

static void check_choice(const struct tuning_choice *choice, const char *collective, bool above,
			 uint64_t bytes, const char *algorithm)
{
	assert_string_equal(choice->collective, collective);
	assert_int_equal(choice->above, above);
	assert_int_equal(choice->bytes, bytes);
	assert_string_equal(choice->algorithm, algorithm);
}

static void every_kind_of_line_is_read(void **state)
{
	struct wring_config config = defaults();
	struct tuning tuning;

	(void)state;
	load("# a comment\n\n"
	     "segment_bytes 32768   # and another\r\n"
	     "\teager_bytes\t4096\n"
	     "allreduce <= 4096 oneshot\n"
	     "allreduce <= 65536 direct\n"
	     "allreduce > 65536 ring\n"
	     "broadcast <= 100 tree\n"
	     "broadcast > 100 chain", /* no end of line */
	     &tuning, &config);
	assert_int_equal(config.segment_bytes, 32768);
	assert_int_equal(config.eager_bytes, 4096);
	assert_int_equal(tuning.n, 5);
	check_choice(&tuning.choices[0], "allreduce", false, 4096, "oneshot");
	check_choice(&tuning.choices[1], "allreduce", false, 65536, "direct");
	check_choice(&tuning.choices[2], "allreduce", true, 65536, "ring");
	check_choice(&tuning.choices[3], "broadcast", false, 100, "tree");
	check_choice(&tuning.choices[4], "broadcast", true, 100, "chain");
}

static void without_a_file_nothing_is_chosen(void **state)
{
	struct wring_config config = defaults(), before = config;
	struct tuning tuning = {.n = 7};

	(void)state;
	assert_int_equal(tuning_load(&tuning, &config, coll_candidate, NULL), WRING_OK);
	assert_int_equal(tuning.n, 0);
	assert_memory_equal(&config, &before, sizeof(config));
	load("", &tuning, &config);
	assert_int_equal(tuning.n, 0);
}

static void program_and_environment_count_more_than_the_file(void **state)
{
	struct wring_config program = fresh(), config;
	struct tuning tuning;

	(void)state;
	program.segment_bytes = 16384;
	assert_int_equal(resolve(&config, &program, "WRING_EAGER_BYTES=512", NULL), WRING_OK);
	load("segment_bytes 32768\neager_bytes 4096\n", &tuning, &config);
	assert_int_equal(config.segment_bytes, 16384);
	assert_int_equal(config.eager_bytes, 512);
}

/* The text follows the file's name and a colon. */
static void check_refused(const char *text, size_t len, const char *expected)
{
	struct wring_config config = defaults(), before;
	struct tuning tuning = {.n = 7};
	struct wring_error error;
	char whole[sizeof(config.tuning) + 256];

	make_file(&config, text, len);
	before = config;
	snprintf(whole, sizeof(whole), "%s:%s", config.tuning, expected);
	check_refusal(tuning_load(&tuning, &config, coll_candidate, &error), &error, whole);
	assert_int_equal(tuning.n, 7);
	assert_memory_equal(&config, &before, sizeof(config));
	unlink(before.tuning);
}

static void a_line_that_is_none_is_refused_with_what_is_allowed(void **state)
{
	static const struct {
		const char *text, *expected;
	} wrong[] = {
		{"\n\nrings 4\n", "3: the first word is \"rings\"; allowed: "
				  "allreduce|broadcast|segment_bytes|eager_bytes"},
		{"slots 8\n", "1: the first word is \"slots\""},
		{"Allreduce > 4 ring\n", "1: the first word is \"Allreduce\""},
		{"allreduce < 4 ring\n", "1: the comparison is \"<\"; allowed: <=|>"},
		{"allreduce > 4K ring\n", "1: the size is \"4K\"; allowed: 0..9223372036854775807"},
		{"allreduce > -1 ring\n", "1: the size is \"-1\""},
		{"allreduce > 9223372036854775808 ring\n",
		 "1: the size is \"9223372036854775808\""},
		{"allreduce > 99999999999999999999 ring\n",
		 "1: the size is \"99999999999999999999\""},
		{"allreduce > 4 tree\n",
		 "1: the algorithm of allreduce is \"tree\"; allowed: oneshot|direct|owner|ring"},
		{"broadcast > 4 ring\n",
		 "1: the algorithm of broadcast is \"ring\"; allowed: tree|chain"},
		{"allreduce\n", "1: a line that begins with allreduce has 1 word; allowed: "
				"allreduce <=|> BYTES oneshot|direct|owner|ring"},
		{"broadcast > 4 chain now\n",
		 "1: a line that begins with broadcast has more than 4 words; allowed: "
		 "broadcast <=|> BYTES tree|chain"},
		{"segment_bytes\n", "1: a line that begins with segment_bytes has 1 word; allowed: "
				    "the name and a number"},
		{"eager_bytes 4 5\n", "1: a line that begins with eager_bytes has 3 words"},
		{"segment_bytes 17\n", "1: segment_bytes is \"17\"; allowed: 1024..8388608"},
		{"eager_bytes 65537\n", "1: eager_bytes is \"65537\"; allowed: 0..65536"},
		{"eager_bytes many\n", "1: eager_bytes is \"many\""},
		{"eager_bytes 4\neager_bytes 4\n",
		 "2: eager_bytes is given a second time; allowed: once"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_refused(wrong[i].text, strlen(wrong[i].text), wrong[i].expected);
	check_refused("allreduce > 4\0 ring\n", 19, "1: a zero byte; allowed: lines of text");
}

static void a_setting_of_the_program_does_not_hide_a_wrong_line(void **state)
{
	struct wring_config program = fresh(), config;
	struct tuning tuning;
	struct wring_error error;

	(void)state;
	program.segment_bytes = 16384;
	assert_int_equal(resolve(&config, &program, NULL, NULL), WRING_OK);
	make_file(&config, "segment_bytes 1\n", 16);
	check_refusal(tuning_load(&tuning, &config, coll_candidate, &error), &error,
		      "segment_bytes is \"1\"");
	unlink(config.tuning);
}

static void too_many_lines_and_too_many_bytes_are_refused(void **state)
{
	static char text[TUNING_BYTES + 1];
	struct wring_config config = defaults();
	struct wring_error error;
	struct tuning tuning;
	size_t len = 0;

	(void)state;
	for (int i = 0; i <= TUNING_CHOICES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "allreduce <= %d ring\n",
					i);
	check_refused(text, len, "33: one more choice of an algorithm; allowed: 32");
	memset(text, '\n', sizeof(text));
	make_file(&config, text, sizeof(text));
	check_refusal(tuning_load(&tuning, &config, coll_candidate, &error), &error,
		      "more than 16384 bytes");
	unlink(config.tuning);
}

static void a_file_that_cannot_be_read_is_refused(void **state)
{
	static const struct {
		const char *path;
		int native;
	} wrong[] = {{"/nonexistent/tuning", ENOENT}, {"/", EISDIR}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct wring_config config = defaults();
		struct wring_error error;
		struct tuning tuning;

		strcpy(config.tuning, wrong[i].path);
		check_refusal(tuning_load(&tuning, &config, coll_candidate, &error), &error,
			      "WRING_TUNING");
		assert_non_null(strstr(error.text, wrong[i].path));
		assert_int_equal(error.native, wrong[i].native);
	}
}

extern const struct algorithm collective_self;
extern const struct algorithm allreduce_oneshot, allreduce_direct, allreduce_owner, allreduce_ring;
extern const struct algorithm broadcast_tree, broadcast_chain;

/* --- what select.c makes of it -------------------------------------------------------------- */

/* Only what the choice depends on. */
static const struct algorithm *chosen(struct coll *coll, enum collective collective, size_t bytes)
{
	struct call call = call_measured(
		(struct call){.collective = collective, .count = bytes, .datatype = WRING_UINT8});

	return select_algorithm(coll, &call);
}

static struct coll collectives_of(struct transport *transport, const char *text)
{
	struct coll coll = {.transport = transport, .size = 4};
	struct wring_config config = defaults();
	struct tuning tuning;

	load(text, &tuning, &config);
	for (size_t i = 0; i < tuning.n; i++)
		assert_true(coll_prefer(&coll, tuning.choices[i].collective,
					tuning.choices[i].algorithm, tuning.choices[i].above,
					tuning.choices[i].bytes));
	return coll;
}

static void the_first_line_that_fits_chooses_the_algorithm(void **state)
{
	struct transport shm = {.all_shm = true, .config.eager_bytes = 1000};
	struct coll coll = collectives_of(&shm, "allreduce <= 100 ring\nallreduce <= 500 direct\n"
						"allreduce > 2000 ring\nbroadcast <= 10 chain\n"
						"broadcast > 10 tree\n");

	(void)state;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 1), &allreduce_ring);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 100), &allreduce_ring);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 101), &allreduce_direct);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 501), &allreduce_oneshot);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 2000), &allreduce_direct);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 2001), &allreduce_ring);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 10), &broadcast_chain);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 11), &broadcast_tree);
}

static void what_cannot_be_used_is_left_to_the_built_in_choice(void **state)
{
	struct transport verbs = {.all_shm = false, .config.eager_bytes = 1000};
	struct coll coll = collectives_of(
		&verbs, "allreduce <= 100 direct\nallreduce > 100 oneshot\nbroadcast > 0 tree\n");

	(void)state;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 100), &allreduce_oneshot);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 1000), &allreduce_oneshot);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 1001), &allreduce_owner);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 1000000), &allreduce_ring);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 1000), &broadcast_tree);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 1001), &broadcast_chain);
}

/* A tree needs no more than that every slot holds the message. */
static void trees_of_a_network_reach_as_far_as_the_slots(void **state)
{
	struct transport network = {.network = true, .size = 4, .config.eager_bytes = -1};
	struct coll coll = {.transport = &network, .size = 4};

	(void)state;
	network.config.segment_bytes = 65536;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 8192), &allreduce_oneshot);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 8196), &allreduce_owner);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 16384), &broadcast_tree);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 16385), &broadcast_chain);
	network.config.eager_bytes = 1000;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 1001), &broadcast_chain);
}

static void owner_is_used_where_a_chunk_fits_in_a_slot(void **state)
{
	struct transport shm = {.all_shm = true, .config.eager_bytes = 0};
	struct coll coll = collectives_of(&shm, "allreduce > 0 owner\n");

	(void)state;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 4000), &allreduce_owner);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 1000000), &allreduce_direct);
	coll.size = 2;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 4000), &allreduce_direct);
}

static void empty_vectors_and_single_ranks_keep_their_algorithm(void **state)
{
	struct transport shm = {.all_shm = true, .config.eager_bytes = 1000};
	struct coll coll = collectives_of(&shm, "allreduce <= 100 ring\nbroadcast <= 100 chain\n");

	(void)state;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 0), &allreduce_oneshot);
	assert_ptr_equal(chosen(&coll, COLLECTIVE_BROADCAST, 0), &broadcast_tree);
	coll.size = 1;
	assert_ptr_equal(chosen(&coll, COLLECTIVE_ALLREDUCE, 50), &collective_self);
}

static void unknown_and_too_many_preferences_are_not_taken(void **state)
{
	struct coll coll = {.n_preferences = 0};

	(void)state;
	assert_false(coll_prefer(&coll, "allreduce", "tree", true, 0));
	assert_false(coll_prefer(&coll, "barrier", "dissemination", true, 0));
	for (int i = 0; i < COLL_PREFERENCES; i++)
		assert_true(coll_prefer(&coll, "allreduce", "ring", true, 0));
	assert_false(coll_prefer(&coll, "allreduce", "ring", true, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_line_is_read),
		cmocka_unit_test(without_a_file_nothing_is_chosen),
		cmocka_unit_test(program_and_environment_count_more_than_the_file),
		cmocka_unit_test(a_line_that_is_none_is_refused_with_what_is_allowed),
		cmocka_unit_test(a_setting_of_the_program_does_not_hide_a_wrong_line),
		cmocka_unit_test(too_many_lines_and_too_many_bytes_are_refused),
		cmocka_unit_test(a_file_that_cannot_be_read_is_refused),
		cmocka_unit_test(the_first_line_that_fits_chooses_the_algorithm),
		cmocka_unit_test(what_cannot_be_used_is_left_to_the_built_in_choice),
		cmocka_unit_test(trees_of_a_network_reach_as_far_as_the_slots),
		cmocka_unit_test(owner_is_used_where_a_chunk_fits_in_a_slot),
		cmocka_unit_test(empty_vectors_and_single_ranks_keep_their_algorithm),
		cmocka_unit_test(unknown_and_too_many_preferences_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
