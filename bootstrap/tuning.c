/* tuning.c: reads the tuning file, line by line, and refuses what it does not understand. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/tuning.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bootstrap/config_fields.h"
#include "base/error.h"

enum {
	WORDS = 4, /* the longest line */
	SHOWN_PATH = 256,
	SHOWN_VALUE = 64,
	SHOWN_LIST = 128
};

static const char *const settings[] = {"segment_bytes", "eager_bytes"};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* A file half read. */
struct reading {
	struct tuning tuning;
	struct wring_config config;
	uint64_t seen; /* bits of the settings that it has made */
	char path[SHOWN_PATH];
	int line;
	bool (*candidate)(size_t i, const char **collective, const char **algorithm);
	struct wring_error *error;
};

static enum wring_status refuse(const struct reading *reading, const char *what, const char *value,
				const char *allowed)
{
	char shown[SHOWN_VALUE];

	config_show(value, strlen(value), shown, sizeof(shown));
	return error_set(reading->error, WRING_ERR_INVALID, "%s:%d: %s is \"%s\"; allowed: %s",
			 reading->path, reading->line, what, shown, allowed);
}

static enum wring_status refuse_words(const struct reading *reading, const char *first, int n,
				      const char *allowed)
{
	return error_set(reading->error, WRING_ERR_INVALID,
			 "%s:%d: a line that begins with %s has %s%d word%s; allowed: %s",
			 reading->path, reading->line, first, n > WORDS ? "more than " : "",
			 n > WORDS ? WORDS : n, n == 1 ? "" : "s", allowed);
}

/* --- one line ----------------------------------------------------------------------------- */

/* Cut line into words; gives how many, WORDS + 1 for too many. */
static int split(char *line, char *words[WORDS])
{
	static const char blanks[] = " \t\r";
	char *rest = NULL;
	int n = 0;

	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, blanks, &rest); word;
	     word = strtok_r(NULL, blanks, &rest)) {
		if (n == WORDS)
			return WORDS + 1;
		words[n++] = word;
	}
	return n;
}

/* The setting is checked in any case, but what the program or the environment says counts more. */
static enum wring_status read_setting(struct reading *reading, char *const *words, int n)
{
	const struct config_field *field = config_field_named(words[0]);
	struct wring_config parsed = reading->config;
	char shown[SHOWN_PATH + 64];
	enum wring_status status;

	if (n != 2)
		return refuse_words(reading, words[0], n, "the name and a number");
	(void)snprintf(shown, sizeof(shown), "%s:%d: %s", reading->path, reading->line, words[0]);
	if (reading->seen & config_field_bit(field))
		return error_set(reading->error, WRING_ERR_INVALID,
				 "%s is given a second time; allowed: once", shown);
	reading->seen |= config_field_bit(field);
	status = config_field_parse(field, &parsed, shown, words[1], reading->error);
	if (status)
		return status;
	if (!(reading->config.set_mask & config_field_bit(field)))
		reading->config = parsed;
	return WRING_OK;
}

static bool read_bytes(const char *word, uint64_t *bytes)
{
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*bytes = strtoull(word, &end, 10);
	return errno == 0 && *end == '\0' && *bytes <= INT64_MAX;
}

/* Put "|word" behind what stands in text, or "word" if nothing does. */
static void list_word(const char *word, char *text, size_t len)
{
	size_t used = strlen(text);

	(void)snprintf(text + used, len - used, "%s%s", used ? "|" : "", word);
}

/* "oneshot|ring": the algorithms of a collective; "": there is no such collective. */
static void list_algorithms(const struct reading *reading, const char *word, char *text, size_t len)
{
	const char *collective, *algorithm;

	text[0] = '\0';
	for (size_t i = 0; reading->candidate(i, &collective, &algorithm); i++)
		if (strcmp(collective, word) == 0)
			list_word(algorithm, text, len);
}

/* "allreduce|broadcast|segment_bytes|eager_bytes": what a line may begin with. */
static void list_first_words(const struct reading *reading, char *text, size_t len)
{
	const char *collective, *algorithm, *last = "";

	text[0] = '\0';
	for (size_t i = 0; reading->candidate(i, &collective, &algorithm); i++) {
		if (strcmp(collective, last) != 0)
			list_word(collective, text, len);
		last = collective;
	}
	for (int i = 0; i < SETTINGS; i++)
		list_word(settings[i], text, len);
}

/* The candidate of these names, in *choice. */
static bool find_candidate(const struct reading *reading, const char *collective,
			   const char *algorithm, struct tuning_choice *choice)
{
	for (size_t i = 0; reading->candidate(i, &choice->collective, &choice->algorithm); i++)
		if (strcmp(choice->collective, collective) == 0 &&
		    strcmp(choice->algorithm, algorithm) == 0)
			return true;
	return false;
}

/* COLLECTIVE <=|> BYTES ALGORITHM */
static enum wring_status read_choice(struct reading *reading, const char *algorithms,
				     char *const *words, int n)
{
	struct tuning_choice choice = {.bytes = 0};
	char all[2 * SHOWN_LIST], what[SHOWN_LIST];

	(void)snprintf(all, sizeof(all), "%s <=|> BYTES %s", words[0], algorithms);
	if (n != WORDS)
		return refuse_words(reading, words[0], n, all);
	if (strcmp(words[1], "<=") != 0 && strcmp(words[1], ">") != 0)
		return refuse(reading, "the comparison", words[1], "<=|>");
	if (!read_bytes(words[2], &choice.bytes))
		return refuse(reading, "the size", words[2], "0..9223372036854775807, in bytes");
	choice.above = words[1][0] == '>';
	(void)snprintf(what, sizeof(what), "the algorithm of %s", words[0]);
	if (!find_candidate(reading, words[0], words[3], &choice))
		return refuse(reading, what, words[3], algorithms);
	if (reading->tuning.n == TUNING_CHOICES)
		return error_set(reading->error, WRING_ERR_INVALID,
				 "%s:%d: one more choice of an algorithm; allowed: %d",
				 reading->path, reading->line, TUNING_CHOICES);
	reading->tuning.choices[reading->tuning.n++] = choice;
	return WRING_OK;
}

static enum wring_status read_line(struct reading *reading, char *line)
{
	char *words[WORDS], allowed[SHOWN_LIST];
	int n = split(line, words);

	if (n == 0)
		return WRING_OK;
	for (int i = 0; i < SETTINGS; i++)
		if (strcmp(settings[i], words[0]) == 0)
			return read_setting(reading, words, n);
	list_algorithms(reading, words[0], allowed, sizeof(allowed));
	if (*allowed)
		return read_choice(reading, allowed, words, n);
	list_first_words(reading, allowed, sizeof(allowed));
	return refuse(reading, "the first word", words[0], allowed);
}

/* --- the file ----------------------------------------------------------------------------- */

static enum wring_status read_lines(struct reading *reading, char *text, size_t len)
{
	enum wring_status status = WRING_OK;
	char *line = text;

	while (!status && line < text + len) {
		char *end = memchr(line, '\n', (size_t)(text + len - line));

		if (!end)
			end = text + len;
		*end = '\0';
		reading->line++;
		if (strlen(line) != (size_t)(end - line))
			return error_set(reading->error, WRING_ERR_INVALID,
					 "%s:%d: a zero byte; allowed: lines of text",
					 reading->path, reading->line);
		status = read_line(reading, line);
		line = end + 1;
	}
	return status;
}

/* Read all of it into text, which has room for TUNING_BYTES + 1. Returns errno. */
static int slurp(const char *path, char *text, size_t *len)
{
	FILE *file = fopen(path, "re");
	int native = 0;

	if (!file)
		return errno;
	*len = fread(text, 1, TUNING_BYTES + 1, file);
	if (ferror(file))
		native = errno;
	(void)fclose(file);
	return native;
}

/* FNV-1a: finds a forgotten copy of a file, not a forged one. */
static uint64_t hash(const char *bytes, size_t len)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		value = (value ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return value;
}

enum wring_status tuning_load(struct tuning *tuning, struct wring_config *config,
			      bool (*candidate)(size_t i, const char **collective,
						const char **algorithm),
			      struct wring_error *error)
{
	struct reading reading = {.config = *config, .candidate = candidate, .error = error};
	char text[TUNING_BYTES + 2];
	enum wring_status status;
	size_t len = 0;
	int native = 0;

	if (config->tuning[0])
		native = slurp(config->tuning, text, &len);
	config_show(config->tuning, strlen(config->tuning), reading.path, sizeof(reading.path));
	if (native)
		return error_native(error, WRING_ERR_INVALID, native,
				    "cannot read the tuning file \"%s\" (WRING_TUNING): %s",
				    reading.path, strerror(native));
	if (len > TUNING_BYTES)
		return error_set(error, WRING_ERR_INVALID,
				 "the tuning file \"%s\" (WRING_TUNING) has more than %d bytes; is "
				 "it the right one?",
				 reading.path, TUNING_BYTES);
	if (config->tuning[0])
		reading.tuning.hash = hash(text, len);
	status = read_lines(&reading, text, len);
	if (status)
		return status;
	*tuning = reading.tuning;
	*config = reading.config;
	return WRING_OK;
}
