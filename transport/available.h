/* available.h: how much memory this process could still get. */
#ifndef AVAILABLE_H
#define AVAILABLE_H

#include <stddef.h>

/* Bytes: the least of what the kernel calls available and what the control groups (version 2) of
 * this process leave; SIZE_MAX / 2 if neither can be read. */
size_t available_memory(void);

#endif
