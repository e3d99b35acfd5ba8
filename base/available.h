/* available.h: how much memory this process could still get. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_AVAILABLE_H
#define BASE_AVAILABLE_H

#include <stddef.h>

/*
 * Bytes: the least of what the kernel calls available and what the control groups of this process
 * leave, version 1 or 2, their page cache counted as free; SIZE_MAX / 2 if neither can be read.
 * root comes before /proc and /sys; "" is this machine.
 */
size_t available_memory(const char *root);

#endif
