/* uint8.c: the kernels of WRING_UINT8. */
/* SPDX-License-Identifier: MIT */
#define ELEMENT	 uint8_t
#define WRAPPING uint8_t
#define KERNELS	 reduce_uint8
#include "coll/reduce/integer.h"
#include "coll/reduce/template.h"
