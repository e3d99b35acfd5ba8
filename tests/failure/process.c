/* process.c: fork, exec, signals, threads, and other users of the machine. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FD_MOST = 256, NOBODY = 65534, PAIR_CALLS = 300 };

/* --- fork and exec ------------------------------------------------------------------------ */

static void healthy_for_a_while(struct failure_rank *f)
{
	int i;

	for (i = 0; i < 50 && !f->failed; i++)
		failure_healthy(f);
}

/* What a program started by exec still has open, but for what the test itself had. */
static void body_exec(struct failure_rank *f)
{
	int status = -1, i;

	if (!failure_open(f))
		return;
	for (i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0) {
			(void)execl("/bin/sh", "sh", "-c",
				    "for f in /proc/self/fd/*; do readlink $f; done |"
				    " grep -c memfd:wring >/dev/null && exit 1; sleep 0.2; exit 0",
				    (char *)NULL);
			_exit(2);
		}
		healthy_for_a_while(f);
		(void)waitpid(child, &status, 0);
		(void)failure_expect(f, status == 0, "the program ended with status 0x%x", status);
	}
	healthy_for_a_while(f);
	failure_close(f);
}

/* A child without exec ends, in the orderly way or not: the communicator is its parent's. */
static void body_fork(struct failure_rank *f)
{
	int32_t *owned = NULL;
	enum wring_status status;
	int i, ended;

	if (!failure_open(f))
		return;
	status = wring_alloc(f->comm, 100 * sizeof(*owned), (void **)&owned);
	if (!failure_status(f, "alloc", status, WRING_OK))
		return;
	owned[0] = 5;
	for (i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i == 0)
				_exit(0);
			if (i == 1)
				(void)raise(SIGKILL);
			nap_s(0.1);
			_exit(owned[0] == 5 ? 0 : 1);
		}
		healthy_for_a_while(f);
		(void)waitpid(child, &ended, 0);
		(void)failure_expect(f, i == 1 || ended == 0, "the child ended with 0x%x", ended);
	}
	failure_healthy(f);
	wring_free(f->comm, owned);
	failure_close(f);
}

static void note_open(bool *open)
{
	int fd;

	for (fd = 0; fd < FD_MOST; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* Every descriptor that the library has opened is closed by exec. */
static void body_cloexec(struct failure_rank *f)
{
	bool before[FD_MOST];
	int fd, flags, seen = 0;

	note_open(before);
	if (!failure_open(f))
		return;
	failure_healthy(f);
	for (fd = 0; fd < FD_MOST; fd++) {
		flags = before[fd] ? -1 : fcntl(fd, F_GETFD);
		if (flags < 0)
			continue;
		seen++;
		(void)failure_expect(f, flags & FD_CLOEXEC, "fd %d stays open in a new program",
				     fd);
	}
	(void)failure_expect(f, seen > 0, "no descriptor was opened");
	failure_close(f);
}

/* --- signals ------------------------------------------------------------------------------ */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* A handler without SA_RESTART, called a thousand times a second from now on. */
static void disturb(bool on)
{
	struct sigaction action = {.sa_handler = count_signal};
	struct itimerval often = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

static void body_signals(struct failure_rank *f)
{
	int32_t *owned = NULL;
	enum wring_status status;
	int i;

	disturb(true);
	if (failure_open(f)) {
		status = wring_alloc(f->comm, LARGE_COUNT * sizeof(*owned), (void **)&owned);
		(void)failure_status(f, "alloc", status, WRING_OK);
		for (i = 0; i < 10 && !f->failed; i++) {
			if (f->rank == i % f->size)
				nap_s(0.05);
			failure_healthy(f);
			status = wring_allreduce(f->comm, owned, owned, LARGE_COUNT, WRING_INT32,
						 WRING_SUM);
			(void)failure_status(f, "allreduce", status, WRING_OK);
		}
		wring_free(f->comm, owned);
		failure_close(f);
	}
	disturb(false);
	(void)failure_expect(f, signals > 100, "only %d signals came", (int)signals);
}

/* --- two communicators in two threads ----------------------------------------------------- */

struct pair {
	struct wring_comm *comm;
	int rank, size, wrong;
	enum wring_status status;
};

static void *use_comm(void *arg)
{
	struct pair *pair = arg;
	int64_t x[100];
	int i, j;

	for (i = 0; i < PAIR_CALLS && pair->status == WRING_OK; i++) {
		for (j = 0; j < 100; j++)
			x[j] = (int64_t)i * (pair->rank + 1) + j;
		pair->status = wring_allreduce(pair->comm, x, x, 100, WRING_INT64, WRING_SUM);
		for (j = 0; j < 100 && pair->status == WRING_OK; j++)
			pair->wrong += x[j] != (int64_t)i * pair->size * (pair->size + 1) / 2 +
						       (int64_t)j * pair->size;
	}
	return NULL;
}

static void body_threads(struct failure_rank *f)
{
	struct pair pairs[2];
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (!failure_open(f))
			return;
		pairs[i] = (struct pair){.comm = f->comm, .rank = f->rank, .size = f->size};
	}
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, use_comm, &pairs[i]))
			exit(3);
	for (i = 0; i < 2; i++) {
		(void)pthread_join(threads[i], NULL);
		f->comm = pairs[i].comm;
		(void)failure_status(f, "allreduce", pairs[i].status, WRING_OK);
		(void)failure_expect(f, pairs[i].wrong == 0, "%d wrong values", pairs[i].wrong);
	}
	wring_comm_destroy(pairs[0].comm);
	f->comm = pairs[1].comm;
	failure_close(f);
}

/* --- other users -------------------------------------------------------------------------- */

/* As nobody: how many of this rank's new descriptors can be opened? In a child. */
static int count_openable(const bool *before, pid_t owner)
{
	static const int modes[] = {O_RDONLY, O_RDWR, O_WRONLY};
	char path[64];
	int fd, opened, n = 0;
	size_t i;

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return 100;
	for (fd = 0; fd < FD_MOST; fd++) {
		for (i = 0; !before[fd] && i < sizeof(modes) / sizeof(modes[0]); i++) {
			(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)owner, fd);
			opened = open(path, modes[i] | O_NONBLOCK | O_CLOEXEC);
			n += opened >= 0;
		}
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)owner);
	return n + (open(path, O_RDONLY | O_CLOEXEC) >= 0);
}

/* The same as the owner: or the test would prove nothing. */
static bool openable_by_owner(const bool *before)
{
	char path[64];
	int fd, n = 0, opened;

	for (fd = 0; fd < FD_MOST; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
		opened = before[fd] ? -1 : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (opened < 0)
			continue;
		n++;
		(void)close(opened);
	}
	return n > 0;
}

static void body_security(struct failure_rank *f)
{
	bool before[FD_MOST];
	pid_t owner = getpid(), child;
	int status = -1;

	note_open(before);
	if (!failure_open(f))
		return;
	(void)failure_expect(f, openable_by_owner(before), "nothing to open");
	child = fork();
	if (child == 0)
		_exit(count_openable(before, owner));
	(void)waitpid(child, &status, 0);
	(void)failure_expect(f, status == 0, "another user can open %d descriptors",
			     WEXITSTATUS(status));
	failure_healthy(f);
	failure_close(f);
}

void failure_processes(void)
{
	const struct failure_test tests[] = {
		{.name = "exec_inherits_nothing", .ranks = 2, .body = body_exec},
		{.name = "forked_children_do_no_harm", .ranks = 2, .body = body_fork},
		{.name = "every_descriptor_is_closed_on_exec",
		 .ranks = 2,
		 .body = body_cloexec,
		 .settings = "trace=/dev/null"},
		{.name = "signals_disturb_nothing_while_yielding",
		 .ranks = 3,
		 .body = body_signals},
		{.name = "signals_disturb_nothing_while_asleep",
		 .ranks = 3,
		 .body = body_signals,
		 .settings = "wait=event"},
		{.name = "two_communicators_in_two_threads", .ranks = 2, .body = body_threads},
		{.name = "two_communicators_in_two_threads_that_sleep",
		 .ranks = 2,
		 .body = body_threads,
		 .settings = "wait=event"},
	};
	const struct failure_test security = {
		.name = "another_user_cannot_open_a_segment", .ranks = 2, .body = body_security};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failure_run(&tests[i]);
	if (geteuid() == 0)
		failure_run(&security);
}
