/* float32_plain.c: the kernels of WRING_FLOAT32 as any processor can run them. */
/* SPDX-License-Identifier: MIT */
#define REDUCE_PLAIN
#define ELEMENT float
#define KERNELS reduce_float32_plain
#include "coll/reduce/floating.h"
#include "coll/reduce/template.h"
