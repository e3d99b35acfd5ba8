/* tap.c: counts and prints results of a test program. */
#include "tests/harness/tap.h"

#include <stdarg.h>
#include <stdio.h>

static int tests, failures;

void tap_result(bool passed, const char *name, const char *remark, ...)
{
	va_list args;

	tests++;
	failures += !passed;
	printf("%s %d - %s", passed ? "ok" : "not ok", tests, name);
	if (remark) {
		printf(" # ");
		va_start(args, remark);
		(void)vprintf(remark, args);
		va_end(args);
	}
	printf("\n");
	(void)fflush(stdout);
}

void tap_skip(const char *name, const char *why)
{
	tests++;
	printf("ok %d - %s # SKIP %s\n", tests, name, why);
	(void)fflush(stdout);
}

int tap_finish(void)
{
	printf("1..%d\n", tests);
	return failures == 0 ? 0 : 1;
}
