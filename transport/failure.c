/* failure.c: keeps the first failure of a transport; its clock and its log. */
/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "transport/transport_state.h"

uint64_t transport_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void transport_log(const struct transport *transport, const char *format, ...)
{
	char line[640];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (transport->config.log)
		transport->config.log(transport->config.log_ctx, line);
	else
		(void)fprintf(stderr, "wring: rank %d: %s\n", transport->rank, line);
}

enum wring_status transport_status(const struct transport *transport)
{
	return transport->error.status;
}

const struct wring_error *transport_error(const struct transport *transport)
{
	return &transport->error;
}

void transport_fail(struct transport *transport, const struct wring_error *error)
{
	if (!transport->error.status)
		transport->error = *error;
}

void transport_fail_at(struct transport *transport, enum wring_status status, int rank,
		       uint64_t operation, const char *format, ...)
{
	struct wring_error error;
	char text[sizeof(error.text)];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)error_set(&error, status, "%s", text);
	error.rank = rank;
	error.peer = status == WRING_ERR_MISMATCH ? transport->rank : -1;
	error.operation = operation;
	transport_fail(transport, &error);
}
