/* fake_pair.h: two ranks in one process, joined by two links over fake devices. */
#ifndef TESTS_HARNESS_FAKE_PAIR_H
#define TESTS_HARNESS_FAKE_PAIR_H

#include "tests/harness/fake_verbs.h"
#include "transport/transport_state.h"
#include "transport/verbs/verbs_state.h"

struct end {
	struct transport transport;
	struct link links[2];
	unsigned char *memory; /* one area */
	unsigned char *user;   /* page-aligned, for registering */
};

struct pair {
	struct end ends[2];
};

enum { PAIR_SLOTS = 4, PAIR_SLOT_BYTES = 4096, PAIR_USER = 1 << 16 };

/* Memory and settings only; a test may change ends[i].transport.config. */
void pair_make(struct pair *pair);

/* Open devices 0 and n_devices - 1 and connect; outputs the first error. */
enum wring_status pair_connect(struct pair *pair, struct wring_error *error);

/* Close whatever is open, free all. */
void pair_close(struct pair *pair);

struct link *pair_link(struct pair *pair, int rank);
struct verbs *pair_verbs(struct pair *pair, int rank); /* NULL: not open */
struct verbs_link *pair_verbs_link(struct pair *pair, int rank);

/* Register the user memory of that rank. */
void pair_register(struct pair *pair, int rank);

#endif
