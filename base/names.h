/* names.h: what wring.h's numbers are, beyond what it tells itself: their ranges and kinds. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>

#include "wring.h"

/* The last of each; all from 0 to there exist. */
extern const enum wring_datatype names_last_datatype;
extern const enum wring_op names_last_op;

/* False for integers and for what is no datatype. */
bool names_is_floating(enum wring_datatype datatype);

#endif
