/* back_end.h: what a back end, shm or verbs, must offer; link.h has the rest, per link. */
/* SPDX-License-Identifier: MIT */
#ifndef TRANSPORT_BACK_END_H
#define TRANSPORT_BACK_END_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "transport/region.h"
#include "wring.h"

/*
 * A transport has one back end of each kind that it needs. The table is the whole contract: nothing
 * above it asks which kind it talks to. No slot may be NULL; a back end to which a slot does not
 * apply gives it a function that does nothing.
 *
 * Calls come in this order: lay_out once; then all but close, in any order and number; then close.
 * Unless a slot says otherwise it never blocks, may be called after a failure of the transport, and
 * reports its own failures by transport_fail. Whoever holds the communicator's lock calls.
 */
struct back_end;

/* Descriptors that one back end sleeps on, at most. */
enum { BACK_END_FDS = 2 };

struct back_end_ops {
	enum wring_transport kind;

	/* False: poll has nothing to do, ever, and is left out of every look. */
	bool polls;

	/* All areas have their places: open the links that no other back end has opened. May block.
	 * A failure leaves what close accepts. */
	enum wring_status (*lay_out)(struct back_end *back_end, struct wring_error *error);

	/* Take in what has arrived and completed, for all links. */
	void (*poll)(struct back_end *back_end);

	/* This rank is about to sleep: from here on whatever arrives must make a descriptor
	 * readable. The caller looks at everything once more before it sleeps. */
	void (*arm)(struct back_end *back_end);

	/* This rank does not sleep after all, or is awake. */
	void (*disarm)(struct back_end *back_end);

	/* Write what to poll(2) for, at most BACK_END_FDS; returns how many. */
	int (*fds)(const struct back_end *back_end, struct pollfd *fds);

	/* The sleep is over, fds as poll(2) has left them: empty what is readable. */
	void (*acknowledge)(struct back_end *back_end, const struct pollfd *fds);

	/* Every 100 ms of waiting: look for faults that no message tells of. */
	void (*watch)(struct back_end *back_end);

	/* What may explain that nothing moves: "loss on this path: ...", or "". May read files. */
	void (*explain_delay)(const struct back_end *back_end, char *text, size_t len);

	/* Make [base, base + len) of the region known to the device; it stays the caller's.
	 * Writes into region what peers need. May block. A failure has changed nothing. */
	enum wring_status (*register_region)(struct back_end *back_end, struct region *region,
					     struct wring_error *error);

	/* Undo that; the memory may be unmapped afterwards. Accepts a region that was never
	 * registered. */
	void (*deregister_region)(struct back_end *back_end, struct region *region);

	/* Fill in what is known of the own port, for wring_comm_peer of the own rank. */
	void (*describe)(const struct back_end *back_end, struct wring_peer_info *info);

	/* Free everything; all links are freed already. May block. */
	void (*close)(struct back_end *back_end);
};

/* The first member of struct shm and of struct verbs. */
struct back_end {
	const struct back_end_ops *ops;
};

#endif
