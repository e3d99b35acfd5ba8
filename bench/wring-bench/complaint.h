/* complaint.h: one line about what went wrong, said once for all ranks. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_COMPLAINT_H
#define BENCH_WRING_BENCH_COMPLAINT_H

/* Exit statuses, as the manual page promises. */
enum { EXIT_OK = 0, EXIT_WRONG = 1, EXIT_USAGE = 2 };

/* Empty text: nothing is wrong. */
struct complaint {
	char text[768];
};

/* Write the text down, unless an earlier one is there already; always returns -1. */
__attribute__((format(printf, 2, 3))) int complaint_set(struct complaint *complaint,
							const char *format, ...);

/* Print "wring-bench: text" as one line on stderr. */
void complaint_print(const struct complaint *complaint);

/*
 * Collective over all ranks: returns 1 on every rank if any of them has a complaint, and the
 * lowest such rank has printed its own; 0 if there is none.
 */
int complaint_agree(const struct complaint *complaint);

/* For what cannot be agreed upon any more: print with this rank's number, end all ranks. */
__attribute__((format(printf, 1, 2), noreturn)) void complaint_die(const char *format, ...);

#endif
