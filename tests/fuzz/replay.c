/* replay.c: gives a fuzz target the files that it is called with: seeds are tests of their own. */
#include "tests/fuzz/fuzz.h"

#include "tests/harness/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

/* Not every target has one. */
extern __typeof__(LLVMFuzzerInitialize) LLVMFuzzerInitialize __attribute__((weak));

/* Returns the bytes of a file, in memory of just that size, or NULL; the caller frees them. */
static uint8_t *read_file(const char *path, size_t *len)
{
	static uint8_t all[MOST];
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;

	if (!file)
		return NULL;
	*len = fread(all, 1, sizeof(all), file);
	(void)fclose(file);
	bytes = malloc(*len ? *len : 1);
	if (bytes)
		memcpy(bytes, all, *len);
	return bytes;
}

int main(int argc, char **argv)
{
	const char *name;
	uint8_t *bytes;
	size_t len;
	int i;

	if (LLVMFuzzerInitialize)
		(void)LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++) {
		bytes = read_file(argv[i], &len);
		name = strrchr(argv[i], '/');
		if (bytes)
			(void)LLVMFuzzerTestOneInput(bytes, len);
		tap_result(bytes != NULL, name ? name + 1 : argv[i], NULL);
		free(bytes);
	}
	return tap_finish();
}
