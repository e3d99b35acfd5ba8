/* pattern.c: inputs whose result is known exactly, in every datatype and in any order. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/pattern.h"

#include <stdlib.h>
#include <string.h>

/*
 * All values are small whole numbers, and so are all partial results:
 *
 *   sum   -3..3 on at most 64 ranks, 0 on the others: never beyond the 8 bits of a bfloat16
 *   avg   as many +1 as -1, on top of the average itself, which is the same on all ranks
 *   prod  1 or -1, on one rank 3 or -3
 *   min, max, broadcast  0..100, whole numbers in each datatype, the unsigned ones too
 */
enum { RANKS_IN_SUM = 64, LARGEST_AVERAGE = 4 };

int pattern_alloc(struct pattern *pattern, enum wring_datatype datatype,
		  struct complaint *complaint)
{
	pattern->width = wring_datatype_size(datatype);
	pattern->input = malloc(PATTERN_PERIOD * pattern->width);
	pattern->expected = malloc(PATTERN_PERIOD * pattern->width);
	if (pattern->input && pattern->expected)
		return 0;
	return complaint_set(complaint, "no memory for the %zu bytes of a pattern",
			     2 * PATTERN_PERIOD * pattern->width);
}

void pattern_free(struct pattern *pattern)
{
	free(pattern->input);
	free(pattern->expected);
	pattern->input = NULL;
	pattern->expected = NULL;
}

static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352dU;
	x = (x ^ x >> 15) * 0x846ca68bU;
	return x ^ x >> 16;
}

/* The rank's turn at this element: which of them does what moves on from element to element. */
static int turn(int rank, int size, uint32_t element)
{
	return (int)(((uint32_t)rank + element) % (uint32_t)size);
}

/* Whether size ranks of |values| <= LARGEST_AVERAGE + 1 fit into the datatype exactly. */
static int average(enum wring_datatype datatype, int size, uint32_t element)
{
	int exact = datatype == WRING_BFLOAT16 ? 256 : datatype == WRING_FLOAT16 ? 2048 : 1 << 24;
	int room = exact / size - 1;

	if (room > LARGEST_AVERAGE)
		room = LARGEST_AVERAGE;
	return room > 0 ? (int)(element % (uint32_t)(room + 1)) : 0;
}

static int value_to_sum(int rank, int size, uint32_t element)
{
	uint32_t random = mix(element * 2654435761U + (uint32_t)rank);

	return turn(rank, size, element) < RANKS_IN_SUM ? (int)(random % 7) - 3 : 0;
}

static int value_to_average(enum wring_datatype datatype, int rank, int size, uint32_t element)
{
	int place = turn(rank, size, element);
	int swing = place % 2 ? -1 : 1;

	if (place == size - 1 && size % 2)
		swing = 0;
	return average(datatype, size, element) + swing;
}

static int value_to_multiply(int rank, int size, uint32_t element)
{
	int sign = mix(element + (uint32_t)rank * 40503U) % 2 ? -1 : 1;

	return sign * (turn(rank, size, element) == 0 ? 3 : 1);
}

static int value_of(const struct options *options, int rank, int size, uint32_t element)
{
	if (options->collective == ALLREDUCE) {
		if (options->op == WRING_SUM)
			return value_to_sum(rank, size, element);
		if (options->op == WRING_AVG)
			return value_to_average(options->datatype, rank, size, element);
		if (options->op == WRING_PROD)
			return value_to_multiply(rank, size, element);
	}
	return (int)(mix(element * 31U + (uint32_t)rank) % 101);
}

static int64_t combine(enum wring_op op, int64_t a, int64_t b)
{
	switch (op) {
	case WRING_SUM:
	case WRING_AVG:
		return a + b;
	case WRING_PROD:
		return a * b;
	case WRING_MIN:
		return a < b ? a : b;
	case WRING_MAX:
		return a > b ? a : b;
	}
	return 0;
}

static int64_t expected_of(const struct options *options, int size, int root, uint32_t element)
{
	int64_t result;

	if (options->collective != ALLREDUCE)
		return value_of(options, root, size, element);
	if (options->op == WRING_AVG)
		return average(options->datatype, size, element);
	result = value_of(options, 0, size, element);
	for (int rank = 1; rank < size; rank++)
		result = combine(options->op, result, value_of(options, rank, size, element));
	return result;
}

/* Whole numbers up to 2048 are normal in a half, with no bit lost. */
static uint16_t float16_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (value == 0.0F)
		return 0;
	return (uint16_t)((bits >> 16 & 0x8000U) | ((bits >> 13 & 0x3ffffU) - (112U << 10)));
}

static uint16_t bfloat16_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)(bits >> 16);
}

static void encode(enum wring_datatype datatype, int64_t value, unsigned char *to)
{
	float single = (float)value;
	double precise = (double)value;
	uint16_t half = datatype == WRING_FLOAT16 ? float16_bits(single) : bfloat16_bits(single);
	int8_t byte = (int8_t)value;
	int32_t word = (int32_t)value;

	switch (datatype) {
	case WRING_INT8:
	case WRING_UINT8:
		memcpy(to, &byte, sizeof(byte));
		break;
	case WRING_INT32:
	case WRING_UINT32:
		memcpy(to, &word, sizeof(word));
		break;
	case WRING_INT64:
	case WRING_UINT64:
		memcpy(to, &value, sizeof(value));
		break;
	case WRING_FLOAT16:
	case WRING_BFLOAT16:
		memcpy(to, &half, sizeof(half));
		break;
	case WRING_FLOAT32:
		memcpy(to, &single, sizeof(single));
		break;
	case WRING_FLOAT64:
		memcpy(to, &precise, sizeof(precise));
		break;
	}
}

static int64_t steady_of(const struct options *options, int rank, int size, uint32_t element)
{
	if (options->collective == ALLREDUCE && options->op == WRING_SUM)
		return 0;
	if (options->collective == ALLREDUCE && options->op == WRING_PROD)
		return 1;
	return value_of(options, rank, size, element);
}

void pattern_make(struct pattern *pattern, const struct options *options, enum pattern_kind kind,
		  int rank, int size, int root, uint32_t salt)
{
	for (uint32_t i = 0; i < PATTERN_PERIOD; i++) {
		uint32_t element = mix(i + salt * PATTERN_PERIOD);
		unsigned char *input = pattern->input + i * pattern->width;
		unsigned char *expected = pattern->expected + i * pattern->width;
		int64_t value;

		if (kind == PATTERN_STEADY)
			value = steady_of(options, rank, size, element);
		else
			value = value_of(options, rank, size, element);
		encode(options->datatype, value, input);
		encode(options->datatype, expected_of(options, size, root, element), expected);
	}
}

void pattern_fill(const struct pattern *pattern, void *buf, size_t count)
{
	char *to = buf;

	while (count) {
		size_t now = count < PATTERN_PERIOD ? count : PATTERN_PERIOD;

		memcpy(to, pattern->input, now * pattern->width);
		to += now * pattern->width;
		count -= now;
	}
}

/* Count the wrong ones of one period. */
static size_t wrong_in_period(const struct pattern *pattern, const char *buf, size_t count,
			      size_t *first)
{
	size_t width = pattern->width;
	size_t wrong = 0;

	for (size_t i = count; i-- > 0;) {
		if (memcmp(buf + i * width, pattern->expected + i * width, width) == 0)
			continue;
		wrong++;
		*first = i;
	}
	return wrong;
}

size_t pattern_wrong(const struct pattern *pattern, const void *buf, size_t count, size_t *first)
{
	const char *from = buf;
	size_t wrong = 0;

	for (size_t done = 0; done < count; done += PATTERN_PERIOD) {
		size_t left = count - done;
		size_t now = left < PATTERN_PERIOD ? left : PATTERN_PERIOD;
		size_t within = 0;
		size_t here;

		if (memcmp(from, pattern->expected, now * pattern->width) != 0) {
			here = wrong_in_period(pattern, from, now, &within);
			if (!wrong)
				*first = done + within;
			wrong += here;
		}
		from += now * pattern->width;
	}
	return wrong;
}
