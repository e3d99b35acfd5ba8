/* tune.c: finds out which algorithm is best from which size on, as a tuning file. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/tune.h"
#include "bench/wring-bench/buffers.h"
#include "bench/wring-bench/deadline.h"
#include "bench/wring-bench/measure.h"

#include <wring-mpi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * How a table is found
 *
 *   segment_bytes   the ring alone, which is what streams in segments: the candidate with the least
 *                   product of its medians at 1 MiB and 8 MiB
 *   algorithms      one communicator for each column, whose own tuning file asks for nothing else;
 *                   from 64 bytes to 1 MiB, each size twice the one before it
 *   eager_bytes     the largest size up to which the one-hop all-reduce stays the best, but at
 *                   least LEAST_EAGER, for which every link has room anyhow
 *
 * Where a size has a new winner, it must be faster by MARGIN; so noise makes no lines.
 */
#define MARGIN	     0.03
#define BUDGET_SHARE 0.1 /* of --budget, for each column and size */

enum {
	COLUMNS = 4,
	SIZES = 15, /* 64 B ... 1 MiB */
	FIRST = 64,
	LEAST_EAGER = 1984,
	MOST_EAGER = 16384,
	LONGEST = 8 << 20,
	SEGMENTS = 5,
	FIRST_SEGMENT = 16384
};

/* One way of everything. */
static const struct {
	const char *allreduce, *broadcast; /* NULL: no such way */
	bool eager_only, memory_only;	   /* of the all-reduce; of the broadcast the first */
	bool chunk_in_a_slot;
} columns[COLUMNS] = {
	{"oneshot", "tree", true, false, false},
	{"direct", "chain", false, true, false},
	{"owner", NULL, false, false, true},
	{"ring", NULL, false, false, false},
};

/* A communicator that does as its tuning file says. */
struct tuned {
	struct wring_comm *comm;
	struct buffers buffers;
};

struct table {
	const struct run *run;
	struct options options; /* of one measurement */
	bool memory;		/* all ranks reach each other by shared memory */
	long segment;
	double median[2][COLUMNS][SIZES]; /* by collective; 0: not measured; on rank 0 only */
};

/* --- one communicator --------------------------------------------------------------------- */

/* Write lines to a new file of this rank's; its name goes to path, which has len bytes. */
static void write_file(char *path, size_t len, const char *lines, struct complaint *complaint)
{
	const char *directory = getenv("TMPDIR");
	size_t bytes = strlen(lines);
	int fd;

	snprintf(path, len, "%.200s/wring-bench.XXXXXX", directory ? directory : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, lines, bytes) != (ssize_t)bytes)
		complaint_set(complaint,
			      "--tune: %s: %s; set TMPDIR to a folder that can be "
			      "written",
			      path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int create(struct tuned *tuned, const struct options *options, const char *path,
		  struct complaint *complaint)
{
	struct wring_config config = options->config;
	struct wring_error error = {.status = WRING_OK};

	snprintf(config.tuning, sizeof(config.tuning), "%s", path);
	if (wring_comm_create_mpi(MPI_COMM_WORLD, &config, &tuned->comm, &error) != WRING_OK)
		complaint_set(complaint, "%s", error.text);
	if (complaint_agree(complaint))
		return -1;
	buffers_make(&tuned->buffers, options, tuned->comm, complaint);
	return complaint_agree(complaint) ? -1 : 0;
}

static int tuned_open(struct tuned *tuned, const struct options *options, const char *lines,
		      struct complaint *complaint)
{
	char path[256];
	int failed;

	*tuned = (struct tuned){.comm = NULL};
	deadline_phase("wring_comm_create for --tune", 0);
	write_file(path, sizeof(path), lines, complaint);
	failed = complaint_agree(complaint) ? -1 : create(tuned, options, path, complaint);
	(void)unlink(path);
	return failed;
}

static void tuned_close(struct tuned *tuned)
{
	buffers_free(&tuned->buffers);
	wring_comm_destroy(tuned->comm);
}

/* The median on rank 0. */
static int time_one(const struct tuned *tuned, const struct options *options, size_t bytes,
		    double *median, struct complaint *complaint)
{
	struct result result;
	struct work work;

	work_init(&work, options, tuned->comm);
	work.send = options->collective == ALLREDUCE ? tuned->buffers.send : tuned->buffers.recv;
	work.recv = tuned->buffers.recv;
	work.count = bytes / wring_datatype_size(options->datatype);
	if (measure(&work, &result, complaint))
		return -1;
	*median = result.time[SYSTEM_WRING].median;
	return 0;
}

/* --- segment_bytes ------------------------------------------------------------------------ */

static int time_segment(struct table *table, long segment, double *product,
			struct complaint *complaint)
{
	struct tuned tuned;
	char lines[128];
	double short_one = 0.0, long_one = 0.0;
	int failed;

	snprintf(lines, sizeof(lines), "segment_bytes %ld\nallreduce > 0 ring\n", segment);
	failed = tuned_open(&tuned, &table->options, lines, complaint) ||
		 time_one(&tuned, &table->options, 1 << 20, &short_one, complaint) ||
		 time_one(&tuned, &table->options, LONGEST, &long_one, complaint);
	tuned_close(&tuned);
	*product = short_one * long_one;
	return failed ? -1 : 0;
}

static int find_segment(struct table *table, struct complaint *complaint)
{
	double best = 0.0;

	for (int i = 0; i < SEGMENTS; i++) {
		long segment = (long)FIRST_SEGMENT << i;
		double product;

		if (time_segment(table, segment, &product, complaint))
			return -1;
		if (i && product >= best)
			continue;
		best = product;
		table->segment = segment;
	}
	MPI_Bcast(&table->segment, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return 0;
}

/* --- algorithms --------------------------------------------------------------------------- */

static size_t size_at(int i)
{
	return (size_t)FIRST << i;
}

/* Can that column do it at all? */
static bool possible(const struct table *table, enum collective collective, int column, int i)
{
	bool eager = size_at(i) <= MOST_EAGER;

	if (collective == BROADCAST)
		return columns[column].broadcast && (column || eager);
	if (columns[column].chunk_in_a_slot)
		return table->run->size > 2 && size_at(i) <= (size_t)table->run->size * LEAST_EAGER;
	return (eager || !columns[column].eager_only) &&
	       (table->memory || !columns[column].memory_only);
}

static int time_sizes(struct table *table, const struct tuned *tuned, enum collective collective,
		      int column, struct complaint *complaint)
{
	table->options.collective = collective;
	for (int i = 0; i < SIZES; i++)
		if (possible(table, collective, column, i) &&
		    time_one(tuned, &table->options, size_at(i),
			     &table->median[collective][column][i], complaint))
			return -1;
	return 0;
}

static int time_column(struct table *table, int column, struct complaint *complaint)
{
	struct tuned tuned;
	char lines[256];
	int failed;

	snprintf(lines, sizeof(lines),
		 "segment_bytes %ld\neager_bytes %d\nallreduce > 0 %s\n%s%s\n", table->segment,
		 MOST_EAGER, columns[column].allreduce,
		 columns[column].broadcast ? "broadcast > 0 " : "",
		 columns[column].broadcast ? columns[column].broadcast : "");
	table->options.collective = ALLREDUCE;
	failed = tuned_open(&tuned, &table->options, lines, complaint) ||
		 time_sizes(table, &tuned, ALLREDUCE, column, complaint) ||
		 time_sizes(table, &tuned, BROADCAST, column, complaint);
	tuned_close(&tuned);
	return failed ? -1 : 0;
}

/* The best column, which at the next size must be beaten by MARGIN. */
static int winner(const double median[COLUMNS][SIZES], int i, int before)
{
	int best = before >= 0 && median[before][i] > 0.0 ? before : -1;

	for (int column = 0; column < COLUMNS; column++) {
		double margin = best >= 0 && best == before ? 1.0 - MARGIN : 1.0;

		if (median[column][i] <= 0.0)
			continue;
		if (best < 0 || median[column][i] < margin * median[best][i])
			best = column;
	}
	return best;
}

/* --- the file ----------------------------------------------------------------------------- */

static void print_columns(const struct table *table, enum collective collective)
{
	printf("# %s, median in us:\n#%10s", options_collective_name(collective), "bytes");
	for (int column = 0; column < COLUMNS; column++)
		if (collective == ALLREDUCE || columns[column].broadcast)
			printf(" %10s", collective == ALLREDUCE ? columns[column].allreduce
								: columns[column].broadcast);
	printf("\n");
	for (int i = 0; i < SIZES; i++) {
		printf("#%10zu", size_at(i));
		for (int column = 0; column < COLUMNS; column++) {
			double median = table->median[collective][column][i];

			if (median > 0.0)
				printf(" %10.2f", median * 1e6);
			else if (collective == ALLREDUCE || columns[column].broadcast)
				printf(" %10s", "-");
		}
		printf("\n");
	}
}

/* A line ends where the next size has another winner; the last one is for all that is longer. */
static void print_lines(const struct table *table, enum collective collective)
{
	const char *name = options_collective_name(collective);
	int column = winner(table->median[collective], 0, -1);
	size_t before = 0;

	for (int i = 0; i < SIZES; i++) {
		const char *algorithm = collective == ALLREDUCE ? columns[column].allreduce
								: columns[column].broadcast;
		int next = i + 1 < SIZES ? winner(table->median[collective], i + 1, column) : -1;

		if (i + 1 == SIZES) {
			printf("%s > %zu %s\n", name, before, algorithm);
		} else if (next != column) {
			before = size_at(i);
			printf("%s <= %zu %s\n", name, before, algorithm);
		}
		column = next;
	}
}

static size_t eager_bytes(const struct table *table)
{
	size_t eager = LEAST_EAGER;

	for (enum collective collective = ALLREDUCE; collective <= BROADCAST; collective++) {
		int column = winner(table->median[collective], 0, -1);

		for (int i = 0; i < SIZES && column == 0; i++) {
			if (size_at(i) > eager)
				eager = size_at(i);
			if (i + 1 < SIZES)
				column = winner(table->median[collective], i + 1, column);
		}
	}
	return eager;
}

static void print_file(const struct table *table)
{
	const struct machine *machine = &table->run->machine;

	printf("# Tuning for Wring %s: %s, %ld cores, %d ranks, %s\n", wring_version(),
	       machine->cpu, machine->cores, table->run->size, machine->date);
	print_columns(table, ALLREDUCE);
	print_columns(table, BROADCAST);
	printf("segment_bytes %ld\neager_bytes %zu\n", table->segment, eager_bytes(table));
	print_lines(table, ALLREDUCE);
	print_lines(table, BROADCAST);
	fflush(stdout);
}

int tune(const struct run *run, struct complaint *complaint)
{
	static struct table table;

	table = (struct table){.run = run, .options = run->options, .memory = true};
	table.options.budget *= BUDGET_SHARE;
	table.options.sizes[0] = LONGEST;
	for (int i = 0; i < run->size && run->rank == 0; i++)
		if (strstr(run->paths[i].peers, "verbs"))
			table.memory = false;
	MPI_Bcast(&table.memory, (int)sizeof(table.memory), MPI_BYTE, 0, MPI_COMM_WORLD);
	if (find_segment(&table, complaint))
		return -1;
	for (int column = 0; column < COLUMNS; column++)
		if (time_column(&table, column, complaint))
			return -1;
	if (run->rank == 0)
		print_file(&table);
	return 0;
}
