/* pattern.c: inputs whose sum is known exactly, made block by block without a second copy. */
#include "tests/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 12 bits: 64 ranks' sum stays far below 2^24, where float32 stops being exact. */
static inline uint32_t value_of(uint64_t element, int rank, unsigned int salt)
{
	uint32_t x = (uint32_t)element * 0x9e3779b1u + (uint32_t)(element >> 32) * 0x85ebca6bu;

	x += (uint32_t)rank * 0xc2b2ae35u + salt * 0x27d4eb2fu;
	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	x ^= x >> 12;
	x *= 0x297a2d39u;
	return x >> 20;
}

static void add_float32(float *out, size_t first, size_t count, int rank, unsigned int salt)
{
	for (size_t i = 0; i < count; i++)
		out[i] += (float)(int32_t)value_of(first + i, rank, salt);
}

static void add_float64(double *out, size_t first, size_t count, int rank, unsigned int salt)
{
	for (size_t i = 0; i < count; i++)
		out[i] += (double)(int32_t)value_of(first + i, rank, salt);
}

static void add_int8(uint8_t *out, size_t first, size_t count, int rank, unsigned int salt)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (uint8_t)(out[i] + value_of(first + i, rank, salt));
}

static void add(void *out, enum wring_datatype datatype, size_t first, size_t count, int rank,
		unsigned int salt)
{
	if (datatype == WRING_FLOAT32) {
		add_float32(out, first, count, rank, salt);
	} else if (datatype == WRING_FLOAT64) {
		add_float64(out, first, count, rank, salt);
	} else if (datatype == WRING_INT8) {
		add_int8(out, first, count, rank, salt);
	} else {
		fprintf(stderr, "exact: no pattern for %s\n", wring_datatype_name(datatype));
		abort();
	}
}

void exact_pattern_fill(void *out, enum wring_datatype datatype, size_t first, size_t count,
			int rank, unsigned int salt)
{
	memset(out, 0, count * wring_datatype_size(datatype));
	add(out, datatype, first, count, rank, salt);
}

void exact_pattern_sum(void *out, enum wring_datatype datatype, size_t first, size_t count,
		       int size, unsigned int salt)
{
	memset(out, 0, count * wring_datatype_size(datatype));
	for (int rank = 0; rank < size; rank++)
		add(out, datatype, first, count, rank, salt);
}

/* splitmix64 */
static uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void exact_pattern_bytes(void *out, size_t bytes, unsigned int salt)
{
	unsigned char *p = out;

	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word = scramble(((uint64_t)salt << 32) + i);
		size_t left = bytes - i;

		memcpy(p + i, &word, left < sizeof(word) ? left : sizeof(word));
	}
}

uint32_t exact_random_next(struct exact_random *random)
{
	return (uint32_t)(scramble(random->state++) >> 32);
}

uint32_t exact_random_below(struct exact_random *random, uint32_t n)
{
	return (uint32_t)((uint64_t)exact_random_next(random) * n >> 32);
}
