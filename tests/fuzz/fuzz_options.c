/* fuzz_options.c: the command line of wring-bench, one argument on each line. */
#include "tests/fuzz/fuzz.h"

#include "bench/wring-bench/options.h"

#include <stdarg.h>

enum { ARGUMENTS = 64 };

/* bench/wring-bench/complaint.c without MPI. */
int complaint_set(struct complaint *complaint, const char *format, ...)
{
	va_list args;

	if (complaint->text[0])
		return -1;
	va_start(args, format);
	(void)vsnprintf(complaint->text, sizeof(complaint->text), format, args);
	va_end(args);
	return -1;
}

static void check_options(const struct options *options)
{
	size_t width = wring_datatype_size(options->datatype);

	if (options->help || options->version)
		return;
	must(width > 0, "the datatype is one of wring.h");
	must(options->sizes_count > 0 && options->sizes_count <= MAX_SIZES, "there are sizes");
	for (size_t i = 0; i < options->sizes_count; i++)
		must(options->sizes[i] % width == 0 &&
			     options->sizes[i] <= options_longest(options),
		     "sizes are whole elements");
	must((options->factor >= 2 || options->factor == -1) && options->deadline >= 1 &&
		     options->root >= 0 && options->batch != 0 && options->iterations != 0,
	     "numbers lie in their ranges");
	must(options->budget > 0 && options->budget <= 3600, "the budget lies in its range");
	must(options_collective_name(options->collective) != NULL, "the collective has a name");
	must(options_buffers_name(options->buffers) != NULL, "the buffers have a name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	char *argv[ARGUMENTS + 2] = {"wring-bench"};
	struct complaint complaint = {""};
	struct options options;
	int argc = 1;

	must(text != NULL, "there is memory");
	memcpy(text, data, size);
	text[size] = '\0';
	while (argc <= ARGUMENTS && rest)
		argv[argc++] = strsep(&rest, "\n");
	if (options_parse(&options, argc, argv, &complaint) == 0) {
		check_options(&options);
		(void)options_check_ranks(&options, 4, &complaint);
	} else {
		must(complaint.text[0] != '\0', "a refusal says why");
	}
	free(text);
	return 0;
}
