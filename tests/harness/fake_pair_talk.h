/* fake_pair_talk.h: two links over the fake fabric, and a few words to let them talk. */
#ifndef TESTS_HARNESS_FAKE_PAIR_TALK_H
#define TESTS_HARNESS_FAKE_PAIR_TALK_H

#include "tests/harness/fake_pair.h"

extern struct pair pair;
extern struct wring_error error;
extern struct link *left, *right;	 /* of rank 0 and of rank 1 */
extern const struct signature signature; /* of every message */
extern uint64_t first_message;		 /* where connect_pair starts all counters; 0 after setup */

extern char logged[512]; /* rank 0's last line of the log */

/* For cmocka, without or with a connection; teardown fails if a rule of verbs was broken or an
 * object is left. */
int setup(void **state);
int setup_connected(void **state);
int teardown(void **state);

void connect_pair(void);
void poll_both(void);
const struct wring_error *error_of(int rank);
void assert_text(int rank, const char *part);

/* A message of len bytes, all of that value; and that it is the next to be taken. */
void send_byte(struct link *link, size_t len, unsigned char value);
void assert_head(struct link *link, size_t len, unsigned char value);

#endif
