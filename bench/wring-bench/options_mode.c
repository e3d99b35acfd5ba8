/* options_mode.c: measurements other than a table over sizes, and options that clash with them. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/options.h"

#include <stdint.h>
#include <stdlib.h>

static const char *const mode_names[] = {NULL, "gradients", "overlap", "tune"};

/* An option, whether it was given, and the modes (bit 1 << mode) in which it makes no sense. */
struct clash {
	const char *option;
	bool given;
	unsigned int modes;
};

/* What is to be found must not be given, by the environment neither. */
static bool is_set(int setting, const char *variable)
{
	return setting >= 0 || getenv(variable);
}

static int check_clashes(const struct options *options, struct complaint *complaint)
{
	const unsigned int gradients = 1U << MODE_GRADIENTS;
	const unsigned int overlap = 1U << MODE_OVERLAP;
	const unsigned int tune = 1U << MODE_TUNE;
	const unsigned int all = gradients | overlap | tune;
	const struct clash clashes[] = {
		{"collective", options->collective != ALLREDUCE, all},
		{"sizes", options->sizes_count > 0, gradients | tune},
		{"min", options->min != SIZE_MAX, all},
		{"max", options->max != SIZE_MAX, all},
		{"factor", options->factor >= 0, all},
		{"batch", options->batch >= 0, all},
		{"touch", options->touch, all},
		{"nonblocking", options->nonblocking, all},
		{"check", options->check, overlap | tune},
		{"compare", options->compare, tune},
		{"json", options->json != NULL, tune},
		{"set tuning", options->config.tuning[0] != '\0', tune},
		{"set segment_bytes", is_set(options->config.segment_bytes, "WRING_SEGMENT_BYTES"),
		 tune},
		{"set eager_bytes", is_set(options->config.eager_bytes, "WRING_EAGER_BYTES"), tune},
		{"set progress", options->config.progress >= 0, overlap},
		{"limits", options->limits, all},
		{"csv", options->csv != NULL, all},
		{"plot", options->plot != NULL, all},
	};

	for (size_t i = 0; i < sizeof(clashes) / sizeof(clashes[0]); i++)
		if (clashes[i].given && clashes[i].modes & 1U << options->mode)
			return complaint_set(complaint, "--%s: does not go with --%s; leave it out",
					     clashes[i].option, mode_names[options->mode]);
	return 0;
}

static int choose_mode(struct options *options, enum mode mode, struct complaint *complaint)
{
	if (options->mode != MODE_SIZES)
		return complaint_set(complaint,
				     "--%s: --%s is another measurement; give one of the two",
				     mode_names[mode], mode_names[options->mode]);
	options->mode = mode;
	return 0;
}

int options_settle_mode(struct options *options, struct complaint *complaint)
{
	if (options->gradients && choose_mode(options, MODE_GRADIENTS, complaint))
		return -1;
	if (options->overlap && choose_mode(options, MODE_OVERLAP, complaint))
		return -1;
	if (options->tune && choose_mode(options, MODE_TUNE, complaint))
		return -1;
	if (options->mode == MODE_SIZES)
		return 0;
	if (check_clashes(options, complaint))
		return -1;
	options->compare = options->mode != MODE_TUNE;
	if (options->mode == MODE_OVERLAP)
		options->config.progress = WRING_PROGRESS_NONE; /* the thread gets its own */
	return 0;
}
