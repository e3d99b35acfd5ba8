/* failure.h: what the tests of failures share: a rank's state, complaints, the calls they make. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAILURE_FAILURE_H
#define TESTS_FAILURE_FAILURE_H

#include "tests/harness/usage.h"
#include "tests/harness/ranks.h"

enum { DESTROY_MS = 1000 };

/* What all ranks and the launcher see. Times are of seconds_now. */
struct board {
	double fault_at; /* when the fault was made; 0: not yet */
	struct wring_error errors[RANKS_MAX];
	int values[RANKS_MAX];
};

struct failure_rank;

/* One test: ranks processes run body. A rank's communicator is its own business. */
struct failure_test {
	const char *name;
	int ranks;
	void (*body)(struct failure_rank *f);
	const char *settings; /* for failure_open */
	const void *row;      /* what body is about, if it serves several tests */
	int timeout_s;	      /* 0: 60 */
	int killed;	      /* ranks that are meant to die of SIGKILL, as bits */
	/* In the launcher, when all have ended: returns what is wrong, or NULL. */
	const char *(*judge)(const struct failure_test *test, const struct board *board);
};

/* One rank of a running test. */
struct failure_rank {
	const struct failure_test *test;
	const struct rank_context *context;
	struct board *board;
	int rank, size;
	struct wring_comm *comm;
	int failed;
	struct usage before;
	void (*log)(void *ctx, const char *line); /* for failure_open; NULL: be silent */
	void *log_ctx;
};

/* Run a test if its name contains the word main was given; prints its TAP line. */
void failure_run(const struct failure_test *test);
bool failure_selected(const char *name);

/* True when the settings or the environment ask for verbs. */
bool failure_over_verbs(void);

/* Count and say a failure unless good. */
__attribute__((format(printf, 3, 4))) bool failure_expect(struct failure_rank *f, bool good,
							  const char *what, ...);

/* Gives f->comm, with the test's settings and quick timeouts; false after a complaint. */
bool failure_open(struct failure_rank *f);
bool failure_open_with(struct failure_rank *f, const char *settings);

/* Destroys f->comm within DESTROY_MS and looks for what it has left behind since f->before. */
void failure_close(struct failure_rank *f);

/* All ranks meet, over the bootstrap: no Wring call is made. */
void failure_meet(struct failure_rank *f);

/* A call has returned status, as wanted; otherwise a complaint with the communicator's error. */
bool failure_status(struct failure_rank *f, const char *call, enum wring_status got,
		    enum wring_status wanted);

/* The communicator's error: its status, and a text in order; also onto the board. */
struct wring_error failure_error(struct failure_rank *f, enum wring_status wanted);

/* What a rank may be about when a fault happens. */
enum failure_call {
	CALL_BARRIER,
	CALL_ALLREDUCE_SMALL,
	CALL_ALLREDUCE_LARGE,
	CALL_BROADCAST_SMALL,
	CALL_BROADCAST_LARGE,
	FAILURE_CALLS
};

/* FAILURE_CALLS buffers are one: large enough for each call. */
enum { LARGE_COUNT = 300000 };

const char *failure_call_name(enum failure_call call);
enum wring_status failure_start(struct failure_rank *f, enum failure_call call, int32_t *buf,
				struct wring_request **request);

/* How a rank waits for a request. */
enum failure_wait { BY_WAIT, BY_TEST };
enum wring_status failure_wait(struct wring_request **request, enum failure_wait how);

/* An allreduce on all ranks gives the right sum. */
void failure_healthy(struct failure_rank *f);

/* The tests, by what they are about. */
void failure_mismatches(void);
void failure_deaths(void);
void failure_leavers(void);
void failure_creations(void);
void failure_aborts(void);
void failure_deadlines(void);
void failure_waits(void);
void failure_processes(void);
void failure_limits(void);
void failure_cgroups(void);

#endif
