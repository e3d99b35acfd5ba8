/* wake.c: a writer and a rank about to sleep never miss each other: fails without a fence. */
/* SPDX-License-Identifier: MIT */
#include "tests/harness/tap.h"

#include "transport/transport_state.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The writer stores a message (or a credit) and then reads the flag; the other raises the flag and
 * then looks for the message. Processors may let a load overtake an earlier store: then each misses
 * the other, and the one that sleeps is not woken. Both sides run their real code here, as close
 * together as two threads can, for some seconds: without a fence that brings it about.
 */

enum { SECONDS = 4, SLOTS = 8, SPINS = 1000000, MOST_TURNS = 5000 };

enum what { MESSAGE, CREDIT };

struct scene {
	enum what what;
	struct transport writer, sleeper;
	struct arena *arena; /* the sleeper's */
	struct back_end *back_end;
	struct shm_link shm_link;
	struct link to, from; /* the writer's link, the sleeper's */
	unsigned char *unused_area;
	int met[2]; /* rounds that writer and sleeper have come to */
	bool ended; /* written before a meeting, read after it */
	int rounds, lost, seen;
};

static const struct area area = {.offset = ARENA_PAGE, .slots = SLOTS, .slot_bytes = 64};
static const struct signature signature = {.operation = 1, .root = -1, .collective = 3};

/* Both have come to this round. */
static void meet(struct scene *scene, int self, int round)
{
	int spins = 0;

	__atomic_store_n(&scene->met[self], round, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&scene->met[!self], __ATOMIC_SEQ_CST) < round)
		if (++spins > SPINS) {
			spins = 0;
			(void)sched_yield();
		}
}

static void delay(unsigned int turns)
{
	volatile unsigned int i;

	for (i = 0; i < turns; i++)
		;
}

static void *write_often(void *arg)
{
	struct scene *scene = arg;
	int round;

	for (round = 1;; round++) {
		meet(scene, 0, 2 * round - 1);
		if (scene->ended)
			return NULL;
		delay((unsigned int)round % 61);
		if (scene->what == MESSAGE) {
			link_notify(&scene->to, MESSAGE_DATA, &signature);
		} else {
			scene->to.consumed++;
			link_flush_credit(&scene->to);
		}
		meet(scene, 0, 2 * round);
	}
}

static bool sees_it(struct scene *scene, int round)
{
	struct message message;

	if (scene->what == MESSAGE)
		return link_peek(&scene->from, &message);
	return __atomic_load_n(scene->from.credit_word, __ATOMIC_ACQUIRE) == (uint64_t)round;
}

/* The delay with which the look meets the write: half of the writes are seen by it. */
static unsigned int adapt(unsigned int turns, bool saw)
{
	if (saw)
		return turns > 0 ? turns - 1 : 0;
	return turns < MOST_TURNS ? turns + 1 : 0;
}

static void sleep_often(struct scene *scene)
{
	const struct arena_header *header = arena_header(scene->arena);
	uint64_t end = transport_now() + (uint64_t)SECONDS * 1000000000;
	unsigned int turns = 0;
	bool saw, rung;
	int round;

	for (round = 1;; round++) {
		scene->ended = round % 64 == 0 && transport_now() > end;
		meet(scene, 1, 2 * round - 1);
		if (scene->ended)
			break;
		delay(turns + (unsigned int)round % 151);
		scene->back_end->ops->arm(scene->back_end);
		saw = sees_it(scene, round);
		meet(scene, 1, 2 * round);
		rung = !__atomic_load_n(&header->asleep, __ATOMIC_SEQ_CST);
		scene->lost += !saw && !rung;
		scene->seen += saw;
		turns = adapt(turns, saw);
		scene->rounds = round;
		scene->back_end->ops->disarm(scene->back_end);
		scene->back_end->ops->acknowledge(scene->back_end,
						  &(struct pollfd){.revents = POLLIN});
		if (scene->what == MESSAGE)
			link_consume(&scene->from);
	}
}

static bool set_up(struct scene *scene)
{
	struct wring_error error = {.status = WRING_OK};
	size_t len = arena_round_to_page(ARENA_PAGE + area_len(&area));

	if (arena_open(&scene->arena, &error) || arena_grow_head(scene->arena, len, &error) ||
	    shm_open_back_end(&scene->back_end, scene->arena, &error)) {
		fprintf(stderr, "# %s\n", error.text);
		return false;
	}
	scene->unused_area = calloc(1, area_len(&area));
	scene->shm_link = (struct shm_link){.head = scene->arena->base,
					    .doorbell = ((struct shm *)scene->back_end)->pipe[1]};
	shm_area_init(scene->arena->base + ARENA_PAGE, &area, 0);
	scene->to = (struct link){
		.transport = &scene->writer,
		.ops = &shm_link_ops,
		.tx = area,
		.tx_area = scene->arena->base + ARENA_PAGE,
		.rx = area,
		.peer_sleeps = true,
		.back_end = &scene->shm_link,
	};
	scene->from = (struct link){
		.transport = &scene->sleeper,
		.ops = &shm_link_ops,
		.tx = area,
		.tx_area = scene->unused_area,
		.rx = area,
		.rx_area = scene->arena->base + ARENA_PAGE,
		.credit_word = (const void *)(scene->arena->base + ARENA_PAGE + area_credit_at()),
		.back_end = &scene->shm_link,
	};
	return scene->unused_area != NULL;
}

static void run(const char *name, enum what what)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	pthread_t thread;
	bool good = scene && set_up(scene);

	if (good) {
		scene->what = what;
		good = pthread_create(&thread, NULL, write_often, scene) == 0;
	}
	if (good) {
		sleep_often(scene);
		(void)pthread_join(thread, NULL);
		good = scene->lost == 0;
		tap_result(good, name, "%d of %d wake-ups lost, %d seen before the sleep",
			   scene->lost, scene->rounds, scene->seen);
	} else {
		tap_result(false, name, NULL);
	}
	if (scene) {
		if (scene->back_end)
			scene->back_end->ops->close(scene->back_end);
		arena_close(scene->arena);
		free(scene->unused_area);
	}
	free(scene);
}

int main(void)
{
	run("message_to_a_rank_about_to_sleep_is_seen_or_rings", MESSAGE);
	run("credit_to_a_rank_about_to_sleep_is_seen_or_rings", CREDIT);
	return tap_finish();
}
