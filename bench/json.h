/* json.h: writes JSON: names, values, and what is between them. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct json {
	FILE *file; /* borrowed */
	bool begun; /* something is before the next value: a comma is due */
	int depth;
};

/* In an array the name is NULL, as it is for the outermost object. */
void json_open(struct json *json, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);		   /* '}' or ']' */
void json_text(struct json *json, const char *name, const char *text);
void json_integer(struct json *json, const char *name, long long value);
void json_real(struct json *json, const char *name, double value); /* null if not finite */
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

#endif
