/* config.c: bad settings: by wring_config_set, in the struct, in the environment. */
#include "tests/refuse/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* text and rule must both be in the error. */
struct bad_setting {
	const char *name, *field, *value, *text, *rule;
};

#define LONG_64	 "0123456789012345678901234567890123456789012345678901234567890123"
#define LONG_256 LONG_64 LONG_64 LONG_64 LONG_64

static const struct bad_setting settings[] = {
	{"unknown_name", "colour", "red", "colour", NULL},
	{"misspelt_name_and_knows_better", "segment_byte", "4096", "segment_byte", "segment_bytes"},
	{"name_in_capitals", "SLOTS", "4", "SLOTS", "slots"},
	{"empty_name", "", "4", NULL, NULL},
	{"unknown_transport", "transport", "tcp", "tcp", "auto|shm|verbs"},
	{"transport_as_number", "transport", "1", "transport", "auto|shm|verbs"},
	{"device_of_64_characters", "device", LONG_64, "device", "63"},
	{"port_0", "port", "0", "0", "1..254"},
	{"port_255", "port", "255", "255", "1..254"},
	{"gid_index_256", "gid_index", "256", "256", "0..255"},
	{"gid_index_below_minus_1", "gid_index", "-2", "-2", "0..255"},
	{"traffic_class_256", "traffic_class", "256", "256", "0..255"},
	{"service_level_16", "service_level", "16", "16", "0..15"},
	{"qp_timeout_0", "qp_timeout", "0", "0", "1..31"},
	{"qp_timeout_32", "qp_timeout", "32", "32", "1..31"},
	{"qp_retry_8", "qp_retry", "8", "8", "0..7"},
	{"segment_bytes_too_small", "segment_bytes", "960", "960", "1024..8388608"},
	{"segment_bytes_too_large", "segment_bytes", "8388672", "8388672", "1024..8388608"},
	{"segment_bytes_off_64", "segment_bytes", "1000001", "1000001", "64"},
	{"slots_1", "slots", "1", "1", "2..1024"},
	{"slots_3", "slots", "3", "3", "power of two"},
	{"slots_2048", "slots", "2048", "2048", "2..1024"},
	{"eager_bytes_65537", "eager_bytes", "65537", "65537", "0..65536"},
	{"unknown_ring", "ring", "triangle", "triangle", "host|rank"},
	{"unknown_wait", "wait", "sleep", "sleep", "auto|spin|yield|event"},
	{"unknown_progress", "progress", "maybe", "maybe", "none|thread"},
	{"stall_ms_0", "stall_ms", "0", "0", "1..86400000"},
	{"timeout_ms_0", "timeout_ms", "0", "0", "1..86400000"},
	{"timeout_ms_above_a_day", "timeout_ms", "86400001", "86400001", "1..86400000"},
	{"peer_timeout_ms_9", "peer_timeout_ms", "9", "9", "10..600000"},
	{"peer_timeout_ms_600001", "peer_timeout_ms", "600001", "600001", "10..600000"},
	{"trace_of_256_characters", "trace", LONG_256, "trace", "255"},
	{"tuning_of_256_characters", "tuning", LONG_256, "tuning", "255"},
	{"a_word_for_a_number", "slots", "four", "four", "2..1024"},
	{"a_number_with_a_tail", "slots", "4x", "4x", "2..1024"},
	{"a_number_with_a_blank", "slots", " 4", " 4", "2..1024"},
	{"a_number_beyond_every_integer", "timeout_ms", "99999999999999999999",
	 "99999999999999999999", "1..86400000"},
	{"a_number_that_wraps_to_a_good_one", "slots", "4294967300", "4294967300", "2..1024"},
	{"a_value_of_two_lines", "wait", "spin\nyield", "wait", NULL},
};

static void refuse_text(struct refuse *r)
{
	const struct bad_setting *bad = r->test->row;
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config, copy;

	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	memcpy(&copy, &config, sizeof(copy));
	(void)refuse_status(r, "config_set",
			    wring_config_set(&config, bad->field, bad->value, &error),
			    WRING_ERR_INVALID);
	refuse_error(r, "config_set", &error, WRING_ERR_INVALID, bad->text);
	refuse_error(r, "config_set", &error, WRING_ERR_INVALID, bad->rule);
	(void)refuse_status(r, "config_set without error",
			    wring_config_set(&config, bad->field, bad->value, NULL),
			    WRING_ERR_INVALID);
	(void)refuse_expect(r, memcmp(&copy, &config, sizeof(copy)) == 0, "config was written");
}

/* create on all ranks; rank 1 alone has the bad setting; all fail with the same text. */
static void refuse_create_with(struct refuse *r, const struct wring_config *config,
			       const char *text)
{
	static int marker;
	struct wring_comm *untouched = (struct wring_comm *)(void *)&marker, *comm = untouched;
	struct wring_error error = {.status = WRING_OK};
	enum wring_status status = wring_comm_create(r->context->bootstrap, config, &comm, &error);

	(void)refuse_status(r, "create", status, WRING_ERR_INVALID);
	if (status == WRING_OK)
		wring_comm_destroy(comm);
	else
		(void)refuse_expect(r, comm == untouched, "comm was written");
	refuse_error(r, "create", &error, WRING_ERR_INVALID, text);
	refuse_same_everywhere(r, &error);
}

static void refuse_variable(struct refuse *r)
{
	const struct bad_setting *bad = r->test->row;

	if (r->rank == 1)
		(void)setenv(bad->field, bad->value, 1);
	refuse_create_with(r, NULL, bad->text);
	if (bad->rule)
		refuse_create_with(r, NULL, bad->rule);
}

static const struct bad_setting variables[] = {
	{"WRING_SLOTS_out_of_range", "WRING_SLOTS", "3", "WRING_SLOTS", "power of two"},
	{"WRING_SEGMENT_BYTES_out_of_range", "WRING_SEGMENT_BYTES", "17", "17", "1024..8388608"},
	{"WRING_WAIT_unknown", "WRING_WAIT", "snooze", "snooze", "WRING_WAIT"},
	{"WRING_TRANSPORT_unknown", "WRING_TRANSPORT", "pigeon", "pigeon", "auto|shm|verbs"},
	{"WRING_PORT_no_number", "WRING_PORT", "first", "first", "1..254"},
	{"an_unknown_variable", "WRING_SEGMENT_BYTE", "4096", "WRING_SEGMENT_BYTE",
	 "WRING_SEGMENT_BYTES"},
	{"a_variable_nothing_like_ours", "WRING_X", "1", "WRING_X", NULL},
	{"WRING_TUNING_that_does_not_exist", "WRING_TUNING", "/nonexistent/tuning",
	 "/nonexistent/tuning", NULL},
	{"WRING_TUNING_that_is_another_file", "WRING_TUNING", "/proc/self/status",
	 "/proc/self/status:1: the first word is \"Name:\"", "segment_bytes|eager_bytes"},
	{"WRING_TRACE_that_cannot_be_written", "WRING_TRACE", "/nonexistent/trace",
	 "/nonexistent/trace", NULL},
};

static void site_variables(struct refuse *r)
{
	static const char *const names[] = {"WRING_ROOT",    "WRING_DIR",   "WRING_HOME",
					    "WRING_PATH",    "WRING_LIB",   "WRING_INC",
					    "WRING_VERSION", "WRING_A_ROOT"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)setenv(names[i], "/opt/wring", 1);
	r->comm = refuse_open(r, r->context->bootstrap);
	r->broken = r->comm == NULL;
}

static void program_overrides_environment(struct refuse *r)
{
	struct wring_config config;

	(void)setenv("WRING_SLOTS", r->rank == 0 ? "4" : "16", 1);
	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	config.slots = 8;
	r->broken = !refuse_status(
		r, "create", wring_comm_create(r->context->bootstrap, &config, &r->comm, NULL),
		WRING_OK);
}

/* A field that the program has written itself. */
static void refuse_field(struct refuse *r)
{
	const struct bad_setting *bad = r->test->row;
	struct wring_config config;

	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	if (r->rank == 1 && strcmp(bad->field, "slots") == 0)
		config.slots = atoi(bad->value);
	else if (r->rank == 1 && strcmp(bad->field, "transport") == 0)
		config.transport = atoi(bad->value);
	else if (r->rank == 1 && strcmp(bad->field, "timeout_ms") == 0)
		config.timeout_ms = atoi(bad->value);
	else if (r->rank == 1 && strcmp(bad->field, "size") == 0)
		config.size = (size_t)atoi(bad->value);
	else if (r->rank == 1 && strcmp(bad->field, "device") == 0)
		memset(config.device, 'x', sizeof(config.device));
	refuse_create_with(r, &config, bad->text);
	if (bad->rule)
		refuse_create_with(r, &config, bad->rule);
}

static const struct bad_setting fields[] = {
	{"slots_3_in_the_struct", "slots", "3", "slots", "3"},
	{"transport_7_in_the_struct", "transport", "7", "transport", "7"},
	{"timeout_ms_minus_5_in_the_struct", "timeout_ms", "-5", "timeout_ms", "-5"},
	{"struct_size_0", "size", "0", "size", NULL},
	{"struct_size_12", "size", "12", "size", "12"},
	{"device_without_end", "device", "", "device", NULL},
};

static void init_refuses(struct refuse *r)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config, copy;
	char small[24];

	memset(&config, 0x3c, sizeof(config));
	memset(&copy, 0x3c, sizeof(copy));
	(void)refuse_status(r, "null config", wring_config_init(NULL, sizeof(config), &error),
			    WRING_ERR_INVALID);
	refuse_error(r, "null config", &error, WRING_ERR_INVALID, "NULL");
	(void)refuse_status(r, "null config and error",
			    wring_config_init(NULL, sizeof(config), NULL), WRING_ERR_INVALID);
	(void)refuse_status(r, "size 0", wring_config_init(&config, 0, &error), WRING_ERR_INVALID);
	refuse_error(r, "size 0", &error, WRING_ERR_INVALID, "0");
	(void)refuse_status(r, "small size", wring_config_init(&config, sizeof(config) - 1, &error),
			    WRING_ERR_INVALID);
	(void)snprintf(small, sizeof(small), "%zu", sizeof(config) - 1);
	refuse_error(r, "small size", &error, WRING_ERR_INVALID, small);
	(void)refuse_expect(r, memcmp(&config, &copy, sizeof(copy)) == 0, "config was written");
}

static void set_refuses_null(struct refuse *r)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config, copy;

	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	memcpy(&copy, &config, sizeof(copy));
	(void)refuse_status(r, "null config", wring_config_set(NULL, "slots", "4", &error),
			    WRING_ERR_INVALID);
	refuse_error(r, "null config", &error, WRING_ERR_INVALID, "NULL");
	(void)refuse_status(r, "null name", wring_config_set(&config, NULL, "4", &error),
			    WRING_ERR_INVALID);
	refuse_error(r, "null name", &error, WRING_ERR_INVALID, "NULL");
	(void)refuse_status(r, "null value", wring_config_set(&config, "slots", NULL, &error),
			    WRING_ERR_INVALID);
	refuse_error(r, "null value", &error, WRING_ERR_INVALID, "NULL");
	(void)refuse_expect(r, memcmp(&copy, &config, sizeof(copy)) == 0, "config was written");
}

static void run_rows(const struct bad_setting *rows, size_t n, const char *prefix, int ranks,
		     void (*body)(struct refuse *r))
{
	for (size_t i = 0; i < n; i++) {
		struct refusal test = {
			.ranks = ranks,
			.without_comm = true,
			.body = body,
			.row = &rows[i],
		};

		(void)snprintf(test.name, sizeof(test.name), "%s_refuses_%s", prefix, rows[i].name);
		refuse_run(&test);
	}
}

void refuse_configs(void)
{
	static const struct refusal others[] = {
		{"config_init_refuses_null_and_small_size", 1, true, init_refuses, NULL, false},
		{"config_set_refuses_null", 1, true, set_refuses_null, NULL, false},
		{"create_ignores_variables_of_site_modules", 2, true, site_variables, NULL, false},
		{"create_prefers_the_program_to_the_environment", 2, true,
		 program_overrides_environment, NULL, false},
	};

	run_rows(settings, sizeof(settings) / sizeof(settings[0]), "config_set", 1, refuse_text);
	run_rows(variables, sizeof(variables) / sizeof(variables[0]), "create", 2, refuse_variable);
	run_rows(fields, sizeof(fields) / sizeof(fields[0]), "create", 2, refuse_field);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		refuse_run(&others[i]);
}
