/* options_settle.c: which sizes are meant, and which options do not go together. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/gradients_plan.h"
#include "bench/wring-bench/options.h"

#include <limits.h>
#include <stdint.h>

enum { OVERLAP_BYTES = 16 << 20, TUNE_BYTES = 8 << 20 };

static int check_multiple(const char *option, size_t bytes, size_t width,
			  struct complaint *complaint)
{
	if (bytes % width == 0)
		return 0;
	return complaint_set(complaint, "--%s %zu: not a multiple of the datatype's %zu bytes",
			     option, bytes, width);
}

/* From --min to --max; the steps cannot overflow, for --max is far below SIZE_MAX. */
static int settle_range(struct options *options, size_t width, struct complaint *complaint)
{
	size_t size;

	if (options->min == SIZE_MAX)
		options->min = width > 4 ? width : 4;
	if (options->max == SIZE_MAX)
		options->max = (size_t)64 << 20;
	if (options->factor < 0)
		options->factor = 4;
	if (options->min == 0)
		return complaint_set(complaint, "--min 0: grows to nothing; try --sizes 0,%zu",
				     width);
	if (options->min > options->max)
		return complaint_set(complaint, "--min %zu: is above --max %zu", options->min,
				     options->max);
	if (check_multiple("min", options->min, width, complaint))
		return -1;
	for (size = options->min; size <= options->max; size *= (size_t)options->factor) {
		options->sizes[options->sizes_count++] = size;
		if (size > options->max / (size_t)options->factor)
			break;
	}
	return 0;
}

static int settle_one_size(struct options *options, size_t bytes)
{
	options->sizes_count = 1;
	options->sizes[0] = bytes;
	return 0;
}

static int settle_sizes(struct options *options, struct complaint *complaint)
{
	size_t width = wring_datatype_size(options->datatype);

	if (options->collective == BARRIER)
		return settle_one_size(options, 0);
	if (options->mode == MODE_GRADIENTS)
		return settle_one_size(options, gradients_room(width));
	if (options->mode == MODE_TUNE)
		return settle_one_size(options, TUNE_BYTES);
	if (options->mode == MODE_OVERLAP && !options->sizes_count)
		return settle_one_size(options, OVERLAP_BYTES);
	if (!options->sizes_count)
		return settle_range(options, width, complaint);
	for (size_t i = 0; i < options->sizes_count; i++)
		if (check_multiple("sizes", options->sizes[i], width, complaint))
			return -1;
	return 0;
}

static int check_average(const struct options *options, struct complaint *complaint)
{
	if (options->collective != ALLREDUCE || options->op != WRING_AVG)
		return 0;
	if (options->datatype < WRING_FLOAT16)
		return complaint_set(complaint, "--op avg: not of %s; use a float datatype, or sum",
				     wring_datatype_name(options->datatype));
	if (options->compare)
		return complaint_set(complaint, "--op avg: MPI has no such op; use --op sum, or "
						"leave out --compare");
	return 0;
}

static int check_comparable(const struct options *options, struct complaint *complaint)
{
	size_t width = wring_datatype_size(options->datatype);

	if (!options->compare)
		return 0;
	if (options->collective == ALLREDUCE &&
	    (options->datatype == WRING_FLOAT16 || options->datatype == WRING_BFLOAT16))
		return complaint_set(complaint,
				     "--datatype %s: MPI cannot reduce it; use another, "
				     "or leave out --compare",
				     wring_datatype_name(options->datatype));
	for (size_t i = 0; i < options->sizes_count; i++)
		if (options->sizes[i] / width > INT_MAX)
			return complaint_set(complaint,
					     "--compare mpi: MPI takes at most %d "
					     "elements, %zu bytes of %s are more; lower --max",
					     INT_MAX, options->sizes[i],
					     wring_datatype_name(options->datatype));
	return 0;
}

static int check_collective(const struct options *options, struct complaint *complaint)
{
	const char *name = options_collective_name(options->collective);

	if (options->collective != BROADCAST && (options->root || options->rotate_root))
		return complaint_set(complaint, "--%s: %s has no root; use --collective broadcast",
				     options->root ? "root" : "rotate-root", name);
	if (options->collective != ALLREDUCE && options->in_place)
		return complaint_set(complaint,
				     "--in-place: %s has only one buffer anyway; leave "
				     "it out",
				     name);
	if (options->collective == BARRIER && options->touch)
		return complaint_set(complaint, "--touch: a barrier has no buffer; leave it out");
	if (options->touch && options->batch > 1)
		return complaint_set(complaint,
				     "--batch %ld: --touch comes before every call; use "
				     "--batch 1",
				     options->batch);
	if (options->collective == BARRIER && options->check)
		return complaint_set(complaint, "--check: a barrier has no data; leave it out");
	return 0;
}

int options_settle(struct options *options, struct complaint *complaint)
{
	if (options_settle_mode(options, complaint) || check_collective(options, complaint) ||
	    settle_sizes(options, complaint) || check_average(options, complaint) ||
	    check_comparable(options, complaint))
		return -1;
	if (options->touch)
		options->batch = 1;
	return 0;
}

int options_check_ranks(const struct options *options, int size, struct complaint *complaint)
{
	if (options->limits && size == 1)
		return complaint_set(complaint, "--limits: a single rank has nobody to reach; "
						"leave it out");
	if (options->tune && size == 1)
		return complaint_set(complaint, "--tune: a single rank has no choice; give more "
						"ranks");
	if (options->root < size)
		return 0;
	return complaint_set(complaint, "--root %d: there are only ranks 0 to %d", options->root,
			     size - 1);
}

size_t options_longest(const struct options *options)
{
	size_t longest = 1;

	for (size_t i = 0; i < options->sizes_count; i++)
		if (options->sizes[i] > longest)
			longest = options->sizes[i];
	return longest;
}
