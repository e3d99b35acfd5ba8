/* machine.h: on what, and with which versions, it was measured. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_WRING_BENCH_MACHINE_H
#define BENCH_WRING_BENCH_MACHINE_H

struct machine {
	char host[64], cpu[128], kernel[160], mpi[128], date[32];
	long cores;
};

/* Describe the machine this process runs on; what is not known is "". */
void machine_describe(struct machine *machine);

/* The MPI library's name and version, without its build details; may be called before MPI_Init. */
void machine_mpi_version(char *text, int size);

#endif
