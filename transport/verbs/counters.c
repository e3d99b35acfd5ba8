/* counters.c: reads the port's hw_counters, to tell loss from everything else. */
/* SPDX-License-Identifier: MIT */
#include "transport/verbs/counters.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Names differ from driver to driver: rxe's, then mlx5's and others'. */
static const char *const names[VERBS_COUNTERS] = {
	"completer_retry_err", "out_of_seq_request",	"duplicate_request", "retry_exceeded_err",
	"rcvd_seq_err",	       "local_ack_timeout_err", "packet_seq_err",    "out_of_sequence",
	"implied_nak_seq_err", "rnr_nak_retry_err",	"roce_adp_retrans",  "roce_adp_retrans_to",
};

static uint64_t read_counter(const char *ibdev_path, int port, const char *name)
{
	char path[PATH_MAX];
	uint64_t value = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/ports/%d/hw_counters/%s", ibdev_path, port, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &value) != 1)
		value = 0;
	(void)fclose(file);
	return value;
}

void verbs_counters_read(const char *ibdev_path, int port, struct verbs_counters *counters)
{
	for (size_t i = 0; i < VERBS_COUNTERS; i++)
		counters->values[i] = read_counter(ibdev_path, port, names[i]);
}

int verbs_counters_grown(const struct verbs_counters *before, const struct verbs_counters *after,
			 char *text, size_t len)
{
	size_t at = 0;
	int grown = 0, n;

	text[0] = '\0';
	for (size_t i = 0; i < VERBS_COUNTERS; i++) {
		if (after->values[i] <= before->values[i] || at >= len)
			continue;
		n = snprintf(text + at, len - at, "%s%s +%" PRIu64,
			     grown ? ", " : "loss on this path: ", names[i],
			     after->values[i] - before->values[i]);
		at += n > 0 ? (size_t)n : 0;
		grown++;
	}
	return grown;
}
