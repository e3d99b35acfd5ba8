/* deadline.c: the benchmark never hangs: after so many seconds it says where it was and ends. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/complaint.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_TO_ABORT = 5 };

/*
 * The line is composed when the phase changes, so that the handler only has to write it. Two
 * buffers: the alarm may come while one of them is being filled.
 */
static char lines[2][256];
static volatile sig_atomic_t current;
static volatile sig_atomic_t mpi_ready;
static unsigned int limit;
static int process;

/* MPI_Abort may itself be stuck, so the second alarm is left to kill this process. */
static void end_everything(int signal_number)
{
	const char *line = lines[current];

	(void)signal_number;
	signal(SIGALRM, SIG_DFL);
	alarm(SECONDS_TO_ABORT);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(EXIT_WRONG);
	if (mpi_ready)
		MPI_Abort(MPI_COMM_WORLD, EXIT_WRONG);
	_exit(EXIT_WRONG);
}

void deadline_start(unsigned int seconds, int launcher_rank)
{
	struct sigaction action = {.sa_handler = end_everything};
	sigset_t only_alarm;

	limit = seconds;
	process = launcher_rank > 0 ? launcher_rank : 0;
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&only_alarm);
	sigaddset(&only_alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &only_alarm, NULL);
	deadline_phase("MPI_Init", 0);
	alarm(process ? seconds + 1 : seconds);
}

void deadline_mpi_ready(void)
{
	mpi_ready = 1;
}

void deadline_stop(void)
{
	alarm(0);
	mpi_ready = 0;
}

void deadline_phase(const char *phase, size_t bytes)
{
	int next = !current;
	int used = snprintf(lines[next], sizeof(lines[next]),
			    "wring-bench: rank %d: not finished after %u s, in %s", process, limit,
			    phase);
	char *end = lines[next] + used;
	size_t room = sizeof(lines[next]) - (size_t)used;

	if (bytes)
		snprintf(end, room, " of %zu bytes; try --deadline or fewer --sizes\n", bytes);
	else
		snprintf(end, room, "; is a rank missing? try a longer --deadline\n");
	current = next;
}
