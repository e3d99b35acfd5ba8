/* trace.c: Chrome trace events, one JSON object a line. */
/* SPDX-License-Identifier: MIT */
#include "base/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

struct trace {
	FILE *file;
	int rank;
	const char *comma; /* what goes before the next event */
};

/* "a/b.json", rank 3 -> "a/b.3.json" */
static void name_for_rank(char *out, size_t len, const char *name, int rank)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash : name, '.');
	int stem = dot ? (int)(dot - name) : (int)strlen(name);

	(void)snprintf(out, len, "%.*s.%d%s", stem, name, rank, dot ? dot : "");
}

enum wring_status trace_open(struct trace **trace, const char *name, int rank, int size,
			     struct wring_error *error)
{
	char path[320];
	struct trace *t;

	*trace = NULL;
	if (!name || !name[0])
		return WRING_OK;
	(void)snprintf(path, sizeof(path), "%s", name);
	if (size > 1)
		name_for_rank(path, sizeof(path), name, rank);
	t = calloc(1, sizeof(*t));
	if (!t)
		return error_set(error, WRING_ERR_NOMEM, "no memory for a trace of %zu bytes",
				 sizeof(*t));
	t->file = fopen(path, "we");
	if (!t->file) {
		int e = errno;

		free(t);
		return error_native(error, WRING_ERR_INVALID, e,
				    "trace: cannot open \"%s\": %s; name a writable file", path,
				    strerror(e));
	}
	t->rank = rank;
	t->comma = "";
	fputs("[\n", t->file);
	*trace = t;
	return WRING_OK;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	fputs("\n]\n", trace->file);
	fclose(trace->file);
	free(trace);
}

/* Everything that all events have; the caller closes the object. */
static void event_head(struct trace *trace, const char *phase, const char *category,
		       const char *name)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(trace->file,
		"%s{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":0,"
		"\"ts\":%" PRIu64 ".%03ld",
		trace->comma, phase, category, name, trace->rank,
		(uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000, now.tv_nsec % 1000);
	trace->comma = ",\n";
}

void trace_event(struct trace *trace, const char *category, const char *name, int peer,
		 const char *key, uint64_t value)
{
	if (!trace)
		return;
	event_head(trace, "i", category, name);
	fprintf(trace->file, ",\"s\":\"t\",\"args\":{\"peer\":%d,\"%s\":%" PRIu64 "}}", peer, key,
		value);
}

void trace_begin(struct trace *trace, const char *name, uint64_t operation)
{
	if (!trace)
		return;
	event_head(trace, "b", "operation", name);
	fprintf(trace->file, ",\"id\":%" PRIu64 "}", operation);
}

void trace_end(struct trace *trace, const char *name, uint64_t operation)
{
	if (!trace)
		return;
	event_head(trace, "e", "operation", name);
	fprintf(trace->file, ",\"id\":%" PRIu64 "}", operation);
}
