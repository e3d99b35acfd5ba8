/* json.c: writes JSON: names, values, and what is between them. */
/* SPDX-License-Identifier: MIT */
#include "bench/json.h"

#include <math.h>

enum { DEEPEST_OF_OWN_LINE = 2 };

/* Bytes of the UTF-8 character at text; 0 if it is none. */
static int utf8_length(const unsigned char *text)
{
	int length = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : *text >= 0xc2 ? 2 : 0;

	if (*text < 0x80)
		return 1;
	for (int i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return *text > 0xf4 ? 0 : length;
}

static void put_string(FILE *file, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	putc('"', file);
	while (*c) {
		int length = utf8_length(c);

		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20 || length == 0)
			fprintf(file, "\\u%04x", *c);
		else
			fwrite(c, 1, (size_t)length, file);
		c += length ? length : 1;
	}
	putc('"', file);
}

/* The outer levels have a line for each value. */
static void put_separator(struct json *json)
{
	if (json->begun)
		putc(',', json->file);
	if (json->depth > 0 && json->depth <= DEEPEST_OF_OWN_LINE)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	else if (json->begun)
		putc(' ', json->file);
}

static void put_name(struct json *json, const char *name)
{
	put_separator(json);
	json->begun = true;
	if (!name)
		return;
	put_string(json->file, name);
	fputs(": ", json->file);
}

void json_open(struct json *json, const char *name, char bracket)
{
	put_name(json, name);
	putc(bracket, json->file);
	json->begun = false;
	json->depth++;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->depth < DEEPEST_OF_OWN_LINE)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	putc(bracket, json->file);
	json->begun = true;
}

void json_text(struct json *json, const char *name, const char *text)
{
	put_name(json, name);
	put_string(json->file, text);
}

void json_integer(struct json *json, const char *name, long long value)
{
	put_name(json, name);
	fprintf(json->file, "%lld", value);
}

void json_real(struct json *json, const char *name, double value)
{
	put_name(json, name);
	if (isfinite(value))
		fprintf(json->file, "%.9g", value);
	else
		fputs("null", json->file);
}

void json_bool(struct json *json, const char *name, bool value)
{
	put_name(json, name);
	fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *name)
{
	put_name(json, name);
	fputs("null", json->file);
}
