/* engine.c: progress while the program computes. */
/* SPDX-License-Identifier: MIT */
#include "coll/engine.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { BUSY_ROUNDS = 1000 }; /* without movement before the thread naps */
#define NAP_NS 20000	     /* the program's own thread needs the core and the lock */

/* One step of the thread; lock held. Returns how many rounds nothing has moved. */
static unsigned step(struct coll *coll, unsigned quiet)
{
	uint64_t before = coll_moved(coll);

	coll_progress(coll);
	return coll_moved(coll) == before ? quiet + 1 : 0;
}

static void *run(void *arg)
{
	struct timespec nap = {.tv_nsec = NAP_NS};
	struct engine *engine = arg;
	unsigned quiet = 0;

	pthread_mutex_lock(&engine->lock);
	while (!engine->stop) {
		if (!coll_pending(engine->coll)) {
			pthread_cond_wait(&engine->work, &engine->lock);
			continue;
		}
		quiet = step(engine->coll, quiet);
		pthread_mutex_unlock(&engine->lock);
		if (quiet < BUSY_ROUNDS)
			(void)sched_yield();
		else
			(void)nanosleep(&nap, NULL);
		pthread_mutex_lock(&engine->lock);
	}
	pthread_mutex_unlock(&engine->lock);
	return NULL;
}

/* The program's signals are for the program's threads. */
static int create_thread(struct engine *engine)
{
	sigset_t all, old;
	int code;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	code = pthread_create(&engine->thread, NULL, run, engine);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return code;
}

enum wring_status engine_start(struct engine *engine, struct coll *coll, bool threaded,
			       struct wring_error *error)
{
	int code;

	engine->coll = coll;
	if (!threaded)
		return WRING_OK;
	pthread_mutex_init(&engine->lock, NULL);
	pthread_cond_init(&engine->work, NULL);
	code = create_thread(engine);
	if (code)
		return error_native(error, WRING_ERR_SYSTEM, code,
				    "pthread_create for progress=thread failed: %s; see ulimit -u",
				    strerror(code));
	engine->threaded = true;
	return WRING_OK;
}

void engine_stop(struct engine *engine)
{
	if (!engine->threaded)
		return;
	pthread_mutex_lock(&engine->lock);
	engine->stop = true;
	pthread_cond_signal(&engine->work);
	pthread_mutex_unlock(&engine->lock);
	pthread_join(engine->thread, NULL);
	pthread_mutex_destroy(&engine->lock);
	pthread_cond_destroy(&engine->work);
	engine->threaded = false;
}

void engine_lock(struct engine *engine)
{
	if (engine->threaded)
		pthread_mutex_lock(&engine->lock);
}

void engine_unlock(struct engine *engine)
{
	if (engine->threaded)
		pthread_mutex_unlock(&engine->lock);
}

void engine_wake(struct engine *engine)
{
	if (engine->threaded)
		pthread_cond_signal(&engine->work);
}
