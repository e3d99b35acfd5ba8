/* int8.c: the kernels of WRING_INT8. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 int8_t
#define WRAPPING uint8_t
#define KERNELS	 reduce_int8
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
