/* ranks.h: starts the ranks of a test on this host, tells how each ended, never waits for ever. */
#ifndef TESTS_HARNESS_RANKS_H
#define TESTS_HARNESS_RANKS_H

#include "wring.h"

#include <stdbool.h>
#include <sys/types.h>

enum { RANKS_MAX = 64 };

/* How a rank ended that did not return from its body. */
enum { RANKS_NOT_STARTED = -1000, RANKS_TIMED_OUT = -1001, RANKS_ELSEWHERE = -1002 };

/* What a body is given; borrowed until it returns. */
struct rank_context {
	int rank, size;
	const struct wring_bootstrap *bootstrap; /* connected already, usable many times */
	void *arg;				 /* as given to ranks_run */
	const pid_t *pids;			 /* of all ranks; NULL if they are threads */
};

/* status of a rank: what its body returned, or -signal, or one of the three above. */
struct ranks_outcome {
	int size;
	bool timed_out;
	int status[RANKS_MAX];
};

/*
 * Fork size processes that run body over a TCP bootstrap on the loopback, and wait for them. A
 * body returns 0 for success, 1..125 for failure. After timeout_s all that still run are killed;
 * all are reaped in any case, and die with the launcher. Returns the number of ranks that did
 * not return 0; each is one line on stderr.
 */
int ranks_run(int size, int (*body)(const struct rank_context *context), void *arg, int timeout_s);

/* The same in silence, for ranks that are meant to fail; outcome says how each ended. */
int ranks_run_outcome(int size, int (*body)(const struct rank_context *context), void *arg,
		      int timeout_s, struct ranks_outcome *outcome);

/* Ranks first to first + n - 1 of size run on this machine; rank 0's machine listens at
 * host:port. */
struct ranks_share {
	int size, first, n;
	const char *host;
	int port;
};

/*
 * The same for ranks on several machines: each calls it with its share, within 30 s. Here are known
 * the outcomes of its own ranks only; the others' is RANKS_ELSEWHERE, which is no failure.
 */
int ranks_run_share(const struct ranks_share *share,
		    int (*body)(const struct rank_context *context), void *arg, int timeout_s,
		    struct ranks_outcome *outcome);

/*
 * The same with threads of one forked process as ranks, which meet in memory: for a thread
 * sanitizer. A status is not known by rank: rank 0 stands for all of them.
 */
int ranks_run_threads(int size, int (*body)(const struct rank_context *context), void *arg,
		      int timeout_s);

/* Memory which the launcher and all ranks it forks later share; zeroed. Exits if there is none. */
void *ranks_shared(size_t bytes);
void ranks_shared_free(void *shared, size_t bytes);

/* From inside a body: what befalls another rank. 0, or -1 if the ranks are threads. */
int ranks_kill(const struct rank_context *context, int rank);
int ranks_stop(const struct rank_context *context, int rank);
int ranks_continue(const struct rank_context *context, int rank);

/* All ranks meet here; 0, or -1 if one is missing. Not while one is in wring_comm_create. */
int ranks_meet(const struct rank_context *context);

#endif
