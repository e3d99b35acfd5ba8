/* validate.h: every element on every rank against the result computed here. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_VALIDATE_H
#define BENCH_WRING_BENCH_VALIDATE_H

#include "bench/wring-bench/pattern.h"
#include "bench/wring-bench/work.h"

#include <stdint.h>

/*
 * Collective: a few calls through Wring, each with inputs of its own and the output spoilt
 * before. Gives how many elements were wrong, summed over calls and ranks, on every rank; the
 * very first wrong one of a rank is described on stderr. pattern is scratch.
 */
uint64_t validate(struct work *work, struct pattern *pattern, uint32_t salt);

#endif
