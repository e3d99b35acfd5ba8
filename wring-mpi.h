/* wring-mpi.h: connects the ranks of an existing MPI communicator; MPI is needed for this alone. */
/* SPDX-License-Identifier: MIT */
#ifndef WRING_MPI_H
#define WRING_MPI_H

#include <wring.h>

#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * wring_comm_create_mpi, at the end of this file, is what a program calls. It is static inline,
 * so that libwring links no MPI and works with any. The wring_mpi_ functions are its parts.
 */

/* What the callbacks know: the duplicate, how long a round may last, the first failure. */
struct wring_mpi_context {
	MPI_Comm comm;
	double timeout; /* seconds, for each round */
	int failed;	/* a round has failed, every later one fails at once */
	int code;	/* the MPI error code; MPI_SUCCESS: the time was up */
	const char *call;
};

static inline void wring_mpi_fill(struct wring_error *error, enum wring_status status, int code,
				  const char *text)
{
	if (!error)
		return;
	memset(error, 0, sizeof(*error));
	error->status = status;
	error->rank = -1;
	error->peer = -1;
	error->native = code;
	(void)snprintf(error->text, sizeof(error->text), "wring_comm_create_mpi: %s", text);
}

/* The first failure in words. For a late rank the next thing to look at is the other ranks. */
static inline void wring_mpi_explain(const struct wring_mpi_context *context,
				     struct wring_error *error)
{
	char cause[MPI_MAX_ERROR_STRING] = "";
	char text[MPI_MAX_ERROR_STRING + 200];
	int len = 0;

	if (context->code == MPI_SUCCESS) {
		(void)snprintf(text, sizeof(text),
			       "%s: not every rank arrived within %.0f ms (timeout_ms); see that "
			       "all ranks of the communicator call it and that none has died",
			       context->call, context->timeout * 1000.0);
	} else {
		if (MPI_Error_string(context->code, cause, &len) != MPI_SUCCESS)
			(void)snprintf(cause, sizeof(cause), "MPI error %d", context->code);
		(void)snprintf(text, sizeof(text), "%s: %s; see what MPI printed", context->call,
			       cause);
	}
	wring_mpi_fill(error, WRING_ERR_BOOTSTRAP, context->code, text);
}

static inline int wring_mpi_fail(struct wring_mpi_context *context, const char *call, int code)
{
	context->failed = 1;
	context->call = call;
	context->code = code;
	return 1;
}

/* At first as fast as it can, then leaving the CPU to others, then asleep. */
static inline void wring_mpi_pause(double waited)
{
	if (waited > 0.01)
		(void)poll(NULL, 0, 1);
	else if (waited > 0.0001)
		(void)sched_yield();
}

/*
 * Wait for one round; returns 0 when it is complete. A collective's request can be neither
 * cancelled nor freed: when the time is up, it and the duplicate are left to MPI for ever.
 */
static inline int wring_mpi_finish(struct wring_mpi_context *context, MPI_Request *request,
				   const char *call)
{
	double begin = MPI_Wtime();

	for (;;) {
		int done = 0;
		int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
		double waited = MPI_Wtime() - begin;

		if (code != MPI_SUCCESS)
			return wring_mpi_fail(context, call, code);
		if (done)
			return 0;
		if (waited > context->timeout)
			return wring_mpi_fail(context, call, MPI_SUCCESS);
		wring_mpi_pause(waited);
	}
}

/* struct wring_bootstrap's allgather. */
static inline int wring_mpi_allgather(void *ctx, const void *in, void *out, size_t len)
{
	struct wring_mpi_context *context = (struct wring_mpi_context *)ctx;
	MPI_Request request;
	int code;

	if (context->failed)
		return 1;
	if (len > (size_t)INT_MAX)
		return wring_mpi_fail(context, "MPI_Iallgather", MPI_ERR_COUNT);
	code = MPI_Iallgather(in, (int)len, MPI_BYTE, out, (int)len, MPI_BYTE, context->comm,
			      &request);
	if (code != MPI_SUCCESS)
		return wring_mpi_fail(context, "MPI_Iallgather", code);
	return wring_mpi_finish(context, &request, "MPI_Iallgather");
}

/* struct wring_bootstrap's alltoall. */
static inline int wring_mpi_alltoall(void *ctx, const void *in, void *out, size_t len)
{
	struct wring_mpi_context *context = (struct wring_mpi_context *)ctx;
	MPI_Request request;
	int code;

	if (context->failed)
		return 1;
	if (len > (size_t)INT_MAX)
		return wring_mpi_fail(context, "MPI_Ialltoall", MPI_ERR_COUNT);
	code = MPI_Ialltoall(in, (int)len, MPI_BYTE, out, (int)len, MPI_BYTE, context->comm,
			     &request);
	if (code != MPI_SUCCESS)
		return wring_mpi_fail(context, "MPI_Ialltoall", code);
	return wring_mpi_finish(context, &request, "MPI_Ialltoall");
}

/*
 * How long a round may last, in seconds: config's timeout_ms, else WRING_TIMEOUT_MS, else ten
 * minutes. A bad value counts as none here: wring_comm_create refuses it, on every rank.
 */
static inline double wring_mpi_timeout(const struct wring_config *config)
{
	const char *text = getenv("WRING_TIMEOUT_MS");
	struct wring_config own;
	int ms = 0;

	if (config && config->size >= sizeof(*config))
		ms = config->timeout_ms;
	if (ms <= 0 && text && !wring_config_init(&own, sizeof(own), NULL) &&
	    !wring_config_set(&own, "timeout_ms", text, NULL))
		ms = own.timeout_ms;
	return ms >= 1 && ms <= 86400000 ? ms / 1000.0 : 600.0;
}

/* Is there an MPI now, and is mpi a communicator of one group? */
static inline enum wring_status wring_mpi_check(MPI_Comm mpi, struct wring_error *error)
{
	const char *problem = NULL;
	enum wring_status status = WRING_ERR_STATE;
	int initialized = 0, finalized = 0, inter = 0;

	(void)MPI_Initialized(&initialized);
	(void)MPI_Finalized(&finalized);
	if (!initialized) {
		problem = "MPI is not initialised; call MPI_Init first";
	} else if (finalized) {
		problem = "MPI is finalised; call it before MPI_Finalize";
	} else if (mpi == MPI_COMM_NULL) {
		status = WRING_ERR_INVALID;
		problem = "the communicator is MPI_COMM_NULL; a rank outside must not call it";
	} else if (MPI_Comm_test_inter(mpi, &inter) != MPI_SUCCESS || inter) {
		status = WRING_ERR_INVALID;
		problem = "it is an inter-communicator; MPI_Intercomm_merge makes an ordinary one";
	}
	if (!problem)
		return WRING_OK;
	wring_mpi_fill(error, status, 0, problem);
	return status;
}

/* Gives context->comm, a duplicate of mpi on which failures are returned. 0 for success. */
static inline int wring_mpi_duplicate(struct wring_mpi_context *context, MPI_Comm mpi)
{
	MPI_Request request;
	int code = MPI_Comm_idup(mpi, &context->comm, &request);

	if (code != MPI_SUCCESS)
		return wring_mpi_fail(context, "MPI_Comm_idup", code);
	if (wring_mpi_finish(context, &request, "MPI_Comm_idup"))
		return 1;
	code = MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
	if (code != MPI_SUCCESS)
		return wring_mpi_fail(context, "MPI_Comm_set_errhandler", code);
	return 0;
}

/*
 * Connect all ranks of mpi; collective over it. Ranks are those of mpi. config may be NULL.
 * Borrows both until it returns; no Wring call touches MPI after that. Gives *comm; end it with
 * wring_comm_destroy, before or after MPI_Finalize. Bad arguments of one rank fail every rank.
 * STATE: before MPI_Init or after MPI_Finalize. INVALID: mpi is MPI_COMM_NULL or an
 * inter-communicator. BOOTSTRAP: MPI failed (error->native is its code), or a rank did not come
 * within timeout_ms. And whatever wring_comm_create may return.
 */
WRING_MUST_CHECK static inline enum wring_status
wring_comm_create_mpi(MPI_Comm mpi, const struct wring_config *config, struct wring_comm **comm,
		      struct wring_error *error)
{
	struct wring_mpi_context context;
	struct wring_bootstrap bootstrap;
	enum wring_status status = wring_mpi_check(mpi, error);

	if (status != WRING_OK)
		return status;
	memset(&context, 0, sizeof(context));
	context.timeout = wring_mpi_timeout(config);
	if (wring_mpi_duplicate(&context, mpi)) {
		wring_mpi_explain(&context, error);
		return WRING_ERR_BOOTSTRAP;
	}
	memset(&bootstrap, 0, sizeof(bootstrap));
	bootstrap.struct_size = sizeof(bootstrap);
	(void)MPI_Comm_rank(context.comm, &bootstrap.rank);
	(void)MPI_Comm_size(context.comm, &bootstrap.size);
	bootstrap.allgather = wring_mpi_allgather;
	bootstrap.alltoall = wring_mpi_alltoall;
	bootstrap.ctx = &context;

	status = wring_comm_create(&bootstrap, config, comm, error);
	if (context.failed && status == WRING_ERR_BOOTSTRAP)
		wring_mpi_explain(&context, error);
	if (!context.failed)
		(void)MPI_Comm_free(&context.comm);
	return status;
}

/*
 * In libwring-mpi (pkg-config wring-mpi), for Fortran and Python: the same for a communicator's
 * Fortran handle. The library has wring_comm_create_mpi as an ordinary symbol, too.
 */
WRING_MUST_CHECK enum wring_status wring_comm_create_mpi_f(MPI_Fint mpi,
							   const struct wring_config *config,
							   struct wring_comm **comm,
							   struct wring_error *error);

#ifdef __cplusplus
}
#endif

#endif
