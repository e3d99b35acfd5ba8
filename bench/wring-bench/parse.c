/* parse.c: numbers and sizes as people type them. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 32 };

int parse_number(const char *option, const char *text, long low, long high, long *out,
		 struct complaint *complaint)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < low || value > high)
		return complaint_set(complaint, "--%s '%s': give a whole number from %ld to %ld",
				     option, text, low, high);
	*out = value;
	return 0;
}

int parse_seconds(const char *option, const char *text, double low, double high, double *out,
		  struct complaint *complaint)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low && value <= high))
		return complaint_set(complaint, "--%s '%s': give seconds from %g to %g", option,
				     text, low, high);
	*out = value;
	return 0;
}

/* The power of two that a suffix stands for; -1 if it is none. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMGT";
	const char *letter = *suffix ? strchr(letters, toupper((unsigned char)*suffix)) : NULL;

	if (letter) {
		suffix++;
		if (*suffix == 'i')
			suffix++;
	}
	if (*suffix == 'B')
		suffix++;
	if (*suffix)
		return -1;
	return letter ? 10 * (int)(letter - letters + 1) : 0;
}

int parse_bytes(const char *option, const char *text, size_t *out, struct complaint *complaint)
{
	unsigned long long value;
	char *end;
	int shift;

	errno = 0;
	value = strtoull(text, &end, 10);
	shift = suffix_shift(end);
	if (!isdigit((unsigned char)text[0]) || shift < 0)
		return complaint_set(complaint, "--%s '%s': give bytes such as 4, 64K, 1MiB, 2G",
				     option, text);
	if (errno || value > (unsigned long long)(PTRDIFF_MAX / 2) >> shift)
		return complaint_set(complaint,
				     "--%s '%s': more than this machine can address; "
				     "give a smaller size",
				     option, text);
	*out = (size_t)value << shift;
	return 0;
}

int parse_choice(const char *option, const char *text, const char *const *names, int *out,
		 struct complaint *complaint)
{
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = i;
			return 0;
		}
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 i ? ", " : "", names[i]);
	}
	return complaint_set(complaint, "--%s '%s': give one of %s", option, text, list);
}

/* Levenshtein's distance, one row at a time. */
static int spelling_distance(const char *a, const char *b)
{
	int row[LONGEST_NAME + 1];
	int length = (int)strlen(b);

	if (length > LONGEST_NAME)
		return LONGEST_NAME;
	for (int j = 0; j <= length; j++)
		row[j] = j;
	for (int i = 0; a[i]; i++) {
		int diagonal = row[0];

		row[0] = i + 1;
		for (int j = 0; j < length; j++) {
			int replace = diagonal + (a[i] != b[j]);
			int insert = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = replace < insert ? replace : insert;
		}
	}
	return row[length];
}

const char *parse_nearest(const char *text, const char *const *names)
{
	const char *best = NULL;
	int least = (int)strlen(text) / 2 + 1;

	for (int i = 0; names[i]; i++) {
		int distance = spelling_distance(text, names[i]);

		if (distance < least) {
			least = distance;
			best = names[i];
		}
	}
	return best;
}
