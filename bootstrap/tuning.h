/* tuning.h: the tuning file: settings, and which algorithm is wanted from which size on. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_TUNING_H
#define BOOTSTRAP_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wring.h"

enum { TUNING_CHOICES = 32, TUNING_BYTES = 16384 };

/* "allreduce <= 1984 oneshot"; the words are those of the candidate. */
struct tuning_choice {
	const char *collective, *algorithm;
	bool above; /* vectors of more than bytes; else of at most bytes */
	uint64_t bytes;
};

struct tuning {
	struct tuning_choice choices[TUNING_CHOICES]; /* the first that fits counts */
	size_t n;
	uint64_t hash; /* of the file's bytes, 0: there is none */
};

/*
 * Read the file that config->tuning names, if any. candidate names the i-th algorithm that can be
 * preferred, those of one collective together; false: there are no more. The file's settings go
 * into *config, but for those that the program or the environment has set. INVALID: it cannot be
 * read (native holds errno), or has a line that is none: the text has file, line, value and what is
 * allowed. *tuning and *config are written only on success.
 */
enum wring_status tuning_load(struct tuning *tuning, struct wring_config *config,
			      bool (*candidate)(size_t i, const char **collective,
						const char **algorithm),
			      struct wring_error *error);

#endif
