/* paths_print.c: the table of ranks that every run begins with. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9, CELL = 256 };

struct line {
	char cell[COLUMNS][CELL];
};

static const struct line heading = {
	{"rank", "host", "CPUs", "NUMA", "peers", "device", "port", "GID", "MTU"}};

static void put_text(struct line *line, int column, const char *text)
{
	snprintf(line->cell[column], CELL, "%s", text[0] ? text : "-");
}

static void put_number(struct line *line, int column, int number, int least)
{
	char text[16] = "";

	if (number >= least)
		snprintf(text, sizeof(text), "%d", number);
	put_text(line, column, text);
}

static void fill_line(struct line *line, const struct path_row *row, int rank)
{
	char gid[64] = "";

	if (row->gid_index >= 0)
		snprintf(gid, sizeof(gid), "%d %.45s", row->gid_index, row->gid);
	put_number(line, 0, rank, 0);
	put_text(line, 1, row->host);
	put_text(line, 2, row->cpus);
	put_number(line, 3, row->numa_node, 0);
	put_text(line, 4, row->peers);
	put_text(line, 5, row->device);
	put_number(line, 6, row->port, 1);
	put_text(line, 7, gid);
	put_number(line, 8, row->mtu, 1);
}

static void print_line(const struct line *line, const int *widths)
{
	for (int i = 0; i < COLUMNS - 1; i++)
		printf("%-*s  ", widths[i], line->cell[i]);
	printf("%s\n", line->cell[COLUMNS - 1]);
}

static void widen(int *widths, const struct line *line)
{
	for (int i = 0; i < COLUMNS; i++) {
		int width = (int)strlen(line->cell[i]);

		if (width > widths[i])
			widths[i] = width;
	}
}

static void print_notes(const struct path_row *rows, int size)
{
	for (int i = 0; i < size; i++) {
		if (rows[i].port && strncmp(rows[i].device, "rxe", 3) == 0) {
			printf("note: %s is a software device (Soft-RoCE): real verbs, but the "
			       "CPU moves the bytes\n",
			       rows[i].device);
			return;
		}
	}
}

void paths_print(const struct path_row *rows, int size)
{
	struct line *lines = calloc((size_t)size, sizeof(*lines));
	int widths[COLUMNS] = {0};

	if (!lines)
		return;
	widen(widths, &heading);
	for (int i = 0; i < size; i++) {
		fill_line(&lines[i], &rows[i], i);
		widen(widths, &lines[i]);
	}
	print_line(&heading, widths);
	for (int i = 0; i < size; i++)
		print_line(&lines[i], widths);
	print_notes(rows, size);
	free(lines);
}
