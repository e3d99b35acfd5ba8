/* work.c: the collective call to be timed, through Wring or through MPI, on the same buffers. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/work.h"

/* float16 and bfloat16 are only broadcast by MPI, which does not care what the 2 bytes are. */
static MPI_Datatype mpi_datatype(enum wring_datatype datatype)
{
	switch (datatype) {
	case WRING_INT8:
		return MPI_INT8_T;
	case WRING_UINT8:
		return MPI_UINT8_T;
	case WRING_INT32:
		return MPI_INT32_T;
	case WRING_UINT32:
		return MPI_UINT32_T;
	case WRING_INT64:
		return MPI_INT64_T;
	case WRING_UINT64:
		return MPI_UINT64_T;
	case WRING_FLOAT16:
	case WRING_BFLOAT16:
		return MPI_UINT16_T;
	case WRING_FLOAT32:
		return MPI_FLOAT;
	case WRING_FLOAT64:
		return MPI_DOUBLE;
	}
	return MPI_DATATYPE_NULL;
}

static MPI_Op mpi_op(enum wring_op op)
{
	switch (op) {
	case WRING_SUM:
		return MPI_SUM;
	case WRING_PROD:
		return MPI_PROD;
	case WRING_MIN:
		return MPI_MIN;
	case WRING_MAX:
		return MPI_MAX;
	case WRING_AVG:
		return MPI_OP_NULL;
	}
	return MPI_OP_NULL;
}

void work_init(struct work *work, const struct options *options, struct wring_comm *comm)
{
	*work = (struct work){.options = options,
			      .comm = comm,
			      .mpi = MPI_COMM_WORLD,
			      .datatype = mpi_datatype(options->datatype),
			      .op = mpi_op(options->op)};
	MPI_Comm_rank(work->mpi, &work->rank);
	MPI_Comm_size(work->mpi, &work->size);
}

int work_root(const struct work *work, enum system system)
{
	if (!work->options->rotate_root)
		return work->options->root;
	return (int)((work->options->root + work->calls[system]) % work->size);
}

void *work_input(const struct work *work)
{
	return work->options->collective == ALLREDUCE ? work->send : work->recv;
}

size_t work_bytes(const struct work *work)
{
	return work->count * wring_datatype_size(work->options->datatype);
}

static enum wring_status call_wring(struct work *work, int root)
{
	const struct options *options = work->options;

	switch (options->collective) {
	case ALLREDUCE:
		return wring_allreduce(work->comm, work->send, work->recv, work->count,
				       options->datatype, options->op);
	case BROADCAST:
		return wring_broadcast(work->comm, work->recv, work->count, options->datatype,
				       root);
	case BARRIER:
		return wring_barrier(work->comm);
	}
	return WRING_ERR_INVALID;
}

static enum wring_status start_and_wait_wring(struct work *work, int root)
{
	const struct options *options = work->options;
	struct wring_request *request = NULL;
	enum wring_status status = WRING_ERR_INVALID;

	switch (options->collective) {
	case ALLREDUCE:
		status = wring_iallreduce(work->comm, work->send, work->recv, work->count,
					  options->datatype, options->op, &request);
		break;
	case BROADCAST:
		status = wring_ibroadcast(work->comm, work->recv, work->count, options->datatype,
					  root, &request);
		break;
	case BARRIER:
		status = wring_ibarrier(work->comm, &request);
		break;
	}
	return status == WRING_OK ? wring_wait(&request) : status;
}

/* MPI's own error handler ends the program. */
static void call_mpi(struct work *work, int root)
{
	const void *send = work->send == work->recv ? MPI_IN_PLACE : work->send;
	int count = (int)work->count;

	switch (work->options->collective) {
	case ALLREDUCE:
		MPI_Allreduce(send, work->recv, count, work->datatype, work->op, work->mpi);
		break;
	case BROADCAST:
		MPI_Bcast(work->recv, count, work->datatype, root, work->mpi);
		break;
	case BARRIER:
		MPI_Barrier(work->mpi);
		break;
	}
}

static void start_and_wait_mpi(struct work *work, int root)
{
	const void *send = work->send == work->recv ? MPI_IN_PLACE : work->send;
	int count = (int)work->count;
	MPI_Request request = MPI_REQUEST_NULL;

	switch (work->options->collective) {
	case ALLREDUCE:
		MPI_Iallreduce(send, work->recv, count, work->datatype, work->op, work->mpi,
			       &request);
		break;
	case BROADCAST:
		MPI_Ibcast(work->recv, count, work->datatype, root, work->mpi, &request);
		break;
	case BARRIER:
		MPI_Ibarrier(work->mpi, &request);
		break;
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void die_of_wring(const struct work *work, enum wring_status status)
{
	struct wring_error error = {.status = WRING_OK};

	wring_comm_error(work->comm, &error);
	complaint_die("%s of %zu bytes, call %ld: %s: %s",
		      options_collective_name(work->options->collective), work_bytes(work),
		      work->calls[SYSTEM_WRING] + 1, wring_strerror(status), error.text);
}

static void run_wring(struct work *work)
{
	int root = work_root(work, SYSTEM_WRING);
	enum wring_status status;

	if (work->options->nonblocking)
		status = start_and_wait_wring(work, root);
	else
		status = call_wring(work, root);
	if (status != WRING_OK)
		die_of_wring(work, status);
	work->calls[SYSTEM_WRING]++;
}

static void run_mpi(struct work *work)
{
	int root = work_root(work, SYSTEM_MPI);

	if (work->options->nonblocking)
		start_and_wait_mpi(work, root);
	else
		call_mpi(work, root);
	work->calls[SYSTEM_MPI]++;
}

void work_run(struct work *work, enum system system, long calls)
{
	for (long i = 0; i < calls; i++) {
		if (system == SYSTEM_WRING)
			run_wring(work);
		else
			run_mpi(work);
	}
}
