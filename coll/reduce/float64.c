/* float64.c: the kernels of WRING_FLOAT64. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT double
#define KERNELS reduce_float64
#include "coll/reduce/floating.h"
#include "coll/reduce/template.h"
