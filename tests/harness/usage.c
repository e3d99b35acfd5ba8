/* usage.c: what a process holds, its clocks, settings in words. */
/* SPDX-License-Identifier: MIT */
#include "tests/harness/usage.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int count_entries(const char *path, const char *word)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		n += strstr(entry->d_name, word) != NULL;
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
		n += strstr(line, "/memfd:wring") != NULL;
	if (maps)
		(void)fclose(maps);
	return n;
}

struct usage usage_now(void)
{
	return (struct usage){
		.fds = count_entries("/proc/self/fd", ""),
		.memfd_maps = count_memfd_maps(),
		.threads = count_entries("/proc/self/task", ""),
	};
}

bool usage_grew(const struct usage *before, char *text, size_t len)
{
	struct usage now = usage_now();

	if (now.fds <= before->fds && now.memfd_maps <= before->memfd_maps &&
	    now.threads <= before->threads)
		return false;
	(void)snprintf(text, len, "%d fds (%d before), %d memfd maps (%d), %d threads (%d)",
		       now.fds, before->fds, now.memfd_maps, before->memfd_maps, now.threads,
		       before->threads);
	return true;
}

int usage_shared_files(void)
{
	return count_entries("/dev/shm", "wring");
}

static double read_clock(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double seconds_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double seconds_kept_waiting(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran, waited;
	double seconds = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &ran, &waited) == 2)
		seconds = (double)waited * 1e-9;
	(void)fclose(file);
	return seconds;
}

double seconds_of_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

long sleeps_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

void nap_s(double seconds)
{
	double until = seconds_now() + seconds;
	struct timespec t;

	while (seconds > 0) {
		t.tv_sec = (time_t)seconds;
		t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
		(void)nanosleep(&t, NULL);
		seconds = until - seconds_now();
	}
}

void nap_us(unsigned int microseconds)
{
	nap_s((double)microseconds * 1e-6);
}

enum wring_status settings_parse(struct wring_config *config, const char *words,
				 struct wring_error *error)
{
	enum wring_status status = wring_config_init(config, sizeof(*config), error);
	char copy[512], *rest = copy, *word;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	while (status == WRING_OK && (word = strsep(&rest, " ")) != NULL) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		status = wring_config_set(config, word, value, error);
	}
	return status;
}

bool text_is_one_line(const char *text)
{
	size_t len = strnlen(text, sizeof(((struct wring_error *)NULL)->text));

	return len > 0 && len < sizeof(((struct wring_error *)NULL)->text) && !strchr(text, '\n');
}

bool text_names_rank(const char *text, int rank)
{
	char name[32];
	size_t len = (size_t)snprintf(name, sizeof(name), "rank %d", rank);
	const char *at = text;

	while ((at = strstr(at, name)) != NULL) {
		at += len;
		if (*at < '0' || *at > '9')
			return true;
	}
	return false;
}
