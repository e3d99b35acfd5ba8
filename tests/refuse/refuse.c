/* refuse.c: runs tests of refusals, and looks at errors, leaks and the health of a communicator. */
#include "tests/refuse/refuse.h"

#include "tests/harness/tap.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_S = 40, TIMEOUT_MS = 15000 };

static const char *selected = "";

void refuse_select(const char *word)
{
	selected = word;
}

bool refuse_selected(const char *name)
{
	return strstr(name, selected) != NULL;
}

double refuse_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool refuse_expect(struct refuse *r, bool good, const char *what, ...)
{
	char line[1024];
	va_list args;

	if (good)
		return true;
	r->failed++;
	va_start(args, what);
	(void)vsnprintf(line, sizeof(line), what, args);
	va_end(args);
	fprintf(stderr, "# %s: rank %d: %s\n", r->test->name, r->rank, line);
	return false;
}

bool refuse_status(struct refuse *r, const char *call, enum wring_status got,
		   enum wring_status wanted)
{
	return refuse_expect(r, got == wanted, "%s gave %d (%s), not %d (%s)", call, (int)got,
			     wring_strerror(got), (int)wanted, wring_strerror(wanted));
}

void refuse_error(struct refuse *r, const char *call, const struct wring_error *error,
		  enum wring_status wanted, const char *text)
{
	size_t len = strnlen(error->text, sizeof(error->text));

	(void)refuse_expect(r, error->status == wanted, "%s: the error says %d, not %d: %s", call,
			    (int)error->status, (int)wanted, error->text);
	if (!refuse_expect(r, len < sizeof(error->text), "%s: text without end", call))
		return;
	(void)refuse_expect(r, len > 0, "%s: no text", call);
	(void)refuse_expect(r, !strchr(error->text, '\n'), "%s: not one line: %s", call,
			    error->text);
	if (text)
		(void)refuse_expect(r, strstr(error->text, text) != NULL,
				    "%s: the text lacks \"%s\": %s", call, text, error->text);
}

void refuse_call(struct refuse *r, const char *call, enum wring_status got,
		 enum wring_status wanted, const char *text)
{
	struct wring_error error = {.status = WRING_OK};

	if (!refuse_status(r, call, got, wanted))
		return;
	wring_comm_error(r->comm, &error);
	refuse_error(r, call, &error, wanted, text);
}

void refuse_same_everywhere(struct refuse *r, const struct wring_error *error)
{
	const struct wring_bootstrap *bootstrap = r->context->bootstrap;
	struct wring_error all[RANKS_MAX];

	if (!refuse_expect(r, bootstrap->allgather(bootstrap->ctx, error, all, sizeof(all[0])) == 0,
			   "the ranks could not compare their errors"))
		return;
	for (int i = 0; i < r->size; i++) {
		(void)refuse_expect(r, all[i].status == error->status,
				    "status %d, but %d on rank %d", (int)error->status,
				    (int)all[i].status, i);
		(void)refuse_expect(r, strcmp(all[i].text, error->text) == 0,
				    "text \"%s\", but \"%s\" on rank %d", error->text, all[i].text,
				    i);
	}
}

void refuse_healthy(struct refuse *r)
{
	int32_t x[3] = {1, r->rank, -1};
	int32_t sum = r->size * (r->size - 1) / 2;
	enum wring_status status = wring_allreduce(r->comm, x, x, 3, WRING_INT32, WRING_SUM);
	struct wring_error error = {.status = WRING_OK};

	if (status != WRING_OK)
		wring_comm_error(r->comm, &error);
	if (refuse_expect(r, status == WRING_OK, "an operation after the refusal: %s: %s",
			  wring_strerror(status), error.text))
		(void)refuse_expect(r, x[0] == r->size && x[1] == sum && x[2] == -r->size,
				    "wrong sum after the refusal");
}

struct wring_comm *refuse_open(struct refuse *r, const struct wring_bootstrap *bootstrap)
{
	struct wring_comm *comm = NULL;
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config;
	enum wring_status status = wring_config_init(&config, sizeof(config), &error);

	config.timeout_ms = TIMEOUT_MS;
	if (status == WRING_OK)
		status = wring_comm_create(bootstrap, &config, &comm, &error);
	if (!refuse_expect(r, status == WRING_OK, "create: %s: %s", wring_strerror(status),
			   error.text))
		return NULL;
	return comm;
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		(void)closedir(dir);
	return n;
}

static int count_memfd_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		n += strstr(line, "memfd") != NULL;
	if (maps)
		(void)fclose(maps);
	return n;
}

struct refuse_usage refuse_usage_now(void)
{
	return (struct refuse_usage){
		.fds = count_entries("/proc/self/fd"),
		.memfd_maps = count_memfd_maps(),
		.threads = count_entries("/proc/self/task"),
	};
}

void refuse_unleaked(struct refuse *r, const struct refuse_usage *before)
{
	struct refuse_usage now = refuse_usage_now();

	(void)refuse_expect(r, now.fds <= before->fds, "%d file descriptors, %d before", now.fds,
			    before->fds);
	(void)refuse_expect(r, now.memfd_maps <= before->memfd_maps, "%d memfd maps, %d before",
			    now.memfd_maps, before->memfd_maps);
	(void)refuse_expect(r, now.threads <= before->threads, "%d threads, %d before", now.threads,
			    before->threads);
}

static int run_rank(const struct rank_context *context)
{
	struct refuse r = {
		.test = context->arg,
		.context = context,
		.rank = context->rank,
		.size = context->size,
		.before = refuse_usage_now(),
	};

	if (!r.test->without_comm) {
		r.comm = refuse_open(&r, context->bootstrap);
		if (!r.comm)
			return 1;
	}
	r.test->body(&r);
	if (r.comm && !r.broken)
		refuse_healthy(&r);
	wring_comm_destroy(r.comm);
	refuse_unleaked(&r, &r.before);
	return r.failed ? 1 : 0;
}

void refuse_run(const struct refusal *test)
{
	struct refusal copy = *test;

	if (refuse_selected(test->name))
		tap_result(ranks_run(test->ranks ? test->ranks : 2, run_rank, &copy, TIMEOUT_S) ==
				   0,
			   test->name, NULL);
}
