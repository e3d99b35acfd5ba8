/* refuse.h: what tests of refusals share: a rank's state, what a good error looks like. */
#ifndef TESTS_REFUSE_REFUSE_H
#define TESTS_REFUSE_REFUSE_H

#include "tests/harness/ranks.h"
#include "wring.h"

#include <stdbool.h>

/* What a process holds that a communicator might leak. */
struct refuse_usage {
	int fds, memfd_maps, threads;
};

struct refuse;

/* One test: ranks processes run body, each with a communicator unless it makes its own. */
struct refusal {
	char name[128];
	int ranks;	   /* 0: 2 */
	bool without_comm; /* body makes its own, or none */
	void (*body)(struct refuse *r);
	const void *row; /* what body is about, if it serves several tests */
	bool nonblocking;
};

/* One rank of a running test. */
struct refuse {
	const struct refusal *test;
	const struct rank_context *context;
	int rank, size;
	struct wring_comm *comm;
	bool broken; /* body broke the communicator on purpose: no more operations on it */
	int failed;
	struct refuse_usage before;
};

/* Run a test if its name contains the word main was given; prints its TAP line. */
void refuse_run(const struct refusal *test);
void refuse_select(const char *word);
bool refuse_selected(const char *name);

/* Count and say a failure unless good. */
__attribute__((format(printf, 3, 4))) bool refuse_expect(struct refuse *r, bool good,
							 const char *what, ...);

/* The status is the wanted one. */
bool refuse_status(struct refuse *r, const char *call, enum wring_status got,
		   enum wring_status wanted);

/* error is filled: this status and one non-empty line that contains text (NULL: anything). */
void refuse_error(struct refuse *r, const char *call, const struct wring_error *error,
		  enum wring_status wanted, const char *text);

/* A call on r->comm was refused with wanted, and wring_comm_error says why. */
void refuse_call(struct refuse *r, const char *call, enum wring_status got,
		 enum wring_status wanted, const char *text);

/* All ranks have the same status and text; collective. */
void refuse_same_everywhere(struct refuse *r, const struct wring_error *error);

/* An allreduce on all ranks gives the right sum: no refusal has consumed an operation number. */
void refuse_healthy(struct refuse *r);

/* A communicator with short timeouts, over bootstrap; NULL after a complaint. */
struct wring_comm *refuse_open(struct refuse *r, const struct wring_bootstrap *bootstrap);

struct refuse_usage refuse_usage_now(void);
/* Nothing is held that was not held before. */
void refuse_unleaked(struct refuse *r, const struct refuse_usage *before);

double refuse_seconds(void);

/* The tests, by what they are about. */
void refuse_collectives(void);
void refuse_configs(void);
void refuse_creates(void);
void refuse_memory(void);
void refuse_requests(void);
void refuse_broken(void);
void refuse_leftovers(void);
void refuse_bootstraps(void);

#endif
