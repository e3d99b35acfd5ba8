/* config_environment.c: the settings that WRING_* variables make, and those they only seem to. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/config_fields.h"

#include <string.h>

#include "base/error.h"

enum { LONGEST = 64 }; /* no variable of ours is as long; others are cut */

/* What environment modules set for every package they load; never a setting of ours. */
static const char *const site_endings[] = {
	"_ROOT", "_DIR", "_HOME", "_PATH", "_LIB", "_INC", "_VERSION", NULL,
};

static bool is_for_the_site(const char *variable, size_t len)
{
	for (int i = 0; site_endings[i]; i++) {
		size_t ending = strlen(site_endings[i]);

		if (len >= ending && memcmp(variable + len - ending, site_endings[i], ending) == 0)
			return true;
	}
	return false;
}

static enum wring_status refuse(const char *variable, struct wring_error *error)
{
	return error_set(error, WRING_ERR_INVALID,
			 "%s is no setting of Wring; did you mean %s? Correct it or unset it",
			 variable, config_field_nearest_variable(variable)->variable);
}

/* One setting. Where the environment holds it twice the first counts, as for getenv. */
static enum wring_status take(struct wring_config *config, const struct config_field *field,
			      const char *value, struct wring_error *error)
{
	enum wring_status status;

	if (config->set_mask & config_field_bit(field))
		return WRING_OK;
	status = config_field_parse(field, config, field->variable, value, error);
	if (!status)
		config->set_mask |= config_field_bit(field);
	return status;
}

/* One "NAME=value" whose name, len bytes of it, begins with WRING_. */
static enum wring_status read_entry(struct wring_config *config, const char *entry, size_t len,
				    struct wring_error *error)
{
	char variable[LONGEST];
	const struct config_field *field;

	config_show(entry, len, variable, sizeof(variable));
	field = config_field_of_variable(variable);
	if (field)
		return take(config, field, entry + len + 1, error);
	return is_for_the_site(entry, len) ? WRING_OK : refuse(variable, error);
}

enum wring_status config_environment(struct wring_config *config, char *const *environment,
				     struct wring_error *error)
{
	for (; environment && *environment; environment++) {
		const char *equals = strchr(*environment, '=');
		enum wring_status status;

		if (!equals || strncmp(*environment, "WRING_", strlen("WRING_")) != 0)
			continue;
		status = read_entry(config, *environment, (size_t)(equals - *environment), error);
		if (status)
			return status;
	}
	return WRING_OK;
}
