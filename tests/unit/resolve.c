/* resolve.c: who overrides whom, and what the environment may hold. */
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

static void environment_refuses_an_unknown_variable_with_the_nearest(void **state)
{
	(void)state;
	check_environment_refused("WRING_SEGMENT_BYTE=1", "did you mean WRING_SEGMENT_BYTES?");
	check_environment_refused("WRING_SEGMENTBYTES=1", "did you mean WRING_SEGMENT_BYTES?");
	check_environment_refused("WRING_TRANPSORT=shm", "did you mean WRING_TRANSPORT?");
	check_environment_refused("WRING_slots=8", "WRING_slots is no setting");
	check_environment_refused("WRING_slots=8", "did you mean WRING_SLOTS?");
	check_environment_refused("WRING_GIDINDEX=8", "did you mean WRING_GID_INDEX?");
	check_environment_refused("WRING_=8", "WRING_ is no setting");
	check_environment_refused("WRING_LIBRARY=8", "WRING_LIBRARY is no setting");
	check_environment_refused(
		"WRING_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=1",
		"is no setting");
}

static void environment_leaves_site_variables_alone(void **state)
{
	static const char *const site[] = {
		"WRING_ROOT=/opt", "WRING_DIR=/opt", "WRING_HOME=/opt",	  "WRING_PATH=/opt",
		"WRING_LIB=/opt",  "WRING_INC=/opt", "WRING_VERSION=1.0", "WRING_MY_OWN_DIR=x",
		"WRING_ROOT",	   "WRINGS=1",	     "MY_WRING_SLOTS=1",  "WRING",
	};
	struct wring_config out;

	(void)state;
	for (size_t i = 0; i < sizeof(site) / sizeof(site[0]); i++)
		assert_int_equal(resolve(&out, NULL, site[i], NULL), WRING_OK);
}

static void the_first_of_two_equal_variables_counts(void **state)
{
	char first[] = "WRING_SLOTS=4", second[] = "WRING_SLOTS=16";
	char *environment[] = {first, second, NULL};
	struct wring_config out;

	(void)state;
	assert_int_equal(config_resolve(&out, NULL, environment, NULL), WRING_OK);
	assert_int_equal(out.slots, 4);
}

static void program_overrides_environment(void **state)
{
	struct wring_config out, config = fresh();

	(void)state;
	assert_int_equal(resolve(&out, &config, "WRING_SLOTS=16", NULL), WRING_OK);
	assert_int_equal(out.slots, 16);
	config.slots = 32;
	config.transport = WRING_TRANSPORT_AUTO;
	config.log_ctx = &config;
	assert_int_equal(resolve(&out, &config, "WRING_SLOTS=16", NULL), WRING_OK);
	assert_int_equal(out.slots, 32);
	assert_ptr_equal(out.log_ctx, &config);
	assert_int_equal(resolve(&out, &config, "WRING_TRANSPORT=verbs", NULL), WRING_OK);
	assert_int_equal(out.transport, WRING_TRANSPORT_AUTO);
	strcpy(config.device, "mlx5_1");
	assert_int_equal(resolve(&out, &config, "WRING_DEVICE=mlx5_0", NULL), WRING_OK);
	assert_string_equal(out.device, "mlx5_1");
}

static void set_to_choose_silences_the_environment(void **state)
{
	struct wring_config out, config = fresh();

	(void)state;
	assert_int_equal(wring_config_set(&config, "gid_index", "-1", NULL), WRING_OK);
	assert_int_equal(wring_config_set(&config, "slots", "-1", NULL), WRING_OK);
	assert_int_equal(wring_config_set(&config, "device", "", NULL), WRING_OK);
	assert_int_equal(resolve(&out, &config, "WRING_GID_INDEX=3", NULL), WRING_OK);
	assert_int_equal(out.gid_index, -1);
	assert_int_equal(resolve(&out, &config, "WRING_SLOTS=64", NULL), WRING_OK);
	assert_int_equal(out.slots, 8);
	assert_int_equal(resolve(&out, &config, "WRING_DEVICE=mlx5_0", NULL), WRING_OK);
	assert_string_equal(out.device, "");
}

static void a_wrong_variable_is_refused_though_the_program_overrides_it(void **state)
{
	struct wring_config out, config = fresh();
	struct wring_error error;

	(void)state;
	config.slots = 16;
	check_refusal(resolve(&out, &config, "WRING_SLOTS=3", &error), &error, "WRING_SLOTS");
}

static void resolve_refuses_a_struct_without_init(void **state)
{
	struct wring_config out, zero = {0};
	struct wring_error error;

	(void)state;
	check_refusal(resolve(&out, &zero, NULL, &error), &error, "begin with wring_config_init");
}

static void a_newer_programs_settings_are_refused_only_if_set(void **state)
{
	struct {
		struct wring_config config;
		int newer[4];
	} program;
	struct wring_config out;
	struct wring_error error;

	(void)state;
	assert_int_equal(wring_config_init(&program.config, sizeof(program), NULL), WRING_OK);
	program.config.slots = 64;
	assert_int_equal(resolve(&out, &program.config, NULL, NULL), WRING_OK);
	assert_int_equal(out.slots, 64);
	assert_int_equal(out.size, sizeof(out));
	program.newer[2] = 1;
	check_refusal(resolve(&out, &program.config, NULL, &error), &error, "newer libwring");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment_refuses_an_unknown_variable_with_the_nearest),
		cmocka_unit_test(environment_leaves_site_variables_alone),
		cmocka_unit_test(the_first_of_two_equal_variables_counts),
		cmocka_unit_test(program_overrides_environment),
		cmocka_unit_test(set_to_choose_silences_the_environment),
		cmocka_unit_test(a_wrong_variable_is_refused_though_the_program_overrides_it),
		cmocka_unit_test(resolve_refuses_a_struct_without_init),
		cmocka_unit_test(a_newer_programs_settings_are_refused_only_if_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
