/* complaint.c: one line about what went wrong, said once for all ranks. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/complaint.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A broken communicator fails on all ranks at once; one line is enough, if rank 0 is alive. */
enum { MICROSECONDS_FOR_RANK_0 = 200000 };

int complaint_set(struct complaint *complaint, const char *format, ...)
{
	va_list args;

	if (complaint->text[0])
		return -1;
	va_start(args, format);
	vsnprintf(complaint->text, sizeof(complaint->text), format, args);
	va_end(args);
	return -1;
}

void complaint_print(const struct complaint *complaint)
{
	fprintf(stderr, "wring-bench: %s\n", complaint->text);
}

int complaint_agree(const struct complaint *complaint)
{
	int rank, size, mine, lowest;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine = complaint->text[0] ? rank : size;
	MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (lowest == rank)
		complaint_print(complaint);
	return lowest < size;
}

void complaint_die(const char *format, ...)
{
	struct complaint complaint = {""};
	va_list args;
	int rank;

	va_start(args, format);
	vsnprintf(complaint.text, sizeof(complaint.text), format, args);
	va_end(args);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank > 0)
		usleep(MICROSECONDS_FOR_RANK_0);
	fprintf(stderr, "wring-bench: rank %d: %s\n", rank, complaint.text);
	MPI_Abort(MPI_COMM_WORLD, EXIT_WRONG);
	_Exit(EXIT_WRONG);
}
