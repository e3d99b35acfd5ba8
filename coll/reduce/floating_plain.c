/* floating_plain.c: the kernels of float and double once more, as any processor can run them. */
/* SPDX-License-Identifier: MIT */
#define REDUCE_PLAIN
#include "coll/reduce/floating.c"
