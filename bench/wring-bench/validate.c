/* validate.c: every element on every rank against the result computed here. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/validate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 2, SPOILT = 0xa5 };

static void format_hex(char text[17], const unsigned char *bytes, size_t width)
{
	for (size_t i = 0; i < width; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[width - 1 - i]);
}

/* In one piece, for all ranks may have something to say; once, for so may all sizes. */
static void describe(const struct work *work, const struct pattern *pattern, size_t element)
{
	static bool described;
	const unsigned char *recv = work->recv;
	char got[17], expected[17];

	if (described)
		return;
	described = true;
	format_hex(got, recv + element * pattern->width, pattern->width);
	format_hex(expected, pattern->expected + element % PATTERN_PERIOD * pattern->width,
		   pattern->width);
	fprintf(stderr, "wring-bench: rank %d: %zu bytes: element %zu is 0x%s, expected 0x%s\n",
		work->rank, work_bytes(work), element, got, expected);
}

static size_t validate_call(struct work *work, struct pattern *pattern, uint32_t salt)
{
	int root = work_root(work, SYSTEM_WRING);
	size_t first = 0;
	size_t wrong;

	pattern_make(pattern, work->options, PATTERN_EXACT, work->rank, work->size, root, salt);
	memset(work->recv, SPOILT, work_bytes(work));
	if (work->options->collective == ALLREDUCE || work->rank == root)
		pattern_fill(pattern, work_input(work), work->count);
	work_run(work, SYSTEM_WRING, 1);
	wrong = pattern_wrong(pattern, work->recv, work->count, &first);
	if (wrong)
		describe(work, pattern, first);
	return wrong;
}

uint64_t validate(struct work *work, struct pattern *pattern, uint32_t salt)
{
	uint64_t wrong = 0;
	uint64_t total = 0;

	for (uint32_t i = 0; i < CALLS; i++)
		wrong += validate_call(work, pattern, salt * CALLS + i);
	MPI_Allreduce(&wrong, &total, 1, MPI_UINT64_T, MPI_SUM, work->mpi);
	return total;
}
