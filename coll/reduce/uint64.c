/* uint64.c: the kernels of WRING_UINT64. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 uint64_t
#define WRAPPING uint64_t
#define KERNELS	 reduce_uint64
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
