/* engine.h: the lock of a communicator and, if asked for, the thread that makes progress. */
/* SPDX-License-Identifier: MIT */
#ifndef COLL_ENGINE_H
#define COLL_ENGINE_H

#include <pthread.h>

#include "coll/coll.h"

/* progress=none: lock and unlock do nothing, for a communicator belongs to one thread at a time. */
struct engine {
	struct coll *coll;
	bool threaded;
	bool stop;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
};

/* Borrows coll until engine_stop. SYSTEM: no thread can be made. */
enum wring_status engine_start(struct engine *engine, struct coll *coll, bool threaded,
			       struct wring_error *error);

/* Ends the thread; a zeroed engine is fine. */
void engine_stop(struct engine *engine);

void engine_lock(struct engine *engine);
void engine_unlock(struct engine *engine);

/* A request was started: the thread has work. Lock held. */
void engine_wake(struct engine *engine);

#endif
