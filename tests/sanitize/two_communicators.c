/* two_communicators.c: each rank has two communicators and uses them in two threads at once. */
#include "tests/harness/ranks.h"

#include "tests/harness/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, ROUNDS = 60, SMALL = 100, LARGE = 60000, TIMEOUT_S = 120 };

struct work {
	struct wring_comm *comm;
	int32_t *plain; /* from malloc */
	int failures;
};

static void complain(struct work *work, const char *what)
{
	struct wring_error error = {0};

	wring_comm_error(work->comm, &error);
	(void)fprintf(stderr, "# rank %d: %s: %s\n", wring_comm_rank(work->comm), what, error.text);
	work->failures++;
}

static void fill(int32_t *buf, size_t count, int32_t value)
{
	for (size_t i = 0; i < count; i++)
		buf[i] = value + (int32_t)i;
}

static void compare(struct work *work, const int32_t *buf, size_t count, int32_t value, int times)
{
	for (size_t i = 0; i < count; i++) {
		if (buf[i] == times * (value + (int32_t)i))
			continue;
		complain(work, "a wrong value");
		return;
	}
}

static void allreduce(struct work *work, int32_t *buf, size_t count, int32_t value)
{
	int size = wring_comm_size(work->comm);

	fill(buf, count, value);
	if (wring_allreduce(work->comm, buf, buf, count, WRING_INT32, WRING_SUM))
		complain(work, "allreduce");
	else
		compare(work, buf, count, value, size);
}

static void broadcast(struct work *work, int32_t *buf, size_t count, int root)
{
	if (wring_comm_rank(work->comm) == root)
		fill(buf, count, root);
	if (wring_broadcast(work->comm, buf, count, WRING_INT32, root))
		complain(work, "broadcast");
	else
		compare(work, buf, count, root, 1);
}

static void do_round(struct work *work, int round)
{
	size_t count = round % 4 ? SMALL : LARGE;
	void *buf = NULL;

	allreduce(work, work->plain, count, round);
	broadcast(work, work->plain, count, round % wring_comm_size(work->comm));
	if (wring_alloc(work->comm, LARGE * sizeof(int32_t), &buf)) {
		complain(work, "alloc");
		return;
	}
	allreduce(work, buf, count, -round);
	if (wring_barrier(work->comm))
		complain(work, "barrier");
	wring_free(work->comm, buf);
}

static void *use(void *arg)
{
	struct work *work = arg;

	work->plain = malloc(LARGE * sizeof(int32_t));
	for (int round = 0; work->plain && round < ROUNDS && !work->failures; round++)
		do_round(work, round);
	free(work->plain);
	wring_comm_destroy(work->comm);
	return NULL;
}

static int body(const struct rank_context *context)
{
	struct work work[2] = {{0}};
	struct wring_error error;
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		if (!wring_comm_create(context->bootstrap, NULL, &work[i].comm, &error))
			continue;
		(void)fprintf(stderr, "# create: %s\n", error.text);
		return 1;
	}
	if (pthread_create(&thread, NULL, use, &work[1]))
		return 1;
	(void)use(&work[0]);
	(void)pthread_join(thread, NULL);
	return work[0].failures + work[1].failures > 0;
}

int main(void)
{
	tap_result(!ranks_run(RANKS, body, NULL, TIMEOUT_S),
		   "two_communicators_in_two_threads_of_each_process", "%d rounds", ROUNDS);
	tap_result(!ranks_run_threads(RANKS, body, NULL, TIMEOUT_S),
		   "two_communicators_in_two_threads_of_each_rank_as_thread", "%d rounds", ROUNDS);
	return tap_finish();
}
