/* ranks.c: ranks as forked processes with a TCP bootstrap, watched by their launcher. */
#include "tests/harness/ranks.h"

#include "tests/harness/tcp_bootstrap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BOOTSTRAP_MS = 30000, POLL_MS = 2 };

struct group {
	struct ranks_share share;
	int listener; /* -1: rank 0 is on another machine */
	pid_t *pids;  /* shared: each rank writes its own before it joins the bootstrap */
	pid_t launcher;
	int (*body)(const struct rank_context *context);
	void *arg;
};

void *ranks_shared(size_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		fprintf(stderr, "ranks: mmap %zu bytes: %s\n", bytes, strerror(errno));
		exit(1);
	}
	return shared;
}

void ranks_shared_free(void *shared, size_t bytes)
{
	(void)munmap(shared, bytes);
}

static int run_rank(const struct group *group, int rank)
{
	struct tcp_bootstrap *tcp = NULL;
	struct rank_context context = {
		.rank = rank,
		.size = group->share.size,
		.arg = group->arg,
		.pids = group->pids,
	};
	int rc;

	group->pids[rank] = getpid();
	if (rank == 0)
		rc = tcp_bootstrap_accept(&tcp, group->listener, group->share.size, BOOTSTRAP_MS);
	else
		rc = tcp_bootstrap_open(&tcp, group->share.host, group->share.port, rank,
					group->share.size, BOOTSTRAP_MS);
	if (group->listener >= 0)
		(void)close(group->listener);
	if (rc)
		return 1;
	context.bootstrap = &tcp->bootstrap;
	rc = group->body(&context);
	tcp_bootstrap_close(tcp);
	return rc;
}

/* Should memory run out, it is the test that the system ends, nobody else. */
static void offer_oneself_first(void)
{
	FILE *score = fopen("/proc/self/oom_score_adj", "w");

	if (!score)
		return;
	(void)fputs("1000", score);
	(void)fclose(score);
}

/* In the child. It dies with its launcher, and leaves through exit, which sanitizers need. */
static void become_rank(const struct group *group, int rank)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	offer_oneself_first();
	if (getppid() != group->launcher)
		_exit(1);
	exit(run_rank(group, rank));
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static double now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void kill_and_reap(pid_t *children, struct ranks_outcome *outcome)
{
	for (int r = 0; r < outcome->size; r++) {
		if (children[r] > 0)
			(void)kill(children[r], SIGKILL);
	}
	for (int r = 0; r < outcome->size; r++) {
		if (children[r] <= 0)
			continue;
		while (waitpid(children[r], NULL, 0) < 0 && errno == EINTR)
			;
		outcome->status[r] = RANKS_TIMED_OUT;
	}
}

/* Reap until all have ended or time is up. children[r] becomes 0 once r is reaped. */
static void watch(pid_t *children, struct ranks_outcome *outcome, int timeout_s)
{
	const struct timespec pause = {.tv_nsec = (long)POLL_MS * 1000000};
	double deadline = now_s() + timeout_s;
	int running = outcome->size;

	while (running > 0) {
		running = 0;
		for (int r = 0; r < outcome->size; r++) {
			int wait_status = 0;

			if (children[r] <= 0)
				continue;
			if (waitpid(children[r], &wait_status, WNOHANG) != children[r]) {
				running++;
				continue;
			}
			outcome->status[r] = status_of(wait_status);
			children[r] = 0;
		}
		if (running > 0 && now_s() > deadline)
			break;
		if (running > 0)
			(void)nanosleep(&pause, NULL);
	}
	outcome->timed_out = running > 0;
	kill_and_reap(children, outcome);
}

static int count_failed(const struct ranks_outcome *outcome)
{
	int failed = 0;

	for (int r = 0; r < outcome->size; r++)
		failed += outcome->status[r] != 0 && outcome->status[r] != RANKS_ELSEWHERE;
	return failed;
}

int ranks_run_share(const struct ranks_share *share,
		    int (*body)(const struct rank_context *context), void *arg, int timeout_s,
		    struct ranks_outcome *outcome)
{
	struct group group = {
		.share = *share,
		.listener = -1,
		.launcher = getpid(),
		.body = body,
		.arg = arg,
	};
	pid_t children[RANKS_MAX] = {0};
	int end = share->first + share->n;

	*outcome = (struct ranks_outcome){.size = share->size};
	for (int r = 0; r < share->size; r++)
		outcome->status[r] =
			r >= share->first && r < end ? RANKS_NOT_STARTED : RANKS_ELSEWHERE;
	if (share->first == 0)
		group.listener = tcp_bootstrap_listen(share->host, share->port, &group.share.port);
	if (share->first == 0 && group.listener < 0)
		return share->n;
	group.pids = ranks_shared(RANKS_MAX * sizeof(pid_t));
	(void)fflush(NULL);
	for (int r = share->first; r < end; r++) {
		children[r] = fork();
		if (children[r] == 0)
			become_rank(&group, r);
		if (children[r] < 0)
			timeout_s = 0;
	}
	if (group.listener >= 0)
		(void)close(group.listener);
	watch(children, outcome, timeout_s);
	ranks_shared_free(group.pids, RANKS_MAX * sizeof(pid_t));
	return count_failed(outcome);
}

int ranks_run_outcome(int size, int (*body)(const struct rank_context *context), void *arg,
		      int timeout_s, struct ranks_outcome *outcome)
{
	struct ranks_share all = {.size = size, .n = size, .host = "127.0.0.1"};

	return ranks_run_share(&all, body, arg, timeout_s, outcome);
}

static void report(const struct ranks_outcome *outcome, int timeout_s)
{
	for (int r = 0; r < outcome->size; r++) {
		int status = outcome->status[r];

		if (status == RANKS_NOT_STARTED)
			fprintf(stderr, "# rank %d could not be started\n", r);
		else if (status == RANKS_TIMED_OUT)
			fprintf(stderr, "# rank %d still ran after %d s, killed\n", r, timeout_s);
		else if (status < 0)
			fprintf(stderr, "# rank %d died of signal %d (%s)\n", r, -status,
				strsignal(-status));
		else if (status > 0)
			fprintf(stderr, "# rank %d failed with %d\n", r, status);
	}
}

int ranks_run(int size, int (*body)(const struct rank_context *context), void *arg, int timeout_s)
{
	struct ranks_outcome outcome;
	int failed = ranks_run_outcome(size, body, arg, timeout_s, &outcome);

	report(&outcome, timeout_s);
	return failed;
}

static int signal_rank(const struct rank_context *context, int rank, int signal_number)
{
	if (!context->pids || rank < 0 || rank >= context->size || context->pids[rank] <= 0)
		return -1;
	return kill(context->pids[rank], signal_number);
}

int ranks_kill(const struct rank_context *context, int rank)
{
	return signal_rank(context, rank, SIGKILL);
}

int ranks_stop(const struct rank_context *context, int rank)
{
	return signal_rank(context, rank, SIGSTOP);
}

int ranks_continue(const struct rank_context *context, int rank)
{
	return signal_rank(context, rank, SIGCONT);
}

int ranks_meet(const struct rank_context *context)
{
	const struct wring_bootstrap *bootstrap = context->bootstrap;
	char here = 1, all[RANKS_MAX];

	return bootstrap->allgather(bootstrap->ctx, &here, all, 1);
}
