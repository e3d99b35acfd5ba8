/* config.c: every setting, both ends of its range, its default, each refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "bootstrap/config.h"
#include "tests/harness/settings.h"
#include "bootstrap/config_fields.h"

static const struct {
	const char *name, *variable, *low, *high, *below, *above, *rule;
	int fallback;
} numbers[] = {
	{"port", "WRING_PORT", "1", "254", "0", "255", "1..254, or -1 to choose", -1},
	{"gid_index", "WRING_GID_INDEX", "0", "255", "-2", "256", "0..255, or -1 to choose", -1},
	{"traffic_class", "WRING_TRAFFIC_CLASS", "0", "255", "-2", "256", "0..255, or -1 to choose",
	 0},
	{"service_level", "WRING_SERVICE_LEVEL", "0", "15", "-2", "16", "0..15, or -1 to choose",
	 0},
	{"qp_timeout", "WRING_QP_TIMEOUT", "1", "31", "0", "32", "1..31, or -1 to choose", -1},
	{"qp_retry", "WRING_QP_RETRY", "0", "7", "-2", "8", "0..7, or -1 to choose", 6},
	{"segment_bytes", "WRING_SEGMENT_BYTES", "1024", "8388608", "960", "8388672",
	 "1024..8388608, a multiple of 64, or -1 to choose", 65536},
	{"slots", "WRING_SLOTS", "2", "1024", "1", "2048",
	 "2..1024, a power of two, or -1 to choose", 8},
	{"eager_bytes", "WRING_EAGER_BYTES", "0", "65536", "-2", "65537",
	 "0..65536, or -1 to choose", -1},
	{"stall_ms", "WRING_STALL_MS", "1", "86400000", "0", "86400001",
	 "1..86400000, or -1 to choose", 10000},
	{"timeout_ms", "WRING_TIMEOUT_MS", "1", "86400000", "0", "86400001",
	 "1..86400000, or -1 to choose", 600000},
	{"peer_timeout_ms", "WRING_PEER_TIMEOUT_MS", "10", "600000", "9", "600001",
	 "10..600000, or -1 to choose", 2000},
};

static const struct {
	const char *name, *variable, *words[5], *rule;
	int fallback;
} words[] = {
	{"transport", "WRING_TRANSPORT", {"auto", "shm", "verbs"}, "auto|shm|verbs", 0},
	{"ring", "WRING_RING", {"host", "rank"}, "host|rank", 0},
	{"wait", "WRING_WAIT", {"auto", "spin", "yield", "event"}, "auto|spin|yield|event", 0},
	{"progress", "WRING_PROGRESS", {"none", "thread"}, "none|thread", 0},
};

static const struct {
	const char *name, *variable;
	size_t size;
} strings[] = {
	{"device", "WRING_DEVICE", 64},
	{"trace", "WRING_TRACE", 256},
	{"tuning", "WRING_TUNING", 256},
};

enum {
	NUMBERS = sizeof(numbers) / sizeof(numbers[0]),
	WORDS = sizeof(words) / sizeof(words[0]),
	STRINGS = sizeof(strings) / sizeof(strings[0])
};

static int number_of(struct wring_config *config, const char *name)
{
	return *config_field_number(config_field_named(name), config);
}

static void check_set(const char *name, const char *value, int expected)
{
	struct wring_config config = fresh();

	assert_int_equal(wring_config_set(&config, name, value, NULL), WRING_OK);
	assert_int_equal(number_of(&config, name), expected);
}

static void check_set_refused(const char *name, const char *value, const char *rule)
{
	struct wring_config config = fresh(), before = config;
	struct wring_error error;
	char text[256];

	snprintf(text, sizeof(text), "%s is \"%s\"; allowed: %s", name, value, rule);
	check_refusal(wring_config_set(&config, name, value, &error), &error, text);
	assert_memory_equal(&config, &before, sizeof(config));
}

static void init_refuses_null_and_a_size_too_small(void **state)
{
	struct wring_config config = {.port = 77};
	struct wring_error error;
	size_t first = offsetof(struct wring_config, log_ctx) + sizeof(void *);

	(void)state;
	check_refusal(wring_config_init(NULL, sizeof(config), &error), &error, "config is NULL");
	check_refusal(wring_config_init(&config, first - 1, &error), &error, "smaller than the");
	check_refusal(wring_config_init(&config, 0, &error), &error, "size is 0");
	assert_int_equal(config.port, 77);
	assert_int_equal(wring_config_init(&config, first, &error), WRING_OK);
}

static void init_writes_no_byte_past_size_and_zeroes_what_it_does_not_know(void **state)
{
	struct {
		struct wring_config config;
		char newer[40];
	} program;

	(void)state;
	memset(&program, 0x55, sizeof(program));
	assert_int_equal(wring_config_init(&program.config, sizeof(program.config), NULL),
			 WRING_OK);
	assert_int_equal(program.newer[0], 0x55);
	assert_int_equal(wring_config_init(&program.config, sizeof(program.config) + 30, NULL),
			 WRING_OK);
	assert_int_equal(program.config.size, sizeof(program.config) + 30);
	for (int i = 0; i < 40; i++)
		assert_int_equal(program.newer[i], i < 30 ? 0 : 0x55);
}

static void init_chooses_everything(void **state)
{
	struct wring_config config = fresh();

	(void)state;
	for (int i = 0; i < NUMBERS; i++)
		assert_int_equal(number_of(&config, numbers[i].name), -1);
	for (int i = 0; i < WORDS; i++)
		assert_int_equal(number_of(&config, words[i].name), -1);
	assert_string_equal(config.device, "");
	assert_string_equal(config.trace, "");
	assert_string_equal(config.tuning, "");
	assert_null(config.log);
	assert_int_equal(config.set_mask, 0);
}

static void tests_and_table_know_the_same_fields(void **state)
{
	(void)state;
	assert_int_equal(NUMBERS + WORDS + STRINGS, CONFIG_FIELDS);
	for (int i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];

		assert_ptr_equal(config_field_named(field->name), field);
		assert_ptr_equal(config_field_of_variable(field->variable), field);
		assert_int_equal(strncmp(field->variable, "WRING_", 6), 0);
		assert_int_equal(strcasecmp(field->variable + 6, field->name), 0);
		assert_non_null(field->meaning);
	}
}

static void set_takes_both_ends_of_every_range_and_nothing_beyond(void **state)
{
	(void)state;
	for (int i = 0; i < NUMBERS; i++) {
		check_set(numbers[i].name, numbers[i].low, atoi(numbers[i].low));
		check_set(numbers[i].name, numbers[i].high, atoi(numbers[i].high));
		check_set(numbers[i].name, "-1", -1);
		check_set_refused(numbers[i].name, numbers[i].below, numbers[i].rule);
		check_set_refused(numbers[i].name, numbers[i].above, numbers[i].rule);
	}
	check_set("segment_bytes", "1088", 1088);
	check_set_refused("segment_bytes", "1056", numbers[6].rule);
	check_set_refused("slots", "6", numbers[7].rule);
}

static void set_takes_numbers_strictly(void **state)
{
	static const char *const wrong[] = {
		"",
		" 5",
		"5 ",
		"12x",
		"+5",
		"0x10",
		"1e1",
		"5.0",
		"-",
		"--1",
		"-1x",
		"auto",
		"99999999999999999999",
		"-99999999999999999999",
		"4294967298",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (int j = 0; j < NUMBERS; j++)
			check_set_refused(numbers[j].name, wrong[i], numbers[j].rule);
}

static void set_takes_every_word_and_no_other(void **state)
{
	(void)state;
	for (int i = 0; i < WORDS; i++) {
		for (int j = 0; words[i].words[j]; j++)
			check_set(words[i].name, words[i].words[j], j);
		check_set_refused(words[i].name, "", words[i].rule);
		check_set_refused(words[i].name, "AUTO", words[i].rule);
		check_set_refused(words[i].name, "1", words[i].rule);
		check_set_refused(words[i].name, "-1", words[i].rule);
		check_set_refused(words[i].name, "host ", words[i].rule);
	}
}

static void set_takes_strings_that_fit_with_their_end(void **state)
{
	char value[257], rule[64];

	(void)state;
	for (int i = 0; i < STRINGS; i++) {
		struct wring_config config = fresh();
		struct wring_error error;

		memset(value, 'd', sizeof(value));
		value[strings[i].size - 1] = '\0';
		assert_int_equal(wring_config_set(&config, strings[i].name, value, &error),
				 WRING_OK);
		assert_string_equal(
			config_field_string(config_field_named(strings[i].name), &config), value);
		value[strings[i].size - 1] = 'd';
		value[strings[i].size] = '\0';
		snprintf(rule, sizeof(rule), "allowed: at most %zu characters",
			 strings[i].size - 1);
		check_refusal(wring_config_set(&config, strings[i].name, value, &error), &error,
			      rule);
	}
}

static void set_refuses_null_an_unknown_name_and_a_struct_without_init(void **state)
{
	struct wring_config config = fresh(), zero = {0};
	struct wring_error error;

	(void)state;
	check_refusal(wring_config_set(NULL, "slots", "2", &error), &error, "config is NULL");
	check_refusal(wring_config_set(&config, NULL, "2", &error), &error, "name is NULL");
	check_refusal(wring_config_set(&config, "slots", NULL, &error), &error, "value is NULL");
	check_refusal(wring_config_set(&config, "slot", "2", &error), &error,
		      "\"slot\" is no setting; did you mean \"slots\"?");
	check_refusal(wring_config_set(&config, "segmentbyte", "2", &error), &error,
		      "did you mean \"segment_bytes\"?");
	check_refusal(wring_config_set(&config, "Wait", "spin", &error), &error,
		      "did you mean \"wait\"?");
	check_refusal(wring_config_set(&config, "a\nb", "2", &error), &error, "\"a?b\"");
	check_refusal(wring_config_set(&config, "", "2", &error), &error, "\"\" is no setting");
	check_refusal(wring_config_set(&zero, "slots", "2", &error), &error, "config->size is 0");
	assert_int_equal(wring_config_set(&config, "slot", "2", NULL), WRING_ERR_INVALID);
}

static void resolved_defaults_are_the_documented_ones(void **state)
{
	struct wring_config out, config = fresh();

	(void)state;
	for (int with = 0; with < 2; with++) {
		assert_int_equal(resolve(&out, with ? &config : NULL, NULL, NULL), WRING_OK);
		for (int i = 0; i < NUMBERS; i++)
			assert_int_equal(number_of(&out, numbers[i].name), numbers[i].fallback);
		for (int i = 0; i < WORDS; i++)
			assert_int_equal(number_of(&out, words[i].name), words[i].fallback);
		assert_string_equal(out.device, "");
		assert_int_equal(out.set_mask, 0);
		assert_int_equal(out.size, sizeof(out));
	}
	assert_int_equal(config_resolve(&out, NULL, NULL, NULL), WRING_OK);
}

static void environment_sets_every_field(void **state)
{
	struct wring_config out;
	char entry[128];

	(void)state;
	for (int i = 0; i < NUMBERS; i++) {
		snprintf(entry, sizeof(entry), "%s=%s", numbers[i].variable, numbers[i].high);
		assert_int_equal(resolve(&out, NULL, entry, NULL), WRING_OK);
		assert_int_equal(number_of(&out, numbers[i].name), atoi(numbers[i].high));
	}
	for (int i = 0; i < WORDS; i++) {
		snprintf(entry, sizeof(entry), "%s=%s", words[i].variable, words[i].words[1]);
		assert_int_equal(resolve(&out, NULL, entry, NULL), WRING_OK);
		assert_int_equal(number_of(&out, words[i].name), 1);
	}
	for (int i = 0; i < STRINGS; i++) {
		const struct config_field *field = config_field_named(strings[i].name);

		snprintf(entry, sizeof(entry), "%s=a=b", strings[i].variable);
		assert_int_equal(resolve(&out, NULL, entry, NULL), WRING_OK);
		assert_string_equal(config_field_string(field, &out), "a=b");
		assert_int_equal(out.set_mask, config_field_bit(field));
	}
}

static void environment_values_are_refused_with_variable_value_and_range(void **state)
{
	char entry[128], text[256];

	(void)state;
	for (int i = 0; i < NUMBERS; i++) {
		snprintf(entry, sizeof(entry), "%s=%s", numbers[i].variable, numbers[i].above);
		snprintf(text, sizeof(text), "%s is \"%s\"; allowed: %s", numbers[i].variable,
			 numbers[i].above, numbers[i].rule);
		check_environment_refused(entry, text);
	}
	for (int i = 0; i < WORDS; i++) {
		snprintf(entry, sizeof(entry), "%s=often", words[i].variable);
		snprintf(text, sizeof(text), "%s is \"often\"; allowed: %s", words[i].variable,
			 words[i].rule);
		check_environment_refused(entry, text);
	}
	check_environment_refused("WRING_SLOTS=", "WRING_SLOTS is \"\"; allowed: 2..1024");
	check_environment_refused("WRING_PORT=1\n2", "WRING_PORT is \"1?2\"");
}

static void fields_set_directly_are_range_checked(void **state)
{
	struct wring_error error;
	char text[256];

	(void)state;
	for (int i = 0; i < NUMBERS + WORDS; i++) {
		struct wring_config out, config = fresh();
		const char *name = i < NUMBERS ? numbers[i].name : words[i - NUMBERS].name;
		int wrong = i < NUMBERS ? atoi(numbers[i].above) : 4;

		*config_field_number(config_field_named(name), &config) = wrong;
		snprintf(text, sizeof(text), "config->%s is %d; allowed: ", name, wrong);
		check_refusal(resolve(&out, &config, NULL, &error), &error, text);
		check_refusal(resolve(&out, &config, NULL, &error), &error,
			      i < NUMBERS ? numbers[i].rule : words[i - NUMBERS].rule);
	}
}

static void a_string_without_end_is_refused(void **state)
{
	struct wring_error error;
	char text[64];

	(void)state;
	for (int i = 0; i < STRINGS; i++) {
		struct wring_config out, config = fresh();
		const struct config_field *field = config_field_named(strings[i].name);

		memset(config_field_string(field, &config), 'x', strings[i].size);
		snprintf(text, sizeof(text), "config->%s has no end within its %zu bytes",
			 strings[i].name, strings[i].size);
		check_refusal(resolve(&out, &config, NULL, &error), &error, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(init_refuses_null_and_a_size_too_small),
		cmocka_unit_test(init_writes_no_byte_past_size_and_zeroes_what_it_does_not_know),
		cmocka_unit_test(init_chooses_everything),
		cmocka_unit_test(tests_and_table_know_the_same_fields),
		cmocka_unit_test(set_takes_both_ends_of_every_range_and_nothing_beyond),
		cmocka_unit_test(set_takes_numbers_strictly),
		cmocka_unit_test(set_takes_every_word_and_no_other),
		cmocka_unit_test(set_takes_strings_that_fit_with_their_end),
		cmocka_unit_test(set_refuses_null_an_unknown_name_and_a_struct_without_init),
		cmocka_unit_test(resolved_defaults_are_the_documented_ones),
		cmocka_unit_test(environment_sets_every_field),
		cmocka_unit_test(environment_values_are_refused_with_variable_value_and_range),
		cmocka_unit_test(fields_set_directly_are_range_checked),
		cmocka_unit_test(a_string_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
