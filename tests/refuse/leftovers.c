/* leftovers.c: nothing stays in /dev/shm or /tmp, however the ranks end. */
#include "tests/refuse/refuse.h"

#include "tests/harness/tap.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_S = 30, COUNT = 100000 };

enum ending { RETURN_FROM_BODY, KILL_ALL, KILL_ONE };

static bool in_a_shared_place(const char *path)
{
	return strncmp(path, "/dev/shm/", 9) == 0 || strncmp(path, "/tmp/", 5) == 0;
}

/* Files in /dev/shm and /tmp that this process has mapped or open. */
static int count_shared_files(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char text[512];
	int n = 0;

	while (maps && fgets(text, sizeof(text), maps)) {
		const char *path = strchr(text, '/');

		n += path && in_a_shared_place(path);
	}
	if (maps)
		(void)fclose(maps);
	for (int fd = 3; fd < 256; fd++) {
		char link[64];
		ssize_t len;

		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, text, sizeof(text) - 1);
		text[len > 0 ? len : 0] = '\0';
		n += in_a_shared_place(text);
	}
	return n;
}

/* Entries of path; in /tmp, which others use too, only those of our name. */
static int count_entries(const char *path, const char *word)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		n += entry->d_type != DT_DIR && strstr(entry->d_name, word) != NULL;
	if (dir)
		(void)closedir(dir);
	return n;
}

static int count_left(void)
{
	return count_entries("/dev/shm", "") + count_entries("/tmp", "wring");
}

/* Rank 1's death must be told to the others, in time and by its name. */
static int survive(const struct rank_context *context, struct wring_comm *comm, int32_t *x)
{
	enum wring_status status = WRING_OK;
	struct wring_error error = {.status = WRING_OK};
	double began;

	if (context->rank == 0)
		(void)ranks_kill(context, 1);
	began = refuse_seconds();
	while (status == WRING_OK)
		status = wring_allreduce(comm, x, x, COUNT, WRING_INT32, WRING_MAX);
	wring_comm_error(comm, &error);
	wring_free(comm, x);
	wring_comm_destroy(comm);
	if (status == WRING_ERR_PEER && error.rank == 1 && refuse_seconds() - began < 4)
		return 0;
	fprintf(stderr, "# rank %d: after the death of rank 1: %s, rank %d, %.3f s: %s\n",
		context->rank, wring_strerror(status), error.rank, refuse_seconds() - began,
		error.text);
	return 2;
}

static int body(const struct rank_context *context)
{
	const enum ending *ending = context->arg;
	int before = count_shared_files(), during;
	struct wring_comm *comm = NULL;
	void *buf = NULL;

	if (wring_comm_create(context->bootstrap, NULL, &comm, NULL) != WRING_OK ||
	    wring_alloc(comm, COUNT * sizeof(int32_t), &buf) != WRING_OK)
		return 1;
	memset(buf, 0, COUNT * sizeof(int32_t));
	if (wring_allreduce(comm, buf, buf, COUNT, WRING_INT32, WRING_SUM) != WRING_OK)
		return 1;
	during = count_shared_files();
	if (during != before)
		fprintf(stderr, "# rank %d: files in /dev/shm or /tmp in use\n", context->rank);
	(void)ranks_meet(context);
	if (*ending == KILL_ALL)
		(void)raise(SIGKILL);
	if (*ending == KILL_ONE)
		return survive(context, comm, buf);
	wring_free(comm, buf);
	wring_comm_destroy(comm);
	return during != before;
}

static void run_ending(const char *name, enum ending ending)
{
	struct ranks_outcome outcome;
	int before = count_left();
	bool good = true;

	(void)ranks_run_outcome(3, body, &ending, TIMEOUT_S, &outcome);
	for (int r = 0; r < 3; r++) {
		bool dies = ending == KILL_ALL || (ending == KILL_ONE && r == 1);
		int wanted = dies ? -SIGKILL : 0;

		if (outcome.status[r] == wanted)
			continue;
		fprintf(stderr, "# %s: rank %d ended with %d, not %d\n", name, r, outcome.status[r],
			wanted);
		good = false;
	}
	tap_result(good && count_left() <= before, name, NULL);
}

void refuse_leftovers(void)
{
	if (refuse_selected("nothing_is_left_behind_by_an_orderly_exit"))
		run_ending("nothing_is_left_behind_by_an_orderly_exit", RETURN_FROM_BODY);
	if (refuse_selected("nothing_is_left_behind_when_all_are_killed"))
		run_ending("nothing_is_left_behind_when_all_are_killed", KILL_ALL);
	if (refuse_selected("nothing_is_left_behind_when_one_is_killed"))
		run_ending("nothing_is_left_behind_when_one_is_killed", KILL_ONE);
}
