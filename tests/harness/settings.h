/* settings.h: what the tests of settings share; after <cmocka.h>. */
#ifndef TESTS_HARNESS_SETTINGS_H
#define TESTS_HARNESS_SETTINGS_H

#include <stdio.h>
#include <string.h>

#include "bootstrap/config.h"

static inline struct wring_config fresh(void)
{
	struct wring_config config;

	assert_int_equal(wring_config_init(&config, sizeof(config), NULL), WRING_OK);
	return config;
}

/* The error is INVALID, one line, and contains all of expected. */
static inline void check_refusal(enum wring_status status, const struct wring_error *error,
				 const char *expected)
{
	assert_int_equal(status, WRING_ERR_INVALID);
	assert_int_equal(error->status, WRING_ERR_INVALID);
	if (!strstr(error->text, expected))
		fail_msg("\"%s\" is not in \"%s\"", expected, error->text);
	assert_null(strchr(error->text, '\n'));
}

/* Resolve with one variable (or none) in the environment. */
static inline enum wring_status resolve(struct wring_config *out,
					const struct wring_config *program, const char *variable,
					struct wring_error *error)
{
	char copy[512];
	char *environment[] = {(char[]){"HOME=/"}, copy, NULL};

	snprintf(copy, sizeof(copy), "%s", variable ? variable : "X=1");
	return config_resolve(out, program, environment, error);
}

static inline void check_environment_refused(const char *entry, const char *text)
{
	struct wring_config out;
	struct wring_error error;

	memset(&out, 7, sizeof(out));
	check_refusal(resolve(&out, NULL, entry, &error), &error, text);
	assert_int_equal(out.slots, 0x07070707);
}

#endif
