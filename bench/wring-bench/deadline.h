/* deadline.h: the benchmark never hangs: after so many seconds it says where it was and ends. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_DEADLINE_H
#define BENCH_WRING_BENCH_DEADLINE_H

#include <stddef.h>

/*
 * Arm the alarm, once, before MPI_Init. When it goes off, rank 0 (a second later the others, if
 * rank 0 could not) prints one line and ends all ranks with status 1. launcher_rank: see
 * struct launch; until deadline_mpi_ready only this process can be ended.
 */
void deadline_start(unsigned int seconds, int launcher_rank);
void deadline_mpi_ready(void);
void deadline_stop(void);

/* What the line will say: the phase, borrowed for ever, and the size worked on. */
void deadline_phase(const char *phase, size_t bytes);

#endif
