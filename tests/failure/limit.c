/* limit.c: too few file descriptors: every rank is told what to raise, at every number. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* How many descriptors rank 1 may open: 0, 1, 2, ... until creation succeeds. */
enum { MOST = 40 };

/* The lowest number that is free: there are no holes below it in a fresh rank. */
static rlim_t lowest_free(void)
{
	int fd = dup(0);

	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? 64 : (rlim_t)fd;
}

static void judge_refusal(struct failure_rank *f, int spare, enum wring_status status,
			  const struct wring_error *error)
{
	char text[256];

	(void)failure_expect(f, status == error->status && text_is_one_line(error->text),
			     "with %d descriptors: %s: %s", spare, wring_strerror(status),
			     error->text);
	(void)failure_expect(f, strstr(error->text, "ulimit -n") != NULL,
			     "with %d descriptors the text does not say what to raise: %s", spare,
			     error->text);
	(void)failure_expect(f, error->rank == 1, "with %d descriptors rank %d is named: %s", spare,
			     error->rank, error->text);
	if (usage_grew(&f->before, text, sizeof(text)))
		(void)failure_expect(f, false, "left behind with %d descriptors: %s", spare, text);
}

static void body(struct failure_rank *f)
{
	struct wring_error error = {.status = WRING_OK};
	enum wring_status status = WRING_ERR_SYSTEM;
	struct rlimit whole, tight;
	struct wring_config config;
	int spare;

	(void)getrlimit(RLIMIT_NOFILE, &whole);
	for (spare = 0; spare < MOST && status != WRING_OK && !f->failed; spare++) {
		tight = whole;
		tight.rlim_cur = lowest_free() + (rlim_t)spare;
		if (settings_parse(&config, f->test->settings, &error) != WRING_OK)
			break;
		if (f->rank == 1)
			(void)setrlimit(RLIMIT_NOFILE, &tight);
		status = wring_comm_create(f->context->bootstrap, &config, &f->comm, &error);
		(void)setrlimit(RLIMIT_NOFILE, &whole);
		if (status != WRING_OK)
			judge_refusal(f, spare, status, &error);
	}
	if (!failure_expect(f, status == WRING_OK, "%s: %s", wring_strerror(status), error.text))
		return;
	(void)failure_expect(f, spare > 3, "%d descriptors were enough", spare - 1);
	failure_healthy(f);
	failure_close(f);
}

void failure_limits(void)
{
	const struct failure_test tests[] = {
		{.name = "too_few_descriptors_are_named_to_all_ranks",
		 .ranks = 3,
		 .body = body,
		 .settings = "transport=shm"},
		{.name = "too_few_descriptors_are_named_when_verbs_might_do",
		 .ranks = 3,
		 .body = body,
		 .settings = "transport=auto"},
	};
	size_t i;

	if (failure_over_verbs())
		return;
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failure_run(&tests[i]);
}
