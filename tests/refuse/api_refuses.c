/* api_refuses.c: every public function with every bad input: status, text, nothing lost. */
#include "tests/refuse/refuse.h"

#include "tests/harness/tap.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: api_refuses [PART OF A TEST'S NAME]\n");
		return 2;
	}
	if (argc == 2)
		refuse_select(argv[1]);
	refuse_bootstraps();
	refuse_collectives();
	refuse_configs();
	refuse_creates();
	refuse_memory();
	refuse_requests();
	refuse_broken();
	refuse_leftovers();
	return tap_finish();
}
