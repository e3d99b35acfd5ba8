/* reduce_stream.c: reducing and copying with stores that go past the caches. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "coll/reduce.h"

/*
 * What is reduced into the L1 cache before it is streamed out. Larger blocks lose what streaming
 * wins: the processor cannot read the next block while it still writes this one.
 */
#define BLOCK_BYTES 512

#if defined(__SSE2__)

#include <emmintrin.h>

/* Whole cache lines, and what remains as usual; dst is aligned to 16 bytes or it all is usual. */
static void stream(void *dst, const void *src, size_t len)
{
	size_t lines = (uintptr_t)dst & 15 ? 0 : len / 64;
	const __m128i *from = src;
	__m128i *to = dst;

	for (size_t i = 0; i < lines; i++, from += 4, to += 4) {
		__m128i first = _mm_loadu_si128(from), second = _mm_loadu_si128(from + 1);
		__m128i third = _mm_loadu_si128(from + 2), fourth = _mm_loadu_si128(from + 3);

		_mm_stream_si128(to, first);
		_mm_stream_si128(to + 1, second);
		_mm_stream_si128(to + 2, third);
		_mm_stream_si128(to + 3, fourth);
	}
	memcpy(to, from, len - lines * 64);
}

/* Streamed stores are not ordered among others, not even by a release store, until here. */
static void stream_end(void)
{
	_mm_sfence();
}

#else

static void stream(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
}

static void stream_end(void)
{
}

#endif

void copy_stream(void *dst, const void *src, size_t len)
{
	if (len == 0)
		return;
	stream(dst, src, len);
	stream_end();
}

void reduce_two_stream(void *dst, void *dst2, const void *acc, const void *x, size_t count,
		       enum wring_datatype datatype, enum wring_op op)
{
	_Alignas(64) char block[BLOCK_BYTES];
	size_t datatype_size = wring_datatype_size(datatype);
	size_t len = count * datatype_size;

	for (size_t done = 0; done < len; done += BLOCK_BYTES) {
		size_t part = len - done < BLOCK_BYTES ? len - done : BLOCK_BYTES;

		reduce(block, (const char *)acc + done, (const char *)x + done,
		       part / datatype_size, datatype, op);
		stream((char *)dst + done, block, part);
		stream((char *)dst2 + done, block, part);
	}
	stream_end();
}
