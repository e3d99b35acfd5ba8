/* config_fields.h: the one table of settings; parsing, ranges, texts and manual follow it. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_CONFIG_FIELDS_H
#define BOOTSTRAP_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wring.h"

enum config_kind {
	CONFIG_NUMBER, /* an int; -1 is "choose" */
	CONFIG_WORD,   /* an int that is an enum; -1 is "choose" */
	CONFIG_STRING  /* a char array; "" is "choose" */
};

enum { CONFIG_FIELDS = 19 };

/* One setting. Its place in the table is its bit in set_mask. */
struct config_field {
	const char *name;	  /* "segment_bytes" */
	const char *variable;	  /* "WRING_SEGMENT_BYTES" */
	const char *meaning;	  /* one line for the manual */
	const char *const *words; /* WORD: the words for 0, 1, ..., then NULL */
	size_t offset;		  /* in struct wring_config */
	size_t size;		  /* bytes there */
	enum config_kind kind;
	int min, max;	   /* NUMBER, WORD */
	int fallback;	   /* NUMBER, WORD: the default; -1 is left to who knows the devices */
	int multiple;	   /* NUMBER: 0, or a power of two that must divide it */
	bool power_of_two; /* NUMBER: it must be one */
};

extern const struct config_field config_fields[CONFIG_FIELDS];

/* The setting of that name, or of that variable; NULL if there is none. */
const struct config_field *config_field_named(const char *name);
const struct config_field *config_field_of_variable(const char *variable);

/* The setting whose name, or whose variable, takes the fewest typing errors to become text. */
const struct config_field *config_field_nearest(const char *name);
const struct config_field *config_field_nearest_variable(const char *variable);

/* The field's bit in set_mask. */
uint64_t config_field_bit(const struct config_field *field);

/* True if the whole field lies within the size that the struct's program knows. */
bool config_field_exists(const struct config_field *field, const struct wring_config *config);

/* Where a NUMBER or WORD, or a STRING, is. */
int *config_field_number(const struct config_field *field, struct wring_config *config);
char *config_field_string(const struct config_field *field, struct wring_config *config);

/* What is allowed, in words: "2..1024, a power of two, or -1 to choose"; "auto|shm|verbs". */
void config_field_rule(const struct config_field *field, char *text, size_t len);

/* True if a NUMBER or WORD may have this value; -1 always. */
bool config_field_allows(const struct config_field *field, long value);

/* Write the first text_len bytes of text as one line of at most len bytes for an error's text. */
void config_show(const char *text, size_t text_len, char *shown, size_t len);

/*
 * Set the field from text, strictly: no blanks, nothing after the number. INVALID: the error's
 * text calls the field shown (its name or variable) and has the value and the rule.
 */
enum wring_status config_field_parse(const struct config_field *field, struct wring_config *config,
				     const char *shown, const char *value,
				     struct wring_error *error);

/* Set every field that lies within config->size to "choose". */
void config_fields_choose(struct wring_config *config);

/*
 * Set the fields of config that the WRING_* variables speak of, with their bits in set_mask.
 * INVALID as config_resolve says; config may then be half set.
 */
enum wring_status config_environment(struct wring_config *config, char *const *environment,
				     struct wring_error *error);

#endif
