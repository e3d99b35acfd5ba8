/* fuzz.h: what the fuzz targets share: reading the input, and what must always hold. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "wring.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The part of the input that has not been used; at its end it gives zeros. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t input_byte(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

/* A digit of a text, or whatever the low bits say. */
static inline unsigned int input_digit(struct input *input)
{
	return input_byte(input) & 15;
}

static inline void input_bytes(struct input *input, void *to, size_t len)
{
	size_t n = len < input->left ? len : input->left;

	memset(to, 0, len);
	memcpy(to, input->at, n);
	input->at += n;
	input->left -= n;
}

/* A finding, which libFuzzer keeps. */
static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "fuzz: this does not hold: %s\n", what);
	abort();
}

/* The status has a name, the text is one line, perhaps an empty one that a peer has sent. */
static inline void must_be_an_error(const struct wring_error *error)
{
	size_t len = strnlen(error->text, sizeof(error->text));

	must(error->status != WRING_OK, "a failure has a status");
	must(strcmp(wring_strerror(error->status), "unknown") != 0, "the status is one of wring.h");
	must(len < sizeof(error->text), "the text ends");
	for (size_t i = 0; i < len; i++)
		must((unsigned char)error->text[i] >= ' ', "the text is one line");
}

/* What this rank has decided on itself also says what it is. */
static inline void must_be_named(const struct wring_error *error)
{
	must_be_an_error(error);
	must(error->text[0] != '\0', "the text is there");
}

#endif
