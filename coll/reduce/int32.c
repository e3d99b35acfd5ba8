/* int32.c: the kernels of WRING_INT32. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 int32_t
#define WRAPPING uint32_t
#define KERNELS	 reduce_int32
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
