/* cgroup.c: ranks in a real control group: half a processor, little memory. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/failure.h"

#include "tests/harness/tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB	 ((size_t)1 << 20)
#define LIMIT	 (96 * MIB)
#define TOO_MUCH (256 * MIB)
#define FITTING	 (8 * MIB)

enum { CALLS = 100 };

/* A value for one file of a group, in the version that has the file. */
struct limit {
	const char *controller; /* where version 1 mounts it */
	const char *version_1[2], *version_2[2];
};

static const struct limit half_a_cpu = {
	"/cpu", {"cpu.cfs_quota_us", "50000"}, {"cpu.max", "50000 100000"}};
static const struct limit little_memory = {
	"/memory", {"memory.limit_in_bytes", "100663296"}, {"memory.max", "100663296"}};

/* The group of the running test: ranks join it. */
static char group[128];

static bool write_file(const char *name, const char *value)
{
	char path[256];
	FILE *file;
	bool good;

	(void)snprintf(path, sizeof(path), "%s/%s", group, name);
	file = fopen(path, "r+");
	if (!file)
		return false;
	good = fputs(value, file) >= 0;
	return fclose(file) == 0 && good;
}

static bool make_group(const char *mount, const char *const *setting)
{
	(void)snprintf(group, sizeof(group), "/sys/fs/cgroup%s/wring-test-%d", mount,
		       (int)getpid());
	if (mkdir(group, 0700))
		return false;
	if (write_file(setting[0], setting[1]))
		return true;
	(void)rmdir(group);
	return false;
}

static bool make_limit(const struct limit *limit)
{
	return make_group(limit->controller, limit->version_1) ||
	       make_group("", limit->version_2) || make_group("/unified", limit->version_2);
}

/* A rank that was killed may stay in it for a moment. */
static bool remove_group(void)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (rmdir(group) == 0)
			return true;
		nap_s(0.02);
	}
	return false;
}

static void run_in_group(const struct failure_test *test)
{
	const struct limit *limit = test->row;

	if (!failure_selected(test->name))
		return;
	if (!make_limit(limit)) {
		tap_skip(test->name, "no control group with a limit can be made here: not root, "
				     "/sys/fs/cgroup read-only, or without that controller");
		return;
	}
	failure_run(test);
	if (!remove_group())
		tap_result(false, "control_group_is_removed", "%s: %s", group, strerror(errno));
}

static bool join(struct failure_rank *f)
{
	return failure_expect(f, write_file("cgroup.procs", "0"), "cannot join %s: %s", group,
			      strerror(errno));
}

/*
 * Rank 0 waits for the last one, which is late. Two ranks have two CPUs on most machines, and so
 * would not sleep but for the quota.
 */
static void body_cpu(struct failure_rank *f)
{
	int32_t *buf = calloc(LARGE_COUNT, sizeof(*buf));
	long sleeps;
	int i;

	if (failure_expect(f, buf != NULL, "calloc") && join(f) && failure_open(f)) {
		for (i = 0; i < CALLS && !f->failed; i++)
			failure_healthy(f);
		for (i = 0; i < 3; i++)
			(void)failure_status(f, "large allreduce",
					     wring_allreduce(f->comm, buf, buf, LARGE_COUNT,
							     WRING_INT32, WRING_SUM),
					     WRING_OK);
		if (f->rank == f->size - 1)
			nap_s(0.5);
		sleeps = sleeps_so_far();
		(void)failure_status(f, "barrier", wring_barrier(f->comm), WRING_OK);
		sleeps = sleeps_so_far() - sleeps;
		if (f->rank == 0)
			(void)failure_expect(f, sleeps > 2, "only %ld sleeps in half a second",
					     sleeps);
		failure_close(f);
	}
	free(buf);
}

/* What the text says: bytes wanted, bytes that are left, what to raise. */
static void judge_refusal(struct failure_rank *f)
{
	struct wring_error error = failure_error(f, WRING_ERR_NOMEM);
	size_t wanted = 0, left = 0;

	(void)failure_expect(
		f,
		sscanf(error.text, "%*[^0-9]%zu bytes of shared memory are wanted, %zu are",
		       &wanted, &left) == 2 ||
			sscanf(error.text, "%zu bytes of shared memory are wanted, %zu are",
			       &wanted, &left) == 2,
		"no numbers: %s", error.text);
	(void)failure_expect(f, wanted == TOO_MUCH && left < LIMIT, "wrong numbers: %s",
			     error.text);
	(void)failure_expect(f, strstr(error.text, "raise the memory limit") != NULL,
			     "what to raise is missing: %s", error.text);
}

static void body_memory(struct failure_rank *f)
{
	void *buf = NULL;
	enum wring_status status;

	if (!join(f) || !failure_open(f))
		return;
	status = wring_alloc(f->comm, TOO_MUCH, &buf);
	if (failure_status(f, "alloc above the limit", status, WRING_ERR_NOMEM))
		judge_refusal(f);
	(void)failure_expect(f, buf == NULL, "an output was written");
	status = wring_alloc(f->comm, FITTING, &buf);
	if (failure_status(f, "alloc within the limit", status, WRING_OK)) {
		memset(buf, 1, FITTING);
		failure_healthy(f);
		wring_free(f->comm, buf);
	}
	failure_close(f);
}

void failure_cgroups(void)
{
	const struct failure_test tests[] = {
		{.name = "cpu_quota_makes_two_ranks_sleep",
		 .ranks = 2,
		 .body = body_cpu,
		 .settings = "wait=auto",
		 .row = &half_a_cpu,
		 .timeout_s = 120},
		{.name = "four_ranks_share_half_a_processor",
		 .ranks = 4,
		 .body = body_cpu,
		 .settings = "wait=auto",
		 .row = &half_a_cpu,
		 .timeout_s = 120},
		{.name = "alloc_names_the_memory_limit_of_a_control_group",
		 .ranks = 2,
		 .body = body_memory,
		 .row = &little_memory},
	};
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		run_in_group(&tests[i]);
}
