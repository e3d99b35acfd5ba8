/* float32.c: the kernels of WRING_FLOAT32. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT float
#define KERNELS reduce_float32
#include "coll/reduce/floating.h"
#include "coll/reduce/template.h"
