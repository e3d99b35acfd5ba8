/* tap.h: a test program's result lines, "ok 3 - name # remark", and its exit status. */
#ifndef TESTS_HARNESS_TAP_H
#define TESTS_HARNESS_TAP_H

#include <stdbool.h>

/* One test. remark is NULL, or printf-like and follows the name as a comment. */
__attribute__((format(printf, 3, 4))) void tap_result(bool passed, const char *name,
						      const char *remark, ...);

/* A test that cannot be made here, and why. */
void tap_skip(const char *name, const char *why);

/* Print the plan; returns main's exit status. */
int tap_finish(void);

#endif
