/* config.h: what the defaults, the environment and the program together say. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_CONFIG_H
#define BOOTSTRAP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wring.h"

/* The largest eager_bytes; the collectives have room for as much. */
enum { CONFIG_MOST_EAGER = 65536 };

/*
 * The public wring_config_init and wring_config_set are defined in config.c; the table of fields
 * that drives everything here is in config_fields.h.
 */

/*
 * Give *out: defaults, overridden by the WRING_* variables of environment (NULL: none),
 * overridden by what program (NULL: nothing) has set. Borrows both until it returns. A field is
 * set by the program when it is not -1 or "", or when wring_config_set has set it (then also to
 * -1 or "": choose, whatever the environment says). In *out every field holds a value of its
 * range, except those that are chosen where the devices are known: device "", port, gid_index,
 * qp_timeout and eager_bytes -1. set_mask has a bit for each field that somebody has set.
 *
 * INVALID: a value out of range, an unknown WRING_* variable (names ending in _ROOT _DIR _HOME
 * _PATH _LIB _INC _VERSION are left to site modules), a program struct that wring_config_init has
 * not seen, a string without its end, a newer program's field that this library does not know.
 * *out is written only on success.
 */
enum wring_status config_resolve(struct wring_config *out, const struct wring_config *program,
				 char *const *environment, struct wring_error *error);

/*
 * The IB timeout exponent by which a dead peer is noticed within peer_timeout_ms: the largest t
 * of 1..31 with 4.096 us x 2^t x (qp_retry + 1) <= 0.9 x peer_timeout_ms; 1 if there is none.
 */
int config_qp_timeout(int qp_retry, int peer_timeout_ms);

/* What must be equal on every rank. No padding; is sent as it stands. */
struct config_fingerprint {
	uint32_t version; /* of the library: major << 16 | minor */
	int32_t segment_bytes;
	int32_t slots;
	int32_t eager_bytes;
	int32_t transport;
	int32_t ring;
	uint64_t tuning_hash; /* of the file's content; 0 without a file */
};

/* Give the fingerprint of settings whose choices have all been made (eager_bytes included), and of
 * a tuning file (0: none). */
void config_fingerprint(const struct wring_config *resolved, uint64_t tuning_hash,
			struct config_fingerprint *fingerprint);

/*
 * True if a and b differ; then text (at most len bytes) says in which setting, e.g.
 * "segment_bytes is 65536 on rank 0 and 32768 on rank 3: set WRING_SEGMENT_BYTES alike".
 */
bool config_fingerprint_differs(const struct config_fingerprint *a, int rank_a,
				const struct config_fingerprint *b, int rank_b, char *text,
				size_t len);

#endif
