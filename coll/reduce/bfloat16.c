/* bfloat16.c: the kernels of WRING_BFLOAT16. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce/float16.h"

#define ELEMENT	   uint16_t
#define KERNELS	   reduce_bfloat16
#define to_float   float_from_bfloat16
#define from_float bfloat16_from_float
#include "coll/reduce/half.h"
#include "coll/reduce/template.h"
