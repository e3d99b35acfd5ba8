/* config.c: a program's settings, and what they come to with the environment and the defaults. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/config.h"

#include <string.h>

#include "bootstrap/config_fields.h"
#include "base/error.h"

/* The struct of the first release. Fields are appended behind it; none of these ever moves. */
enum { FIRST_SIZE = offsetof(struct wring_config, log_ctx) + sizeof(void *) };

/*
 * A newer program's struct is larger than ours: the rest becomes zero, and must still be zero
 * when the settings are read (see check_rest), so that no setting is silently without effect.
 */
enum wring_status wring_config_init(struct wring_config *config, size_t size,
				    struct wring_error *error)
{
	if (!config)
		return error_set(error, WRING_ERR_INVALID, "wring_config_init: config is NULL");
	if (size < FIRST_SIZE)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_config_init: size is %zu, smaller than the %d bytes of any "
				 "struct wring_config; pass sizeof(struct wring_config)",
				 size, FIRST_SIZE);
	memset(config, 0, size);
	config->size = size;
	config_fields_choose(config);
	return WRING_OK;
}

static enum wring_status check_size(const struct wring_config *config, const char *who,
				    struct wring_error *error)
{
	if (config->size >= FIRST_SIZE)
		return WRING_OK;
	return error_set(error, WRING_ERR_INVALID,
			 "%s: config->size is %zu; begin with wring_config_init(config, "
			 "sizeof(struct wring_config), error)",
			 who, config->size);
}

enum wring_status wring_config_set(struct wring_config *config, const char *name, const char *value,
				   struct wring_error *error)
{
	const struct config_field *field;
	enum wring_status status;
	char shown[64];

	if (!config)
		return error_set(error, WRING_ERR_INVALID, "wring_config_set: config is NULL");
	if (!name || !value)
		return error_set(error, WRING_ERR_INVALID, "wring_config_set: %s is NULL",
				 name ? "value" : "name");
	status = check_size(config, "wring_config_set", error);
	if (status)
		return status;
	field = config_field_named(name);
	if (!field || !config_field_exists(field, config)) {
		config_show(name, strlen(name), shown, sizeof(shown));
		return error_set(error, WRING_ERR_INVALID,
				 "wring_config_set: \"%s\" is no setting; did you mean \"%s\"?",
				 shown, config_field_nearest(name)->name);
	}
	status = config_field_parse(field, config, name, value, error);
	if (!status)
		config->set_mask |= config_field_bit(field);
	return status;
}

/* Bytes behind our own struct belong to settings that this library cannot obey. */
static enum wring_status check_rest(const struct wring_config *program, struct wring_error *error)
{
	const char *bytes = (const char *)program;

	for (size_t i = sizeof(*program); i < program->size; i++)
		if (bytes[i])
			return error_set(error, WRING_ERR_INVALID,
					 "config has a setting (at byte %zu) that this library, "
					 "Wring %d.%d, does not know; run with a newer libwring",
					 i, WRING_VERSION_MAJOR, WRING_VERSION_MINOR);
	return WRING_OK;
}

static enum wring_status check_number(const struct config_field *field, int value,
				      struct wring_error *error)
{
	char rule[128];

	if (config_field_allows(field, value))
		return WRING_OK;
	config_field_rule(field, rule, sizeof(rule));
	if (field->kind == CONFIG_WORD)
		return error_set(error, WRING_ERR_INVALID,
				 "config->%s is %d; allowed: %d..%d (%s), or -1 to choose",
				 field->name, value, field->min, field->max, rule);
	return error_set(error, WRING_ERR_INVALID, "config->%s is %d; allowed: %s", field->name,
			 value, rule);
}

static enum wring_status check_string(const struct config_field *field, const char *value,
				      struct wring_error *error)
{
	if (memchr(value, '\0', field->size))
		return WRING_OK;
	return error_set(error, WRING_ERR_INVALID,
			 "config->%s has no end within its %zu bytes; allowed: at most %zu "
			 "characters",
			 field->name, field->size, field->size - 1);
}

/* Copy one field of the program's, if it is set. */
static enum wring_status take(struct wring_config *resolved, struct wring_config *program,
			      const struct config_field *field, struct wring_error *error)
{
	char *value = config_field_string(field, program);
	bool string = field->kind == CONFIG_STRING;
	bool chosen = string ? value[0] : *config_field_number(field, program) != -1;
	enum wring_status status;

	if (!chosen && !(program->set_mask & config_field_bit(field)))
		return WRING_OK;
	status = string ? check_string(field, value, error)
			: check_number(field, *config_field_number(field, program), error);
	if (status)
		return status;
	memcpy(config_field_string(field, resolved), value, field->size);
	resolved->set_mask |= config_field_bit(field);
	return WRING_OK;
}

static enum wring_status take_all(struct wring_config *resolved, const struct wring_config *program,
				  struct wring_error *error)
{
	struct wring_config known = {0};
	enum wring_status status = check_size(program, "config", error);

	if (!status)
		status = check_rest(program, error);
	if (status)
		return status;
	memcpy(&known, program, program->size < sizeof(known) ? program->size : sizeof(known));
	for (size_t i = 0; i < CONFIG_FIELDS && !status; i++)
		if (config_field_exists(&config_fields[i], &known))
			status = take(resolved, &known, &config_fields[i], error);
	resolved->log = known.log;
	resolved->log_ctx = known.log_ctx;
	return status;
}

static void choose_defaults(struct wring_config *resolved)
{
	for (size_t i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];

		if (field->kind != CONFIG_STRING && *config_field_number(field, resolved) == -1)
			*config_field_number(field, resolved) = field->fallback;
	}
}

enum wring_status config_resolve(struct wring_config *out, const struct wring_config *program,
				 char *const *environment, struct wring_error *error)
{
	struct wring_config resolved = {.size = sizeof(resolved)};
	enum wring_status status;

	config_fields_choose(&resolved);
	status = config_environment(&resolved, environment, error);
	if (!status && program)
		status = take_all(&resolved, program, error);
	if (status)
		return status;
	choose_defaults(&resolved);
	*out = resolved;
	return WRING_OK;
}

int config_qp_timeout(int qp_retry, int peer_timeout_ms)
{
	int64_t ns = (int64_t)peer_timeout_ms * 900000; /* 0.9 of it */
	int t = 1;

	while (t < 31 && (INT64_C(4096) << (t + 1)) * (qp_retry + 1) <= ns)
		t++;
	return t;
}
