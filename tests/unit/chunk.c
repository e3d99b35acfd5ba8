/* chunk.c: proves the ring arithmetic and the slicing into chunks and segments. */
/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>

#include "coll/ring.h"

static void check_chunks(size_t count, size_t datatype_size, int size)
{
	size_t line = 64 / datatype_size;
	size_t end = 0;
	size_t full = chunk_slice(count, datatype_size, size, 0).count;

	for (int chunk = 0; chunk < size; chunk++) {
		struct slice slice = chunk_slice(count, datatype_size, size, chunk);

		assert_true(slice.offset == end);
		assert_true(slice.count <= full && slice.count <= count - end);
		end += slice.count;
		assert_true(end == count || slice.count == full);
		assert_true(end == count || (full & (line - 1)) == 0);
	}
	assert_true(end == count);
	assert_true(full >= count / (size_t)size && full - count / (size_t)size <= line);
}

static void chunks_cover_the_vector_exactly_once(void **state)
{
	(void)state;
	for (size_t datatype_size = 1; datatype_size <= 8; datatype_size *= 2)
		for (int size = 1; size <= 67; size++)
			for (size_t count = 0; count < 2000; count += count < 300 ? 1 : 41)
				check_chunks(count, datatype_size, size);
}

static void chunks_of_the_largest_counts_do_not_overflow(void **state)
{
	(void)state;
	for (size_t datatype_size = 1; datatype_size <= 8; datatype_size *= 2)
		for (int size = 1; size <= 67; size++)
			for (size_t less = 0; less < 200; less++)
				check_chunks(SIZE_MAX / datatype_size - less, datatype_size, size);
}

static void chunks_of_the_largest_ring_do_not_overflow(void **state)
{
	struct slice slice = chunk_slice(SIZE_MAX, 1, INT_MAX, INT_MAX - 1);

	(void)state;
	assert_true(slice.offset == SIZE_MAX && slice.count == 0);
}

static void chunks_begin_where_the_public_header_says(void **state)
{
	struct slice slice = chunk_slice(100, 4, 3, 1);

	(void)state;
	/* ceil(100 / 3) = 34 floats, in whole lines of 16: 48. */
	assert_int_equal(slice.offset, 48);
	assert_int_equal(slice.count, 48);
	slice = chunk_slice(100, 4, 3, 2);
	assert_int_equal(slice.offset, 96);
	assert_int_equal(slice.count, 4);
	slice = chunk_slice(10, 4, 3, 2);
	assert_int_equal(slice.offset, 10);
	assert_int_equal(slice.count, 0);
}

static void segments_cover_the_chunk_exactly_once(void **state)
{
	(void)state;
	for (size_t count = 0; count < 100; count++) {
		for (size_t elems = 1; elems < 110; elems++) {
			struct slice chunk = {.offset = 1000, .count = count};
			size_t end = chunk.offset;

			for (size_t i = 0; i < segment_count(chunk, elems); i++) {
				struct slice segment = segment_slice(chunk, elems, i);

				assert_int_equal(segment.offset, end);
				assert_in_range(segment.count, 1, elems);
				end += segment.count;
			}
			assert_int_equal(end, chunk.offset + count);
		}
	}
}

static void ring_steps_undo_each_other(void **state)
{
	(void)state;
	for (int size = 1; size < 20; size++) {
		for (int position = 0; position < size; position++) {
			int walked = position;

			assert_int_equal(ring_prev(ring_next(position, size), size), position);
			for (int steps = 0; steps < 3 * size; steps++) {
				assert_int_equal(ring_back(position, steps, size), walked);
				walked = ring_prev(walked, size);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_cover_the_vector_exactly_once),
		cmocka_unit_test(chunks_of_the_largest_counts_do_not_overflow),
		cmocka_unit_test(chunks_of_the_largest_ring_do_not_overflow),
		cmocka_unit_test(chunks_begin_where_the_public_header_says),
		cmocka_unit_test(segments_cover_the_chunk_exactly_once),
		cmocka_unit_test(ring_steps_undo_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
