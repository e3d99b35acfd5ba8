/* report_plot.c: time and bandwidth over size, drawn by gnuplot. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LABELS = 16 }; /* on the axis of sizes */

static const char *const style =
	"set terminal svg size 940,980 font 'sans-serif,13' background '#ffffff'\n"
	"set logscale xy\n"
	"set format y '%g'\n"
	"set grid xtics ytics lc rgb '#dddddd' lw 1 dt 1\n"
	"set border 3 lc rgb '#444444'\n"
	"set tics nomirror textcolor rgb '#222222'\n"
	"set xtics font ',11'\n"
	"set key above left reverse Left samplen 3\n"
	"set lmargin 11\nset rmargin 5\n"
	"wring = '#0060a8'\nmpi = '#d55e00'\n";

/* Data columns: bytes, Wring median us, p99, busbw GB/s, then the same three of MPI. */
static const char *const time_of_wring =
	"plot $data using 1:2 with linespoints lw 2.5 pt 7 ps 0.5 lc rgb wring title 'Wring', \\\n"
	"     $data using 1:3 with lines lw 1 dt 2 lc rgb wring title 'Wring, p99'";
static const char *const time_of_mpi =
	", \\\n     $data using 1:5 with linespoints lw 2.5 pt 5 ps 0.5 lc rgb mpi title 'MPI', "
	"\\\n"
	"     $data using 1:6 with lines lw 1 dt 2 lc rgb mpi title 'MPI, p99'";
static const char *const bandwidth_of_wring =
	"plot $data using 1:4 with linespoints lw 2.5 pt 7 ps 0.5 lc rgb wring title 'Wring'";
static const char *const bandwidth_of_mpi =
	", \\\n     $data using 1:7 with linespoints lw 2.5 pt 5 ps 0.5 lc rgb mpi title 'MPI'";

/* In single quotes gnuplot knows no escape but the doubled quote. */
static void put_quoted(FILE *file, const char *text)
{
	putc('\'', file);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', file);
		putc(*text, file);
	}
	putc('\'', file);
}

static void put_data(FILE *file, const struct run *run)
{
	enum collective collective = run->options.collective;

	fputs("$data << EOD\n", file);
	for (size_t i = 0; i < run->results_count; i++) {
		const struct result *result = &run->results[i];

		if (!result->bytes)
			continue;
		fprintf(file, "%zu", result->bytes);
		for (int s = 0; s < SYSTEMS; s++)
			fprintf(file, " %.6g %.6g %.6g", result->time[s].median * 1e6,
				result->time[s].p99 * 1e6,
				measure_busbw(result, (enum system)s, collective, run->size) / 1e9);
		putc('\n', file);
	}
	fputs("EOD\n", file);
}

/* Sizes as people say them, at most LABELS of them. */
static void put_tics(FILE *file, const struct run *run)
{
	size_t step = (run->results_count + LABELS - 1) / LABELS;
	const char *comma = "";

	fputs("set xtics (", file);
	for (size_t i = 0; i < run->results_count; i += step) {
		char bytes[32];

		if (!run->results[i].bytes)
			continue;
		report_format_bytes(bytes, sizeof(bytes), run->results[i].bytes);
		fprintf(file, "%s'%s' %zu", comma, bytes, run->results[i].bytes);
		comma = ", ";
	}
	fputs(")\n", file);
}

static void put_title(FILE *file, const struct run *run)
{
	const struct options *options = &run->options;
	char title[256];

	snprintf(title, sizeof(title), "%s of %s%s%s, buffers: %s%s, %d ranks, %s, %.60s",
		 options_collective_name(options->collective),
		 wring_datatype_name(options->datatype),
		 options->collective == ALLREDUCE ? " " : "",
		 options->collective == ALLREDUCE ? wring_op_name(options->op) : "",
		 options_buffers_name(options->buffers), options->in_place ? " in place" : "",
		 run->size, run->paths[0].port ? run->paths[0].device : "one host",
		 run->machine.cpu);
	fputs("set multiplot layout 2,1 title ", file);
	put_quoted(file, title);
	fputs(" noenhanced\n", file);
}

static void put_script(FILE *file, const struct run *run)
{
	bool compare = run->options.compare;

	put_data(file, run);
	fputs(style, file);
	fputs("set output ", file);
	put_quoted(file, run->options.plot);
	putc('\n', file);
	put_tics(file, run);
	put_title(file, run);
	fputs("set ylabel 'time of one call, us (lower is better)'\n", file);
	fputs(time_of_wring, file);
	fputs(compare ? time_of_mpi : "", file);
	fputs("\nset ylabel 'busbw, GB/s (higher is better)'\n", file);
	fputs("set xlabel 'bytes of a vector'\n", file);
	fputs(bandwidth_of_wring, file);
	fputs(compare ? bandwidth_of_mpi : "", file);
	fputs("\nunset multiplot\n", file);
}

/* Starts gnuplot; gives the end of the pipe it reads from, NULL and errno if that fails. */
static FILE *start_gnuplot(pid_t *child)
{
	char *argv[] = {"gnuplot", "-", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	int failed;

	if (pipe(ends) != 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	failed = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (failed) {
		close(ends[1]);
		errno = failed;
		return NULL;
	}
	return fdopen(ends[1], "w");
}

int report_plot(const struct run *run, struct complaint *complaint)
{
	const char *name = run->options.plot;
	pid_t child;
	int status = -1;
	FILE *script;

	signal(SIGPIPE, SIG_IGN);
	script = start_gnuplot(&child);
	if (!script)
		return complaint_set(complaint, "--plot %s: gnuplot: %s", name, strerror(errno));
	put_script(script, run);
	fclose(script);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (status == 0)
		return 0;
	return complaint_set(complaint, "--plot %s: gnuplot failed; what it said is above", name);
}
