/* config_fingerprint.c: what must be equal on all ranks, in 32 bytes, and how it differs. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/config.h"

#include <stdio.h>
#include <string.h>

#include "bootstrap/config_fields.h"

_Static_assert(sizeof(struct config_fingerprint) == 32, "is sent as it stands: no padding");

/* The settings compared by value, and where the fingerprint has them. */
static const struct {
	const char *name;
	size_t offset;
} compared[] = {
	{"segment_bytes", offsetof(struct config_fingerprint, segment_bytes)},
	{"slots", offsetof(struct config_fingerprint, slots)},
	{"eager_bytes", offsetof(struct config_fingerprint, eager_bytes)},
	{"transport", offsetof(struct config_fingerprint, transport)},
	{"ring", offsetof(struct config_fingerprint, ring)},
};

void config_fingerprint(const struct wring_config *resolved, uint64_t tuning_hash,
			struct config_fingerprint *fingerprint)
{
	*fingerprint = (struct config_fingerprint){
		.version = (uint32_t)WRING_VERSION_MAJOR << 16 | WRING_VERSION_MINOR,
		.segment_bytes = resolved->segment_bytes,
		.slots = resolved->slots,
		.eager_bytes = resolved->eager_bytes,
		.transport = resolved->transport,
		.ring = resolved->ring,
		.tuning_hash = tuning_hash,
	};
}

/* A value as the user would write it. It came over the wire: a word may be out of range. */
static void print_value(const struct config_field *field, int32_t value, char *text, size_t len)
{
	if (field->kind == CONFIG_WORD && value >= field->min && value <= field->max)
		(void)snprintf(text, len, "%s", field->words[value]);
	else
		(void)snprintf(text, len, "%d", value);
}

static int32_t value_at(const struct config_fingerprint *fingerprint, size_t offset)
{
	int32_t value;

	memcpy(&value, (const char *)fingerprint + offset, sizeof(value));
	return value;
}

static bool setting_differs(const struct config_fingerprint *a, int rank_a,
			    const struct config_fingerprint *b, int rank_b, char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
		const struct config_field *field = config_field_named(compared[i].name);
		int32_t value_a = value_at(a, compared[i].offset);
		int32_t value_b = value_at(b, compared[i].offset);
		char text_a[32], text_b[32];

		if (value_a == value_b)
			continue;
		print_value(field, value_a, text_a, sizeof(text_a));
		print_value(field, value_b, text_b, sizeof(text_b));
		(void)snprintf(text, len, "%s is %s on rank %d and %s on rank %d: set %s alike",
			       field->name, text_a, rank_a, text_b, rank_b, field->variable);
		return true;
	}
	return false;
}

static void print_tuning(bool both, int rank_a, int rank_b, char *text, size_t len)
{
	if (both)
		(void)snprintf(text, len,
			       "the tuning files (WRING_TUNING) of rank %d and rank %d differ",
			       rank_a, rank_b);
	else
		(void)snprintf(text, len,
			       "rank %d has a tuning file and rank %d has none: set WRING_TUNING "
			       "alike",
			       rank_a, rank_b);
}

bool config_fingerprint_differs(const struct config_fingerprint *a, int rank_a,
				const struct config_fingerprint *b, int rank_b, char *text,
				size_t len)
{
	if (a->version != b->version) {
		(void)snprintf(text, len,
			       "Wring is %u.%u on rank %d and %u.%u on rank %d: run the same "
			       "libwring everywhere",
			       a->version >> 16, a->version & 0xffff, rank_a, b->version >> 16,
			       b->version & 0xffff, rank_b);
		return true;
	}
	if (setting_differs(a, rank_a, b, rank_b, text, len))
		return true;
	if (a->tuning_hash == b->tuning_hash)
		return false;
	print_tuning(a->tuning_hash && b->tuning_hash, a->tuning_hash ? rank_a : rank_b,
		     a->tuning_hash ? rank_b : rank_a, text, len);
	return true;
}
