/* wring-mpi.c: libwring-mpi, wring-mpi.h's function as a symbol, for Fortran and Python. */
/* SPDX-License-Identifier: MIT */

/* The header's static inline function gets another name here, so that its own can be exported. */
#define wring_comm_create_mpi create_mpi
#include "wring-mpi.h"
#undef wring_comm_create_mpi

__attribute__((visibility("default"))) enum wring_status
wring_comm_create_mpi(MPI_Comm mpi, const struct wring_config *config, struct wring_comm **comm,
		      struct wring_error *error);

enum wring_status wring_comm_create_mpi(MPI_Comm mpi, const struct wring_config *config,
					struct wring_comm **comm, struct wring_error *error)
{
	return create_mpi(mpi, config, comm, error);
}

/* MPI_Comm_f2c is only legal while MPI runs: STATE is found out without it. */
__attribute__((visibility("default"))) enum wring_status
wring_comm_create_mpi_f(MPI_Fint mpi, const struct wring_config *config, struct wring_comm **comm,
			struct wring_error *error)
{
	enum wring_status status = wring_mpi_check(MPI_COMM_WORLD, error);

	if (status != WRING_OK)
		return status;
	return create_mpi(MPI_Comm_f2c(mpi), config, comm, error);
}
