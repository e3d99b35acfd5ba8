/* float16.h: the 16-bit floats as bits, to float and back, rounding to nearest even. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REDUCE_FLOAT16_H
#define COLL_REDUCE_FLOAT16_H

#include <stdint.h>
#include <string.h>

/*
 * All four are plain integer arithmetic with selects instead of branches: the same bits from
 * every compiler and processor, and loops over them vectorise. Every NaN becomes the same one,
 * positive and quiet.
 */

static inline float float_from_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint32_t bits_from_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/*
 * 1 sign, 5 exponent and 10 mantissa bits. Shifting them by 13 puts the mantissa in its place and
 * leaves the exponent 127 - 15 = 112 too small; infinity and NaN need 112 more to become 255.
 * A subnormal is read as 2^-14 + value, with the exponent of 2^-14, and then freed of the 2^-14.
 */
static inline float float_from_float16(uint16_t half)
{
	const uint32_t two_to_minus_14 = 113u << 23;
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t shifted = (uint32_t)(half & 0x7fff) << 13;
	uint32_t normal = shifted + (shifted < 0x7c00u << 13 ? 112u << 23 : 224u << 23);
	float subnormal =
		float_from_bits(shifted + two_to_minus_14) - float_from_bits(two_to_minus_14);
	uint32_t magnitude = shifted < 0x0400u << 13 ? bits_from_float(subnormal) : normal;

	return float_from_bits(sign | magnitude);
}

/*
 * Adding half of the last place that stays, less one if that place is even, rounds to nearest
 * even by carry, up to infinity. For a subnormal the processor rounds: adding 0.5, whose last
 * place is 2^-24 as the half's is, leaves the mantissa in the low bits.
 */
static inline uint16_t float16_from_float(float value)
{
	uint32_t bits = bits_from_float(value);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t even = magnitude >> 13 & 1;
	uint32_t normal = (magnitude - (112u << 23) + 0x0fff + even) >> 13;
	uint32_t subnormal = bits_from_float(float_from_bits(magnitude) + 0.5f) - (126u << 23);
	uint32_t finite = magnitude < 113u << 23 ? subnormal : normal;
	uint32_t number = magnitude < 143u << 23 ? finite : 0x7c00;

	return (uint16_t)(magnitude > 255u << 23 ? 0x7e00 : sign | number);
}

/* The upper half of a float. */
static inline float float_from_bfloat16(uint16_t half)
{
	return float_from_bits((uint32_t)half << 16);
}

/* Rounds by carry, as float16_from_float does. */
static inline uint16_t bfloat16_from_float(float value)
{
	uint32_t bits = bits_from_float(value);
	uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;

	return (uint16_t)((bits & 0x7fffffff) > 255u << 23 ? 0x7fc0 : rounded);
}

#endif
