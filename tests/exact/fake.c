/* fake.c: gives the exactness suites two RDMA devices that exist in this process alone. */
#include "tests/harness/fake_verbs.h"

#include <stdio.h>
#include <unistd.h>

/* Before main: the suites know nothing of it. */
__attribute__((constructor)) static void make_devices(void)
{
	fake_reset(2);
}

/* A program that breaks a rule of the interface has failed, however right its numbers are. */
__attribute__((destructor)) static void judge(void)
{
	if (!fake.broken)
		return;
	fprintf(stderr, "# %d rules of verbs are broken: %s\n", fake.broken, fake.broken_rule);
	_exit(3);
}
