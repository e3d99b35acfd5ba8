/* kernels.h: what the files with the kernels give to reduce.c, and how they compile. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_REDUCE_KERNELS_H
#define COLL_REDUCE_KERNELS_H

#include "wring.h"

/*
 * REDUCE_CLONES: the compiler makes the function once for each of these processors, and the
 * dynamic linker picks one at start. -DWRING_NO_CLONES leaves only the processor compiled for;
 * so do sanitizers, whose runtime is not ready that early, other architectures, libraries other
 * than glibc, and clang. REDUCE_INDEPENDENT: the next loop's turns do not depend on each other,
 * although an output may be an input; no check at run time is needed.
 *
 * REDUCE_PLAIN: without clones.
 */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) &&           \
	defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&   \
	!defined(WRING_NO_CLONES) && !defined(REDUCE_PLAIN)
#define REDUCE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REDUCE_CLONES
#endif

#if defined(__clang__)
#define REDUCE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
/* Said of loops that a sanitizer keeps from being vectorised. */
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#define REDUCE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define REDUCE_INDEPENDENT
#endif

/* An inline function that the compiler specialises for the constant op it is called with. */
#define REDUCE_INLINE static inline __attribute__((always_inline))

/*
 * The kernels of one datatype. They are static where they are written: nothing hides the symbol
 * of a function with clones.
 */
struct reduce_kernels {
	/* By enum wring_op: dst[i] = acc[i] op x[i]. */
	void (*op[WRING_AVG + 1])(void *dst, const void *acc, const void *x, size_t count);
	/* dst[i] = dst[i] / size. */
	void (*scale)(void *dst, size_t count, int size);
};

extern const struct reduce_kernels reduce_int8, reduce_uint8;
extern const struct reduce_kernels reduce_int32, reduce_uint32;
extern const struct reduce_kernels reduce_int64, reduce_uint64;
extern const struct reduce_kernels reduce_float16, reduce_bfloat16;
extern const struct reduce_kernels reduce_float32, reduce_float64;
extern const struct reduce_kernels reduce_float32_plain, reduce_float64_plain;

#endif
