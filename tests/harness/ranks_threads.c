/* ranks_threads.c: ranks as threads of one process, with a bootstrap that meets in memory. */
#include "tests/harness/ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEET_S = 60 };

enum call { CALL_ALLGATHER = 1, CALL_ALLTOALL = 2 };

/* What each rank brings to a meeting. */
struct offer {
	enum call call;
	const char *in;
	size_t len;
};

struct room {
	pthread_mutex_t lock;
	pthread_cond_t all_here;
	int size, arrived;
	unsigned int generation;
	bool broken;
	struct offer offers[RANKS_MAX];
};

struct seat {
	struct room *room;
	pthread_t thread;
	struct wring_bootstrap bootstrap;
	struct rank_context context;
	int (*body)(const struct rank_context *context);
	int status;
};

struct threads {
	int size;
	int (*body)(const struct rank_context *context);
	void *arg;
};

/* A barrier with a deadline. */
static int meet(struct room *room)
{
	struct timespec until;
	unsigned int generation;
	bool broken;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += MEET_S;
	(void)pthread_mutex_lock(&room->lock);
	generation = room->generation;
	if (++room->arrived == room->size) {
		room->arrived = 0;
		room->generation++;
		(void)pthread_cond_broadcast(&room->all_here);
	}
	while (!room->broken && generation == room->generation) {
		if (pthread_cond_timedwait(&room->all_here, &room->lock, &until) == ETIMEDOUT)
			room->broken = true;
	}
	broken = room->broken;
	if (broken)
		(void)pthread_cond_broadcast(&room->all_here);
	(void)pthread_mutex_unlock(&room->lock);
	return broken ? -1 : 0;
}

static void break_up(struct room *room)
{
	(void)pthread_mutex_lock(&room->lock);
	room->broken = true;
	(void)pthread_cond_broadcast(&room->all_here);
	(void)pthread_mutex_unlock(&room->lock);
}

static int exchange(struct seat *seat, const struct offer *mine, char *out)
{
	struct room *room = seat->room;
	size_t rank = (size_t)seat->bootstrap.rank;
	int rc = 0;

	room->offers[rank] = *mine;
	if (meet(room))
		return -1;
	for (size_t from = 0; from < (size_t)room->size; from++) {
		const struct offer *offer = &room->offers[from];
		size_t skip = offer->call == CALL_ALLTOALL ? rank * offer->len : 0;

		if (offer->call != mine->call || offer->len != mine->len)
			rc = -1;
		else
			memcpy(out + from * mine->len, offer->in + skip, mine->len);
	}
	return meet(room) ? -1 : rc;
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	const struct offer mine = {.call = CALL_ALLGATHER, .in = in, .len = len};

	return exchange(ctx, &mine, out);
}

static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	const struct offer mine = {.call = CALL_ALLTOALL, .in = in, .len = len};

	return exchange(ctx, &mine, out);
}

static void *run_seat(void *arg)
{
	struct seat *seat = arg;

	seat->status = seat->body(&seat->context);
	if (seat->status != 0) {
		fprintf(stderr, "# rank %d failed with %d\n", seat->context.rank, seat->status);
		break_up(seat->room);
	}
	return NULL;
}

static void take_seat(struct seat *seat, struct room *room, int rank, const struct threads *threads)
{
	*seat = (struct seat){.room = room, .body = threads->body};
	seat->bootstrap = (struct wring_bootstrap){
		.struct_size = sizeof(struct wring_bootstrap),
		.rank = rank,
		.size = threads->size,
		.allgather = allgather,
		.alltoall = alltoall,
		.ctx = seat,
	};
	seat->context = (struct rank_context){
		.rank = rank,
		.size = threads->size,
		.bootstrap = &seat->bootstrap,
		.arg = threads->arg,
	};
}

static int run_room(const struct threads *threads, struct seat *seats)
{
	struct room room = {.size = threads->size};
	int started = 0, failed = 0;

	(void)pthread_mutex_init(&room.lock, NULL);
	(void)pthread_cond_init(&room.all_here, NULL);
	for (; started < threads->size; started++) {
		take_seat(&seats[started], &room, started, threads);
		if (pthread_create(&seats[started].thread, NULL, run_seat, &seats[started])) {
			break_up(&room);
			break;
		}
	}
	for (int r = 0; r < started; r++) {
		(void)pthread_join(seats[r].thread, NULL);
		failed += seats[r].status != 0;
	}
	(void)pthread_cond_destroy(&room.all_here);
	(void)pthread_mutex_destroy(&room.lock);
	return failed + threads->size - started;
}

/* The one process of the launcher's group: the threads live in it. */
static int run_all(const struct rank_context *context)
{
	const struct threads *threads = context->arg;
	struct seat *seats = calloc((size_t)threads->size, sizeof(*seats));
	int failed = seats ? run_room(threads, seats) : 1;

	free(seats);
	return failed;
}

int ranks_run_threads(int size, int (*body)(const struct rank_context *context), void *arg,
		      int timeout_s)
{
	struct threads threads = {.size = size, .body = body, .arg = arg};

	return ranks_run(1, run_all, &threads, timeout_s);
}
