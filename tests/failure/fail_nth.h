/* fail_nth.h: makes the n-th call fail that asks the system for something. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAILURE_FAIL_NTH_H
#define TESTS_FAILURE_FAIL_NTH_H

#include <stdbool.h>

/*
 * Linked with -Wl,--wrap= of each name below: calls from the library's objects and from the test,
 * not from other libraries.
 *
 *   malloc calloc realloc mmap memfd_create fallocate pipe2 open fcntl getrandom pread syscall
 *   pthread_create; and free, which is only counted
 */

/* From now on count calls, and let number n (from 1) fail as it would if the system had no more;
 * n 0: count only. persistent: all that follow fail as well. */
void fail_nth(unsigned int n, bool persistent);

/* Count no more. Returns how many calls there were. */
unsigned int fail_nth_end(void);

/* While a pause lasts nothing is counted, nothing fails. */
void fail_nth_pause(bool pause);

/* How many pieces of memory the wrapped code has and has not given back. */
long fail_nth_pieces(void);

/* The name of the function that has failed; "" if none has. */
const char *fail_nth_name(void);

#endif
