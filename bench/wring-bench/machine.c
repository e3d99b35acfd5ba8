/* machine.c: on what, and with which versions, it was measured. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/machine.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* x86 says "model name", other architectures have no line of that name: the machine's then. */
static void describe_cpu(char *text, size_t size, const char *machine)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(text, size, "%s", machine);
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon || colon[1] != ' ')
			continue;
		snprintf(text, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	fclose(file);
}

void machine_mpi_version(char *text, int size)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;

	MPI_Get_library_version(version, &length);
	snprintf(text, (size_t)size, "%.*s", (int)strcspn(version, ",\n"), version);
}

void machine_describe(struct machine *machine)
{
	struct utsname uts;
	time_t seconds = time(NULL);
	struct tm utc;

	*machine = (struct machine){.cores = sysconf(_SC_NPROCESSORS_ONLN)};
	if (uname(&uts) == 0) {
		snprintf(machine->host, sizeof(machine->host), "%.63s", uts.nodename);
		snprintf(machine->kernel, sizeof(machine->kernel), "%.64s %.90s", uts.sysname,
			 uts.release);
		describe_cpu(machine->cpu, sizeof(machine->cpu), uts.machine);
	}
	if (gmtime_r(&seconds, &utc))
		strftime(machine->date, sizeof(machine->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	machine_mpi_version(machine->mpi, (int)sizeof(machine->mpi));
}
