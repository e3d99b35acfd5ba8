/* config_fields.c: finds a setting by its name, knows what it allows and reads it from text. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/config_fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
	NAME = 64,	 /* longer names are compared up to here */
	RULE = 128,	 /* the longest rule, with room */
	SHOWN_VALUE = 80 /* of a wrong value, this much is shown */
};

_Static_assert(CONFIG_FIELDS <= 64, "set_mask has 64 bits");

const struct config_field *config_field_named(const char *name)
{
	for (size_t i = 0; i < CONFIG_FIELDS; i++)
		if (strcmp(config_fields[i].name, name) == 0)
			return &config_fields[i];
	return NULL;
}

const struct config_field *config_field_of_variable(const char *variable)
{
	for (size_t i = 0; i < CONFIG_FIELDS; i++)
		if (strcmp(config_fields[i].variable, variable) == 0)
			return &config_fields[i];
	return NULL;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters must be inserted, left out or replaced (Levenshtein, one row at a time). */
static size_t typing_errors(const char *a, const char *b)
{
	size_t row[NAME + 1];
	size_t len_a = strnlen(a, NAME), len_b = strnlen(b, NAME);

	for (size_t j = 0; j <= len_b; j++)
		row[j] = j;
	for (size_t i = 0; i < len_a; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len_b; j++) {
			bool same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
			size_t replaced = diagonal + (same ? 0 : 1);

			diagonal = row[j + 1];
			row[j + 1] = least(replaced, least(row[j], diagonal) + 1);
		}
	}
	return row[len_b];
}

const struct config_field *config_field_nearest(const char *name)
{
	const struct config_field *nearest = &config_fields[0];

	for (size_t i = 1; i < CONFIG_FIELDS; i++)
		if (typing_errors(name, config_fields[i].name) < typing_errors(name, nearest->name))
			nearest = &config_fields[i];
	return nearest;
}

const struct config_field *config_field_nearest_variable(const char *variable)
{
	return config_field_nearest(variable + strlen("WRING_"));
}

uint64_t config_field_bit(const struct config_field *field)
{
	return UINT64_C(1) << (field - config_fields);
}

bool config_field_exists(const struct config_field *field, const struct wring_config *config)
{
	return field->offset + field->size <= config->size;
}

int *config_field_number(const struct config_field *field, struct wring_config *config)
{
	return (int *)(void *)config_field_string(field, config);
}

char *config_field_string(const struct config_field *field, struct wring_config *config)
{
	return (char *)config + field->offset;
}

static void join_words(const char *const *words, char *text, size_t len)
{
	int used = snprintf(text, len, "%s", words[0]);

	for (int i = 1; words[i] && (size_t)used < len; i++)
		used += snprintf(text + used, len - (size_t)used, "|%s", words[i]);
}

void config_field_rule(const struct config_field *field, char *text, size_t len)
{
	char extra[32] = "";

	switch (field->kind) {
	case CONFIG_WORD:
		join_words(field->words, text, len);
		return;
	case CONFIG_STRING:
		(void)snprintf(text, len, "at most %zu characters", field->size - 1);
		return;
	case CONFIG_NUMBER:
		if (field->multiple)
			(void)snprintf(extra, sizeof(extra), ", a multiple of %d", field->multiple);
		(void)snprintf(text, len, "%d..%d%s%s, or -1 to choose", field->min, field->max,
			       extra, field->power_of_two ? ", a power of two" : "");
		return;
	}
}

bool config_field_allows(const struct config_field *field, long value)
{
	if (value == -1)
		return true;
	if (value < field->min || value > field->max)
		return false;
	if (field->power_of_two && (value & (value - 1)))
		return false;
	return !field->multiple || !(value & (field->multiple - 1));
}

/* All of value must be a number; blanks, a plus sign or a tail make it none. */
static bool read_number(const char *value, long *number)
{
	char *end;

	if (!isdigit((unsigned char)value[value[0] == '-' ? 1 : 0]))
		return false;
	errno = 0;
	*number = strtol(value, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool read_word(const struct config_field *field, const char *value, long *number)
{
	for (long i = 0; field->words[i]; i++)
		if (strcmp(field->words[i], value) == 0) {
			*number = i;
			return true;
		}
	return false;
}

static bool store(const struct config_field *field, struct wring_config *config, const char *value)
{
	size_t len = strlen(value);
	long number = -1;

	switch (field->kind) {
	case CONFIG_STRING:
		if (len >= field->size)
			return false;
		memcpy(config_field_string(field, config), value, len + 1);
		return true;
	case CONFIG_WORD:
		if (!read_word(field, value, &number))
			return false;
		break;
	case CONFIG_NUMBER:
		if (!read_number(value, &number) || !config_field_allows(field, number))
			return false;
		break;
	}
	*config_field_number(field, config) = (int)number;
	return true;
}

void config_show(const char *text, size_t text_len, char *shown, size_t len)
{
	size_t n = least(strnlen(text, text_len), len - 1);

	for (size_t i = 0; i < n; i++)
		shown[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	shown[n] = '\0';
}

enum wring_status config_field_parse(const struct config_field *field, struct wring_config *config,
				     const char *shown, const char *value,
				     struct wring_error *error)
{
	char rule[RULE], wrong[SHOWN_VALUE];

	if (store(field, config, value))
		return WRING_OK;
	config_field_rule(field, rule, sizeof(rule));
	config_show(value, strlen(value), wrong, sizeof(wrong));
	return error_set(error, WRING_ERR_INVALID, "%s is \"%s\"; allowed: %s", shown, wrong, rule);
}

void config_fields_choose(struct wring_config *config)
{
	for (size_t i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];

		if (!config_field_exists(field, config))
			continue;
		if (field->kind == CONFIG_STRING)
			memset(config_field_string(field, config), 0, field->size);
		else
			*config_field_number(field, config) = -1;
	}
}
