/* exhaust.c: the n-th call to the system fails, for n = 1, 2, ...: an error each time, no leak. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/fail_nth.h"
#include "tests/harness/usage.h"
#include "tests/harness/ranks.h"
#include "tests/harness/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, MOST = 400, TIMEOUT_S = 100, COUNT = 50000 };

enum what {
	ROUNDS,	  /* the first thing that creation asks for */
	CREATION, /* everything else that it asks for */
	CALLS,	  /* alloc, register and operations of a communicator that stands */
};

struct exhaustion {
	const char *name, *settings;
	int victim;
	bool persistent;
	enum what what;
};

/* The victim's calls are counted in the library, not in the bootstrap. */
struct pausing {
	const struct wring_bootstrap *inner;
};

struct rank {
	const struct rank_context *context;
	const struct exhaustion *test;
	int rank, failed;
	struct usage before;
};

__attribute__((format(printf, 2, 3))) static void complain(struct rank *r, const char *what, ...)
{
	char line[800];
	va_list args;

	r->failed++;
	va_start(args, what);
	(void)vsnprintf(line, sizeof(line), what, args);
	va_end(args);
	fprintf(stderr, "# %s: rank %d: %s\n", r->test->name, r->rank, line);
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	const struct pausing *pausing = ctx;
	int code;

	fail_nth_pause(true);
	code = pausing->inner->allgather(pausing->inner->ctx, in, out, len);
	fail_nth_pause(false);
	return code;
}

static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	const struct pausing *pausing = ctx;
	int code;

	fail_nth_pause(true);
	code = pausing->inner->alltoall(pausing->inner->ctx, in, out, len);
	fail_nth_pause(false);
	return code;
}

static enum wring_status create(struct rank *r, unsigned int n, struct wring_comm **comm,
				struct wring_error *error)
{
	struct pausing pausing = {.inner = r->context->bootstrap};
	struct wring_bootstrap bootstrap = *r->context->bootstrap;
	struct wring_config config;
	enum wring_status status = settings_parse(&config, r->test->settings, error);

	bootstrap.allgather = allgather;
	bootstrap.alltoall = alltoall;
	bootstrap.ctx = &pausing;
	if (status)
		return status;
	if (r->rank == r->test->victim)
		fail_nth(n, r->test->persistent);
	status = wring_comm_create(&bootstrap, &config, comm, error);
	(void)fail_nth_end();
	return status;
}

static void check_nothing_left(struct rank *r, unsigned int n, long pieces)
{
	char text[256];

	if (usage_grew(&r->before, text, sizeof(text)))
		complain(r, "n = %u (%s): left behind: %s", n, fail_nth_name(), text);
	if (fail_nth_pieces() > pieces)
		complain(r, "n = %u (%s): %ld pieces of memory are left", n, fail_nth_name(),
			 fail_nth_pieces() - pieces);
}

static void check_working(struct rank *r, struct wring_comm *comm)
{
	int32_t x = r->rank + 1;
	enum wring_status status = wring_allreduce(comm, &x, &x, 1, WRING_INT32, WRING_SUM);

	if (status != WRING_OK || x != RANKS * (RANKS + 1) / 2)
		complain(r, "an allreduce gave %s and %d", wring_strerror(status), (int)x);
}

/* A file that cannot be read or has no seal is not the memory of that peer: both ranks say so. */
static bool tells_of_a_peer(const char *denied)
{
	return strcmp(denied, "fcntl") == 0 || strcmp(denied, "pread") == 0;
}

/* All ranks have failed, with the same words. A call whose failure is borne may also end well. */
static void compare(struct rank *r, unsigned int n, const struct wring_error *error)
{
	const struct wring_bootstrap *bootstrap = r->context->bootstrap;
	struct wring_error all[RANKS_MAX];
	char names[RANKS_MAX * 16], name[16], *denied = names + r->test->victim * 16;
	int rank;

	(void)snprintf(name, sizeof(name), "%s", fail_nth_name());
	if (bootstrap->allgather(bootstrap->ctx, name, names, sizeof(name)) ||
	    bootstrap->allgather(bootstrap->ctx, error, all, sizeof(*error)))
		complain(r, "n = %u (%s): the ranks could not compare", n, fail_nth_name());
	for (rank = 0; rank < RANKS && !r->failed; rank++)
		if (all[rank].status != error->status || strcmp(all[rank].text, error->text) != 0)
			complain(r, "n = %u (%s): \"%s\", but \"%s\" on rank %d", n,
				 fail_nth_name(), error->text, all[rank].text, rank);
	if (error->status && !text_is_one_line(error->text))
		complain(r, "n = %u (%s): text \"%s\"", n, fail_nth_name(), error->text);
	if (error->status && error->rank != r->test->victim && !tells_of_a_peer(denied))
		complain(r, "n = %u (%s): rank %d is named: %s", n, fail_nth_name(), error->rank,
			 error->text);
}

/* One attempt at creation; returns false when the victim's counter was not reached any more. */
static bool attempt(struct rank *r, unsigned int n)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *comm = NULL;
	long pieces = fail_nth_pieces();
	enum wring_status status = create(r, n, &comm, &error);
	char denied = fail_nth_name()[0] != '\0', any[RANKS_MAX];

	if (status != error.status || (comm != NULL) != (status == WRING_OK))
		complain(r, "n = %u: status %d, error %d, comm %p", n, (int)status,
			 (int)error.status, (void *)comm);
	compare(r, n, &error);
	if (comm)
		check_working(r, comm);
	wring_comm_destroy(comm);
	check_nothing_left(r, n, pieces);
	if (r->context->bootstrap->allgather(r->context->bootstrap->ctx, &denied, any, 1))
		return false;
	return any[r->test->victim] && !r->failed;
}

static int body_of_creation(struct rank *r)
{
	unsigned int n = 2;

	while (n < MOST && attempt(r, n))
		n++;
	if (n < 20 && !r->failed)
		complain(r, "only %u calls were made to fail", n - 1);
	if (r->rank == r->test->victim && !r->failed)
		fprintf(stderr, "# %s: %u calls were made to fail\n", r->test->name, n - 1);
	return r->failed ? 1 : 0;
}

/* --- calls on a communicator that stands -------------------------------------------------- */

/* The victim's local calls fail, or not; the others know nothing of it. */
static void local_calls(struct rank *r, struct wring_comm *comm, unsigned int n)
{
	struct wring_error error = {.status = WRING_OK};
	static char memory[4096];
	void *buf = NULL;
	enum wring_status alloc, note;

	fail_nth(n, r->test->persistent);
	alloc = wring_alloc(comm, COUNT, &buf);
	note = wring_register(comm, memory, sizeof(memory));
	(void)fail_nth_end();
	wring_comm_error(comm, &error);
	if (alloc && (alloc != WRING_ERR_NOMEM || buf))
		complain(r, "n = %u (%s): alloc gave %s: %s", n, fail_nth_name(),
			 wring_strerror(alloc), error.text);
	if (note && note != WRING_ERR_NOMEM)
		complain(r, "n = %u (%s): register gave %s: %s", n, fail_nth_name(),
			 wring_strerror(note), error.text);
	if ((alloc || note) && !text_is_one_line(error.text))
		complain(r, "n = %u (%s): text \"%s\"", n, fail_nth_name(), error.text);
	if (!note && wring_deregister(comm, memory) != WRING_OK)
		complain(r, "deregister");
	wring_free(comm, buf);
}

/* An operation may end well, or with one error on every rank; a refused start breaks nothing. */
static enum wring_status operations(struct rank *r, struct wring_comm *comm, unsigned int n,
				    int32_t *buf)
{
	enum wring_status status = WRING_ERR_NOMEM;
	struct wring_error error = {.status = WRING_OK};
	int tries = 0;

	if (r->rank == r->test->victim)
		fail_nth(n, r->test->persistent);
	while (status == WRING_ERR_NOMEM && tries++ < 3) {
		status = wring_allreduce(comm, buf, buf, COUNT, WRING_INT32, WRING_MAX);
		if (r->test->persistent)
			(void)fail_nth_end();
	}
	(void)fail_nth_end();
	wring_comm_error(comm, &error);
	if (status != WRING_OK && status != WRING_ERR_SYSTEM)
		complain(r, "n = %u (%s): allreduce gave %s: %s", n, fail_nth_name(),
			 wring_strerror(status), error.text);
	return status;
}

static int body_of_calls(struct rank *r)
{
	struct wring_error error = {.status = WRING_OK};
	unsigned int n;

	for (n = 1; n < 40 && !r->failed; n++) {
		struct wring_comm *comm = NULL;
		long pieces = fail_nth_pieces();
		void *buf = NULL;
		enum wring_status status;

		if (create(r, 0, &comm, &error) != WRING_OK ||
		    wring_alloc(comm, COUNT * sizeof(int32_t), &buf) != WRING_OK) {
			complain(r, "create and alloc: %s", error.text);
			return 1;
		}
		memset(buf, 1, COUNT * sizeof(int32_t));
		if (r->rank == r->test->victim)
			local_calls(r, comm, n);
		status = operations(r, comm, n, buf);
		if (status == WRING_OK)
			check_working(r, comm);
		wring_free(comm, buf);
		wring_comm_destroy(comm);
		check_nothing_left(r, n, pieces);
	}
	return r->failed ? 1 : 0;
}

/* Without memory for the rounds a rank can tell nobody: the bootstrap does, when it is gone. */
static int body_without_rounds(struct rank *r)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *comm = NULL;
	long pieces = fail_nth_pieces();
	enum wring_status status = create(r, 1, &comm, &error);
	bool victim = r->rank == r->test->victim;

	if (status != (victim ? WRING_ERR_NOMEM : WRING_ERR_BOOTSTRAP) || comm)
		complain(r, "create gave %s: %s", wring_strerror(status), error.text);
	check_nothing_left(r, 1, pieces);
	return r->failed ? 1 : 0;
}

static int body(const struct rank_context *context)
{
	struct rank r = {
		.context = context,
		.test = context->arg,
		.rank = context->rank,
		.before = usage_now(),
	};

	switch (r.test->what) {
	case ROUNDS:
		return body_without_rounds(&r);
	case CREATION:
		return body_of_creation(&r);
	case CALLS:
	default:
		return body_of_calls(&r);
	}
}

int main(void)
{
	static struct exhaustion tests[] = {
		{"creation_without_memory_for_its_rounds", "transport=shm", 1, false, ROUNDS},
		{"creation_survives_one_refusal", "transport=shm", 1, false, CREATION},
		{"creation_survives_one_refusal_on_rank_0", "transport=shm", 0, false, CREATION},
		{"creation_survives_one_refusal_when_verbs_might_do", "", 2, false, CREATION},
		{"creation_survives_refusals_that_go_on", "transport=shm", 1, true, CREATION},
		{"creation_survives_one_refusal_with_thread_and_trace",
		 "transport=shm progress=thread trace=/dev/null", 1, false, CREATION},
		{"calls_survive_one_refusal", "transport=shm", 1, false, CALLS},
		{"calls_survive_refusals_that_go_on", "transport=shm", 1, true, CALLS},
	};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tap_result(ranks_run(RANKS, body, &tests[i], TIMEOUT_S) == 0, tests[i].name, NULL);
	return tap_finish();
}
