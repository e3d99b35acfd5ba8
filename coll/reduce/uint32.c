/* uint32.c: the kernels of WRING_UINT32. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 uint32_t
#define WRAPPING uint32_t
#define KERNELS	 reduce_uint32
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
