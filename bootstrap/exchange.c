/* exchange.c: rounds of allgather and alltoall, and what they bring to light. */
/* SPDX-License-Identifier: MIT */
#include "bootstrap/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAGIC "wring\r\n"
enum { FORMAT = 1 };

/* What the last round carries. */
struct readiness {
	int32_t status, rank, peer, native;
	char text[496];
};

_Static_assert(sizeof(struct introduction) == 8 + 24 + sizeof(struct host_identity) +
						      sizeof(struct config_fingerprint) +
						      EXCHANGE_CPUS + EXCHANGE_ADDRESS + 456,
	       "an introduction has no padding");

enum wring_status exchange_check(const struct wring_bootstrap *bootstrap, struct wring_error *error)
{
	if (!bootstrap)
		return error_set(
			error, WRING_ERR_INVALID,
			"wring_comm_create: bootstrap is NULL; use wring_comm_create_mpi, or "
			"fill in a struct wring_bootstrap");
	if (bootstrap->struct_size < sizeof(*bootstrap))
		return error_set(error, WRING_ERR_INVALID,
				 "wring_comm_create: bootstrap struct_size is %zu; set it to "
				 "sizeof(struct wring_bootstrap) (%zu)",
				 bootstrap->struct_size, sizeof(*bootstrap));
	if (!bootstrap->allgather || !bootstrap->alltoall)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_comm_create: bootstrap %s is NULL",
				 bootstrap->allgather ? "alltoall" : "allgather");
	if (bootstrap->size < 1)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_comm_create: bootstrap size is %d; it must be 1 or more",
				 bootstrap->size);
	if (bootstrap->rank < 0 || bootstrap->rank >= bootstrap->size)
		return error_set(error, WRING_ERR_INVALID,
				 "wring_comm_create: bootstrap rank %d is outside 0..%d",
				 bootstrap->rank, bootstrap->size - 1);
	return WRING_OK;
}

void exchange_introduce(struct introduction *own, const struct wring_bootstrap *bootstrap,
			const struct wring_error *failure)
{
	memcpy(own->magic, MAGIC, sizeof(own->magic));
	own->format = FORMAT;
	own->rank = bootstrap->rank;
	own->size = bootstrap->size;
	own->status = (int32_t)failure->status;
	own->native = failure->native;
	(void)snprintf(own->text, sizeof(own->text), "%.*s", (int)sizeof(own->text) - 1,
		       failure->text);
}

static enum wring_status call_failed(const char *call, int code, struct wring_error *error)
{
	return error_native(
		error, WRING_ERR_BOOTSTRAP, code,
		"the bootstrap's %s returned %d; a rank may have ended or timed out: look "
		"at the other ranks' output",
		call, code);
}

/* A status that another rank has sent; one that wring.h does not name is none. */
static enum wring_status known_failure(int status)
{
	const char *name = wring_strerror((enum wring_status)status);

	return status && strcmp(name, "unknown") ? (enum wring_status)status : WRING_ERR_BOOTSTRAP;
}

/* From here on a failure is described on behalf of the rank that has it. */
static enum wring_status failure_of(int rank, int status, int native, const char *text,
				    int text_len, struct wring_error *error)
{
	enum wring_status known = known_failure(status);

	(void)error_native(error, known, native, "rank %d: %.*s", rank, text_len, text);
	if (error)
		error->rank = rank;
	return known;
}

/* Whatever else a bootstrap does, it must not change this rank's own words. */
static enum wring_status check_own(const void *own, const void *all, int rank, size_t len,
				   struct wring_error *error)
{
	if (!memcmp(own, (const char *)all + (size_t)rank * len, len))
		return WRING_OK;
	return error_set(error, WRING_ERR_BOOTSTRAP,
			 "the bootstrap's allgather returned something else at place %d than rank "
			 "%d had given to it",
			 rank, rank);
}

static enum wring_status check_form(const struct wring_bootstrap *bootstrap,
				    const struct introduction *all, struct wring_error *error)
{
	for (int rank = 0; rank < bootstrap->size; rank++) {
		const struct introduction *one = &all[rank];

		if (memcmp(one->magic, MAGIC, sizeof(one->magic)) || one->format != FORMAT)
			return error_set(error, WRING_ERR_BOOTSTRAP,
					 "rank %d sent something that is no introduction of this "
					 "version; do all ranks link the same libwring (%s)?",
					 rank, wring_version());
		if (one->rank != rank || one->size != bootstrap->size)
			return error_set(
				error, WRING_ERR_BOOTSTRAP,
				"rank %d of %d calls itself rank %d of %d; the bootstrap's "
				"ranks are not consistent",
				rank, bootstrap->size, one->rank, one->size);
	}
	return WRING_OK;
}

static enum wring_status check_failures(int size, const struct introduction *all,
					struct wring_error *error)
{
	for (int rank = 0; rank < size; rank++)
		if (all[rank].status)
			return failure_of(rank, all[rank].status, all[rank].native, all[rank].text,
					  (int)strnlen(all[rank].text, sizeof(all[rank].text)),
					  error);
	return WRING_OK;
}

static enum wring_status check_settings(int size, const struct introduction *all,
					struct wring_error *error)
{
	char text[400];

	for (int rank = 1; rank < size; rank++) {
		if (!config_fingerprint_differs(&all[0].settings, 0, &all[rank].settings, rank,
						text, sizeof(text)))
			continue;
		(void)error_set(error, WRING_ERR_MISMATCH, "settings differ: %s", text);
		if (error) {
			error->rank = rank;
			error->peer = 0;
		}
		return WRING_ERR_MISMATCH;
	}
	return WRING_OK;
}

enum wring_status exchange_introductions(const struct wring_bootstrap *bootstrap,
					 const struct introduction *own, struct introduction *all,
					 struct wring_error *error)
{
	int code = bootstrap->allgather(bootstrap->ctx, own, all, sizeof(*own));
	enum wring_status status;

	if (code)
		return call_failed("allgather", code, error);
	status = check_form(bootstrap, all, error);
	if (!status)
		status = check_own(own, all, bootstrap->rank, sizeof(*own), error);
	if (!status)
		status = check_failures(bootstrap->size, all, error);
	if (!status)
		status = check_settings(bootstrap->size, all, error);
	return status;
}

enum wring_status exchange_alltoall(const struct wring_bootstrap *bootstrap, const void *in,
				    void *out, size_t len, struct wring_error *error)
{
	int code = bootstrap->alltoall(bootstrap->ctx, in, out, len);

	return code ? call_failed("alltoall", code, error) : WRING_OK;
}

static enum wring_status find_unready(const struct readiness *all, int size,
				      struct wring_error *error)
{
	for (int rank = 0; rank < size; rank++) {
		if (!all[rank].status)
			continue;
		return failure_of(rank, all[rank].status, all[rank].native, all[rank].text,
				  (int)strnlen(all[rank].text, sizeof(all[rank].text)), error);
	}
	return WRING_OK;
}

_Static_assert(sizeof(struct readiness) <= sizeof(struct introduction), "there is room for it");

enum wring_status exchange_ready(const struct wring_bootstrap *bootstrap,
				 const struct wring_error *failure, struct introduction *room,
				 struct wring_error *error)
{
	struct readiness own = {
		.status = (int32_t)failure->status,
		.rank = failure->rank,
		.peer = failure->peer,
		.native = failure->native,
	};
	struct readiness *all = (struct readiness *)(void *)room;
	enum wring_status status;
	int code;

	(void)snprintf(own.text, sizeof(own.text), "%.*s", (int)sizeof(own.text) - 1,
		       failure->text);
	code = bootstrap->allgather(bootstrap->ctx, &own, all, sizeof(own));
	status = code ? call_failed("allgather", code, error)
		      : check_own(&own, all, bootstrap->rank, sizeof(own), error);
	if (!status)
		status = find_unready(all, bootstrap->size, error);
	return status;
}
