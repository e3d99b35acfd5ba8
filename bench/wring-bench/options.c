/* options.c: the table of options, and how each is set. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/options.h"
#include "bench/wring-bench/parse.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct option {
	const char *name;
	const char *argument; /* NULL: a flag */
	int (*set)(struct options *options, const char *value, struct complaint *complaint);
	const char *help; /* one or more lines */
	size_t flag;	  /* where in struct options the bool of a flag is */
};

enum { MAX_NAMES = 32, HELP_COLUMN = 22 };

static const char *const collective_names[] = {"allreduce", "broadcast", "barrier", NULL};
static const char *const buffer_names[] = {"alloc", "malloc", "register", NULL};
static const char *const compare_names[] = {"mpi", NULL};

static int set_collective(struct options *options, const char *value, struct complaint *complaint)
{
	int choice;

	if (parse_choice("collective", value, collective_names, &choice, complaint))
		return -1;
	options->collective = (enum collective)choice;
	return 0;
}

static int set_datatype(struct options *options, const char *value, struct complaint *complaint)
{
	const char *names[MAX_NAMES] = {NULL};
	int choice;

	for (int i = 0; i < MAX_NAMES - 1 && wring_datatype_size((enum wring_datatype)i); i++)
		names[i] = wring_datatype_name((enum wring_datatype)i);
	if (parse_choice("datatype", value, names, &choice, complaint))
		return -1;
	options->datatype = (enum wring_datatype)choice;
	return 0;
}

static int set_op(struct options *options, const char *value, struct complaint *complaint)
{
	const char *names[WRING_AVG + 2] = {NULL};
	int choice;

	for (int i = 0; i <= WRING_AVG; i++)
		names[i] = wring_op_name((enum wring_op)i);
	if (parse_choice("op", value, names, &choice, complaint))
		return -1;
	options->op = (enum wring_op)choice;
	return 0;
}

static int set_buffers(struct options *options, const char *value, struct complaint *complaint)
{
	int choice;

	if (parse_choice("buffers", value, buffer_names, &choice, complaint))
		return -1;
	options->buffers = (enum buffer_kind)choice;
	return 0;
}

static int set_compare(struct options *options, const char *value, struct complaint *complaint)
{
	int choice;

	if (parse_choice("compare", value, compare_names, &choice, complaint))
		return -1;
	options->compare = true;
	return 0;
}

static int set_min(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_bytes("min", value, &options->min, complaint);
}

static int set_max(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_bytes("max", value, &options->max, complaint);
}

static int set_factor(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_number("factor", value, 2, 1024, &options->factor, complaint);
}

static int set_sizes(struct options *options, const char *value, struct complaint *complaint)
{
	const char *from = value;

	options->sizes_count = 0;
	for (;;) {
		size_t length = strcspn(from, ",");
		char size[64];

		if (options->sizes_count == MAX_SIZES)
			return complaint_set(complaint, "--sizes '%.40s...': more than %d sizes",
					     value, MAX_SIZES);
		snprintf(size, sizeof(size), "%.*s", length < 63 ? (int)length : 63, from);
		if (parse_bytes("sizes", size, &options->sizes[options->sizes_count], complaint))
			return -1;
		options->sizes_count++;
		if (!from[length])
			return 0;
		from += length + 1;
	}
}

static int set_iterations(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_number("iterations", value, 1, 10000000, &options->iterations, complaint);
}

static int set_warmup(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_number("warmup", value, 0, 10000000, &options->warmup, complaint);
}

static int set_batch(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_number("batch", value, 1, 1000000, &options->batch, complaint);
}

static int set_budget(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_seconds("budget", value, 0.001, 3600.0, &options->budget, complaint);
}

static int set_deadline(struct options *options, const char *value, struct complaint *complaint)
{
	return parse_number("deadline", value, 1, 604800, &options->deadline, complaint);
}

static int set_root(struct options *options, const char *value, struct complaint *complaint)
{
	long root;

	if (parse_number("root", value, 0, INT_MAX, &root, complaint))
		return -1;
	options->root = (int)root;
	return 0;
}

static int set_file(const char *option, const char *value, const char **file,
		    struct complaint *complaint)
{
	if (!*value)
		return complaint_set(complaint, "--%s '': give the name of a file", option);
	*file = value;
	return 0;
}

static int set_json(struct options *options, const char *value, struct complaint *complaint)
{
	return set_file("json", value, &options->json, complaint);
}

static int set_csv(struct options *options, const char *value, struct complaint *complaint)
{
	return set_file("csv", value, &options->csv, complaint);
}

static int set_plot(struct options *options, const char *value, struct complaint *complaint)
{
	return set_file("plot", value, &options->plot, complaint);
}

/* typed is what followed the option on the command line. */
static int set_field(struct options *options, const char *option, const char *typed,
		     const char *name, const char *value, struct complaint *complaint)
{
	struct wring_error error;

	if (wring_config_set(&options->config, name, value, &error) == WRING_OK)
		return 0;
	return complaint_set(complaint, "--%s '%s': %s", option, typed, error.text);
}

static int set_transport(struct options *options, const char *value, struct complaint *complaint)
{
	return set_field(options, "transport", value, "transport", value, complaint);
}

static int set_setting(struct options *options, const char *value, struct complaint *complaint)
{
	const char *equals = strchr(value, '=');
	char name[64];

	if (!equals || equals == value || (size_t)(equals - value) >= sizeof(name))
		return complaint_set(complaint,
				     "--set '%s': give name=value, such as slots=8; "
				     "wring(7) lists the names",
				     value);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - value), value);
	return set_field(options, "set", value, name, equals + 1, complaint);
}

static const struct option table[] = {
	{"collective", "NAME", set_collective, "allreduce (default), broadcast or barrier", 0},
	{"datatype", "NAME", set_datatype, "float32 (default), int8, bfloat16, ...", 0},
	{"op", "NAME", set_op, "sum (default), prod, min, max or avg", 0},
	{"min", "BYTES", set_min, "first size (4); 4, 64K, 1MiB, 2G; K is 1024", 0},
	{"max", "BYTES", set_max, "last size (64M)", 0},
	{"factor", "N", set_factor, "from one size to the next (4)", 0},
	{"sizes", "LIST", set_sizes, "exactly these sizes, 4,4K,1M, instead of the three above", 0},
	{"iterations", "N", set_iterations, "timed blocks of calls for each size; else by --budget",
	 0},
	{"warmup", "N", set_warmup, "calls before the clock starts; else by --budget", 0},
	{"batch", "N", set_batch, "calls in one timed block; else what takes 50 us or 20 barriers",
	 0},
	{"budget", "SECONDS", set_budget, "about how long one size may take (2)", 0},
	{"in-place", NULL, NULL, "send and receive buffer are the same",
	 offsetof(struct options, in_place)},
	{"buffers", "KIND", set_buffers,
	 "alloc: wring_alloc (default); malloc: plain memory;\n"
	 "register: plain memory and wring_register",
	 0},
	{"nonblocking", NULL, NULL, "start and wait instead of the blocking call",
	 offsetof(struct options, nonblocking)},
	{"touch", NULL, NULL,
	 "before each timed call, outside the clock, every rank\n"
	 "rewrites its input and reads its output",
	 offsetof(struct options, touch)},
	{"root", "RANK", set_root, "of a broadcast (0)", 0},
	{"rotate-root", NULL, NULL, "each broadcast has the next rank as root",
	 offsetof(struct options, rotate_root)},
	{"check", NULL, NULL, "compare every element on every rank; status 1 if one is wrong",
	 offsetof(struct options, check)},
	{"compare", "mpi", set_compare, "the same work through MPI too, taking turns", 0},
	{"limits", NULL, NULL,
	 "measure what the machine allows, too; the table gets\n"
	 "a column with the share that is reached",
	 offsetof(struct options, limits)},
	{"gradients", NULL, NULL,
	 "instead of a table: 1000 all-reduces of 0.2 KiB to\n"
	 "512 KiB in flight together, beside MPI",
	 offsetof(struct options, gradients)},
	{"overlap", NULL, NULL,
	 "instead of a table: how much of an all-reduce (16 MiB,\n"
	 "or --sizes) hides behind a computation, beside MPI",
	 offsetof(struct options, overlap)},
	{"tune", NULL, NULL,
	 "instead of a table: print a tuning file for this\n"
	 "machine and these ranks, for WRING_TUNING to load",
	 offsetof(struct options, tune)},
	{"json", "FILE", set_json, "write everything there, as JSON", 0},
	{"csv", "FILE", set_csv, "write one line for each size", 0},
	{"plot", "FILE.svg", set_plot, "draw time and bandwidth over size (needs gnuplot)", 0},
	{"transport", "NAME", set_transport,
	 "auto (default), shm or verbs; refuses if a peer is\n"
	 "reached in another way",
	 0},
	{"set", "NAME=VALUE", set_setting, "a setting of Wring, such as segment_bytes=65536", 0},
	{"deadline", "SECONDS", set_deadline, "end all ranks if it takes longer (600)", 0},
	{"help", NULL, NULL, "this text", offsetof(struct options, help)},
	{"version", NULL, NULL, "versions of Wring and of MPI", offsetof(struct options, version)},
};

enum { OPTIONS = sizeof(table) / sizeof(table[0]) };

static const struct option *find_option(const char *name, size_t length)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
			return &table[i];
	return NULL;
}

void options_help(void)
{
	printf("usage: mpirun -n RANKS wring-bench [options]\n"
	       "Times Wring's collectives, if wanted beside those of MPI.\n\n");
	for (size_t i = 0; i < OPTIONS; i++) {
		char left[HELP_COLUMN * 2];
		const char *line = table[i].help;

		snprintf(left, sizeof(left), "  --%s%s%s", table[i].name,
			 table[i].argument ? " " : "", table[i].argument ? table[i].argument : "");
		for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
			printf("%-*s  %.*s\n", HELP_COLUMN, left, (int)(end - line), line);
			left[0] = '\0';
		}
		printf("%-*s  %s\n", HELP_COLUMN, left, line);
	}
	printf("\nHow time is measured: a barrier, then a block of calls back to back; the time "
	       "of\n"
	       "the slowest rank divided by the calls (\"inner\"); median and p99 over the "
	       "blocks.\n"
	       "With --compare the blocks of both systems alternate: same buffers, same process.\n"
	       "busbw = algbw x 2(n-1)/n for all-reduce, = algbw for broadcast; GB = 1e9 bytes.\n"
	       "wring-bench(1) has the rest.\n");
}

static int complain_unknown(const char *argument, struct complaint *complaint)
{
	const char *names[OPTIONS + 1] = {NULL};
	const char *nearest;
	char name[64];

	for (size_t i = 0; i < OPTIONS; i++)
		names[i] = table[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
	nearest = parse_nearest(name + strspn(name, "-"), names);
	if (nearest)
		return complaint_set(complaint, "unknown option '%s': did you mean --%s?", argument,
				     nearest);
	return complaint_set(complaint, "unknown option '%s': wring-bench --help lists them",
			     argument);
}

/* Set the option at argv[*i], step over what it uses. */
static int parse_one(struct options *options, int argc, char **argv, int *i,
		     struct complaint *complaint)
{
	const char *argument = argv[(*i)++];
	const char *name = argument + 2;
	size_t length = strcspn(argument, "=") - 2;
	const struct option *option = NULL;
	const char *value = NULL;

	if (strncmp(argument, "--", 2) == 0)
		option = find_option(name, length);
	if (!option)
		return complain_unknown(argument, complaint);
	if (name[length] == '=')
		value = name + length + 1;
	if (!option->argument && value)
		return complaint_set(complaint, "'%s': --%s takes no value", argument,
				     option->name);
	if (option->argument && !value) {
		if (*i == argc)
			return complaint_set(complaint, "'--%s': its %s is missing", option->name,
					     option->argument);
		value = argv[(*i)++];
	}
	if (option->set)
		return option->set(options, value, complaint);
	*(bool *)((char *)options + option->flag) = true;
	return 0;
}

static int set_defaults(struct options *options, struct complaint *complaint)
{
	struct wring_error error;

	*options = (struct options){.datatype = WRING_FLOAT32,
				    .op = WRING_SUM,
				    .min = SIZE_MAX,
				    .max = SIZE_MAX,
				    .factor = -1,
				    .iterations = -1,
				    .warmup = -1,
				    .batch = -1,
				    .budget = 2.0,
				    .deadline = 600};
	if (wring_config_init(&options->config, sizeof(options->config), &error) != WRING_OK)
		return complaint_set(complaint, "%s", error.text);
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct complaint *complaint)
{
	if (set_defaults(options, complaint))
		return -1;
	for (int i = 1; i < argc;)
		if (parse_one(options, argc, argv, &i, complaint))
			return -1;
	return options->help || options->version ? 0 : options_settle(options, complaint);
}

const char *options_collective_name(enum collective collective)
{
	return collective_names[collective];
}

const char *options_buffers_name(enum buffer_kind buffers)
{
	return buffer_names[buffers];
}
