/* exact.h: what the exactness suites share: one rank's state, buffers, calls and their checks. */
#ifndef TESTS_EXACT_EXACT_H
#define TESTS_EXACT_EXACT_H

#include "tests/harness/ranks.h"
#include "wring.h"

#include <stdbool.h>

enum { EXACT_SETTINGS = 16, EXACT_DATATYPES = 10, EXACT_OPS = 5 };

/* A configuration as text, "slots" = "4"; a later pair of the same name overrides. */
struct exact_settings {
	int n;
	char name[EXACT_SETTINGS][24];
	char value[EXACT_SETTINGS][64];
};

struct exact_report {
	uint64_t operations, elements, wrong, failed;
};

struct exact_case;

/* One rank of a running case. */
struct exact {
	const struct exact_case *test;
	const struct rank_context *context;
	struct wring_comm *comm;
	int rank, size;
	int order[RANKS_MAX]; /* order[p]: the rank at ring position p */
	struct exact_report report;
	int warnings; /* lines the library has logged */
	int shown;    /* lines this rank has complained */
	bool broken;  /* a call has failed: the suite ends here */
};

/* A suite at a number of ranks: one TAP line. body ends early when a call has failed. */
struct exact_case {
	char name[128];
	int ranks, timeout_s;
	unsigned int seed;
	bool quick;	     /* the small spread */
	bool without_comm;   /* body creates its own communicators */
	size_t memory_bytes; /* of all ranks together */
	void (*body)(struct exact *x);
	struct exact_settings settings;
	struct exact_report *report; /* shared; rank 0 writes the sum over all ranks */
};

void exact_set(struct exact_settings *settings, const char *name, const char *value);

/* Communicators by the case's settings; exact_open complains and returns -1 if it cannot. */
int exact_open(struct exact *x, const struct exact_settings *settings);
void exact_close(struct exact *x);

/* The body that ranks_run gets; its arg is the case. */
int exact_rank(const struct rank_context *context);

/* Say which call failed and the library's text, mark x as broken; true for WRING_OK. */
__attribute__((format(printf, 3, 4))) bool exact_ok(struct exact *x, enum wring_status status,
						    const char *what, ...);

/* Something else is wrong; the suite goes on. */
__attribute__((format(printf, 2, 3))) void exact_complain(struct exact *x, const char *what, ...);

/* Kinds of buffer. MIXED differs from rank to rank and from call to call. */
enum exact_kind { EXACT_ALLOC, EXACT_MALLOC, EXACT_REGISTERED, EXACT_MIXED, EXACT_KINDS };

const char *exact_kind_name(enum exact_kind kind);

/* Room for bytes at any shift below EXACT_SHIFT, with guards around. */
enum { EXACT_GUARD = 64, EXACT_SHIFT = 64 };

struct exact_buffer {
	enum exact_kind kind;
	size_t bytes;
	unsigned char *base;
};

/* One buffer, which exact_buffer_close releases also on a broken communicator. -1: failed. */
int exact_buffer_open(struct exact *x, struct exact_buffer *buffer, enum exact_kind kind,
		      size_t bytes);
void exact_buffer_close(struct exact *x, struct exact_buffer *buffer);

/* A send and a receive buffer of each real kind. */
struct exact_buffers {
	struct exact_buffer send[EXACT_MIXED], recv[EXACT_MIXED];
};

int exact_buffers_open(struct exact *x, struct exact_buffers *buffers, size_t bytes);
void exact_buffers_close(struct exact *x, struct exact_buffers *buffers);

/* Guards at both sides of bytes at data, and whether they are still whole. */
void exact_guard(unsigned char *data, size_t bytes);
bool exact_guarded(const unsigned char *data, size_t bytes);

/* One collective call as its user sees it. */
struct exact_call {
	enum wring_datatype datatype;
	enum wring_op op;
	size_t count;
	int root; /* broadcast only */
	bool in_place;
	enum exact_kind kind;
	unsigned int variant; /* different shifts, and different kinds on different ranks */
};

/* Do the call with input, compare with expected, which every element must equal bit for bit. */
void exact_allreduce(struct exact *x, const struct exact_buffers *buffers,
		     const struct exact_call *call, const void *input, const void *expected);
void exact_broadcast(struct exact *x, const struct exact_buffers *buffers,
		     const struct exact_call *call, const void *expected);

/* Compare count elements, the first of which is number first of the call; counts the wrong. */
void exact_compare(struct exact *x, const struct exact_call *call, const void *got,
		   const void *expected, size_t first, size_t count);

/* The inputs of all ranks for one datatype and op, and what an allreduce makes of them. */
struct exact_inputs {
	size_t count; /* capacity */
	void *of_rank[RANKS_MAX];
	void *expected;
};

int exact_inputs_open(struct exact_inputs *inputs, int size, size_t count);
void exact_inputs_close(struct exact_inputs *inputs, int size);
void exact_inputs_fill(struct exact *x, struct exact_inputs *inputs, size_t count,
		       const struct exact_call *call, bool integer_valued, unsigned int seed);
void exact_inputs_expect(struct exact *x, struct exact_inputs *inputs,
			 const struct exact_call *call);

/* Integer AVG is the one combination that does not exist. */
bool exact_exists(enum wring_datatype datatype, enum wring_op op);
bool exact_is_float(enum wring_datatype datatype);

/* Small integers by hash of (element, rank, salt), and their sum over all ranks, exactly. */
void exact_pattern_fill(void *out, enum wring_datatype datatype, size_t first, size_t count,
			int rank, unsigned int salt);
void exact_pattern_sum(void *out, enum wring_datatype datatype, size_t first, size_t count,
		       int size, unsigned int salt);
void exact_pattern_bytes(void *out, size_t bytes, unsigned int salt);

/* A reproducible stream of numbers; below(n) is 0..n-1. */
struct exact_random {
	uint64_t state;
};
uint32_t exact_random_next(struct exact_random *random);
uint32_t exact_random_below(struct exact_random *random, uint32_t n);

/* The suites. */
void exact_counts(struct exact *x);
void exact_product(struct exact *x);
void exact_pairwise(struct exact *x);
void exact_large_float32(struct exact *x);
void exact_large_float64(struct exact *x);
void exact_huge(struct exact *x);
void exact_random_inputs(struct exact *x);
void exact_random_settings(struct exact *x);
void exact_broadcast_small(struct exact *x);
void exact_broadcast_large(struct exact *x);
void exact_mixed(struct exact *x);
void exact_destroy(struct exact *x);
void exact_many(struct exact *x);

#endif
