/* float64_plain.c: the kernels of WRING_FLOAT64 as any processor can run them. */
/* SPDX-License-Identifier: MIT */
#define REDUCE_PLAIN
#define ELEMENT double
#define KERNELS reduce_float64_plain
#include "coll/reduce/floating.h"
#include "coll/reduce/template.h"
