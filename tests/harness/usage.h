/* usage.h: what the tests of faults share: what a process holds, its clocks, settings in words. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_USAGE_H
#define TESTS_HARNESS_USAGE_H

#include "wring.h"

#include <stdbool.h>

/* What a process holds that a communicator might leave behind. */
struct usage {
	int fds, memfd_maps, threads;
};

struct usage usage_now(void);

/* Says what is held now and was not before; false, and text untouched: nothing. */
bool usage_grew(const struct usage *before, char *text, size_t len);

/* Files of our name in /dev/shm, which other programs use too. */
int usage_shared_files(void);

/* CLOCK_MONOTONIC, the same in every process of a host. */
double seconds_now(void);

/* For how long this thread could have run and was not let, since it began. */
double seconds_kept_waiting(void);

/* Processor time of this thread, and how often it has gone to sleep. */
double seconds_of_cpu(void);
long sleeps_so_far(void);

void nap_s(double seconds);
void nap_us(unsigned int microseconds);

/* Set fields from words: "wait=event timeout_ms=500". INVALID as wring_config_set says. */
enum wring_status settings_parse(struct wring_config *config, const char *words,
				 struct wring_error *error);

/* The text is one non-empty line with an end. */
bool text_is_one_line(const char *text);

/* The text names this rank: "rank 1", but not as the beginning of "rank 12". */
bool text_names_rank(const char *text, int rank);

#endif
