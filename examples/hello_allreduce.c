/* hello_allreduce.c: the sum of one number per rank. mpirun -n 2 ./hello_allreduce */
#include <stdio.h>
#include <wring-mpi.h>

int main(int argc, char **argv)
{
	struct wring_comm *comm = NULL;
	struct wring_error error;
	float x;

	MPI_Init(&argc, &argv);
	if (wring_comm_create_mpi(MPI_COMM_WORLD, NULL, &comm, &error) != WRING_OK) {
		fprintf(stderr, "%s\n", error.text);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	x = (float)wring_comm_rank(comm) + 1;
	if (wring_allreduce(comm, &x, &x, 1, WRING_FLOAT32, WRING_SUM) != WRING_OK) {
		wring_comm_error(comm, &error);
		fprintf(stderr, "%s\n", error.text);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	printf("rank %d of %d has %g\n", wring_comm_rank(comm), wring_comm_size(comm), (double)x);
	wring_comm_destroy(comm);
	return MPI_Finalize();
}
