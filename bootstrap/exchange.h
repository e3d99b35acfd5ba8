/* exchange.h: the rounds in which the ranks are introduced to each other. */
/* SPDX-License-Identifier: MIT */
#ifndef BOOTSTRAP_EXCHANGE_H
#define BOOTSTRAP_EXCHANGE_H

#include "bootstrap/config.h"
#include "bootstrap/identity.h"
#include "wring.h"

enum { EXCHANGE_ADDRESS = 64 };
enum { EXCHANGE_CPUS = 128 }; /* bytes: 1024 CPUs */

/*
 * The rounds of wring_comm_create
 *
 *   1 allgather  introductions: who, where, which settings, or why I have failed already
 *   2 alltoall   verdicts: can I open your memory?
 *   3 alltoall   offers: the area, and the QP, that I have made for you
 *   4 allgather  ready, or why not
 *
 * A rank that fails goes on through all rounds with its text, so nobody blocks; all ranks give up
 * together, after round 1 or round 4, with the same text: that of the lowest rank that failed.
 */

/* Fixed size for ever; no padding; is sent as it stands. */
struct introduction {
	char magic[8];	 /* "wring" */
	uint32_t format; /* of this struct */
	int32_t rank, size;
	int32_t status; /* enum wring_status of what failed on that rank, or 0 */
	int32_t native;
	int32_t quota_cpus; /* CPUs that its control groups allow */
	struct host_identity host;
	struct config_fingerprint settings;
	unsigned char cpus[EXCHANGE_CPUS];	 /* bit i: may run on CPU i */
	unsigned char address[EXCHANGE_ADDRESS]; /* the transport's own, opaque here */
	char text[456];
};

/* Fill in magic, format, rank, size and what has failed (status WRING_OK: nothing). */
void exchange_introduce(struct introduction *own, const struct wring_bootstrap *bootstrap,
			const struct wring_error *failure);

/*
 * Round 1. all has room for one introduction per rank. Fails alike on every rank: a rank's own
 * failure, another version or other settings (MISMATCH), a rank that calls itself otherwise
 * than the bootstrap does (BOOTSTRAP).
 */
enum wring_status exchange_introductions(const struct wring_bootstrap *bootstrap,
					 const struct introduction *own, struct introduction *all,
					 struct wring_error *error);

/* Rounds 2 and 3: len bytes for each. */
enum wring_status exchange_alltoall(const struct wring_bootstrap *bootstrap, const void *in,
				    void *out, size_t len, struct wring_error *error);

/* Round 4. failure (status WRING_OK: none) is this rank's; *error is what all return. The room of
 * the introductions is used once more, so that this round needs no memory. */
enum wring_status exchange_ready(const struct wring_bootstrap *bootstrap,
				 const struct wring_error *failure, struct introduction *room,
				 struct wring_error *error);

/* Is the struct usable at all? INVALID: this rank cannot take part in anything. */
enum wring_status exchange_check(const struct wring_bootstrap *bootstrap,
				 struct wring_error *error);

#endif
