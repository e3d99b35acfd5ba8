/* counters.h: the port's own counts of lost and repeated packets. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_VERBS_COUNTERS_H
#define TRANSPORT_VERBS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum { VERBS_COUNTERS = 12 };

/* Values of the counters that counters.c knows by name; 0 where the driver has none. */
struct verbs_counters {
	uint64_t values[VERBS_COUNTERS];
};

/* Read those of a port; ibdev_path is struct ibv_device's. */
void verbs_counters_read(const char *ibdev_path, int port, struct verbs_counters *counters);

/*
 * Write which of them grew from before to after: "loss on this path: completer_retry_err +12".
 * Returns 0, and writes "", if none did.
 */
int verbs_counters_grown(const struct verbs_counters *before, const struct verbs_counters *after,
			 char *text, size_t len);

#endif
