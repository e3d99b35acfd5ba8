/* float16.c: the kernels of WRING_FLOAT16, eight at a time where the processor can. */
/* SPDX-License-Identifier: MIT */
#include "coll/reduce/float16.h"

#include "coll/reduce/f16c.h"

#define ELEMENT		 uint16_t
#define KERNELS		 reduce_float16
#define to_float	 float_from_float16
#define from_float	 float16_from_float
#define reduce_beginning f16c_reduce
#define scale_beginning	 f16c_scale
#include "coll/reduce/half.h"
#include "coll/reduce/template.h"
