/* int64.c: the kernels of WRING_INT64. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 int64_t
#define WRAPPING uint64_t
#define KERNELS	 reduce_int64
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
