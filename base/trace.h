/* trace.h: writes what happens as Chrome trace events, to be looked at in Perfetto. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdint.h>

#include "wring.h"

struct trace;

/*
 * Open the file "NAME" for rank; with more than one rank ".RANK" is put before the last dot, or
 * at the end. NULL name or "" gives NULL: every other function accepts that and does nothing.
 */
enum wring_status trace_open(struct trace **trace, const char *name, int rank, int size,
			     struct wring_error *error);

/* Finish the JSON array and close. */
void trace_close(struct trace *trace);

/* One instant event: category ("qp", "credit", "message", "step"), name, peer, and one number with
 * its meaning. The strings must need no escaping. */
void trace_event(struct trace *trace, const char *category, const char *name, int peer,
		 const char *key, uint64_t value);

/* A span: begin and end carry the same name and id (the operation). */
void trace_begin(struct trace *trace, const char *name, uint64_t operation);
void trace_end(struct trace *trace, const char *name, uint64_t operation);

#endif
