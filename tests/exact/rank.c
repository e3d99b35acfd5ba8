/* rank.c: one rank of an exactness case: its communicator, its complaints, its report. */
#include "tests/exact/exact.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLAINTS = 8, MARGIN_S = 5 };

void exact_set(struct exact_settings *settings, const char *name, const char *value)
{
	if (settings->n == EXACT_SETTINGS) {
		fprintf(stderr, "exact: more than %d settings\n", EXACT_SETTINGS);
		exit(2);
	}
	(void)snprintf(settings->name[settings->n], sizeof(settings->name[0]), "%s", name);
	(void)snprintf(settings->value[settings->n], sizeof(settings->value[0]), "%s", value);
	settings->n++;
}

static void say(struct exact *x, const char *what, va_list args)
{
	char line[1024];

	if (x->shown++ >= COMPLAINTS)
		return;
	(void)vsnprintf(line, sizeof(line), what, args);
	fprintf(stderr, "# %s: rank %d: %s\n", x->test->name, x->rank, line);
}

void exact_complain(struct exact *x, const char *what, ...)
{
	va_list args;

	x->report.failed++;
	va_start(args, what);
	say(x, what, args);
	va_end(args);
}

bool exact_ok(struct exact *x, enum wring_status status, const char *what, ...)
{
	struct wring_error error = {.status = WRING_OK};
	char call[256];
	va_list args;

	if (status == WRING_OK)
		return true;
	va_start(args, what);
	(void)vsnprintf(call, sizeof(call), what, args);
	va_end(args);
	if (x->comm)
		wring_comm_error(x->comm, &error);
	exact_complain(x, "%s: %s: %s", call, wring_strerror(status), error.text);
	x->broken = true;
	return false;
}

static void log_line(void *ctx, const char *line)
{
	struct exact *x = ctx;

	x->warnings++;
	fprintf(stderr, "# %s: rank %d: %s\n", x->test->name, x->rank, line);
}

static enum wring_status configure(struct exact *x, const struct exact_settings *settings,
				   struct wring_config *config, struct wring_error *error)
{
	enum wring_status status = wring_config_init(config, sizeof(*config), error);
	int timeout_s = x->test->timeout_s;

	if (status != WRING_OK)
		return status;
	config->timeout_ms = (timeout_s > 2 * MARGIN_S ? timeout_s - MARGIN_S : timeout_s) * 1000;
	config->log = log_line;
	config->log_ctx = x;
	for (int i = 0; i < settings->n && status == WRING_OK; i++)
		status = wring_config_set(config, settings->name[i], settings->value[i], error);
	return status;
}

static bool ring_is_rank_order(const struct exact_settings *settings)
{
	const char *ring = getenv("WRING_RING");

	for (int i = 0; i < settings->n; i++) {
		if (strcmp(settings->name[i], "ring") == 0)
			ring = settings->value[i];
	}
	return ring && strcmp(ring, "rank") == 0;
}

/* Ranks of one host are neighbours, hosts by their lowest rank. */
static void find_ring_order(struct exact *x, const struct exact_settings *settings)
{
	struct wring_peer_info info[RANKS_MAX];
	bool placed[RANKS_MAX] = {false};
	int n = 0;

	for (int r = 0; r < x->size; r++) {
		enum wring_status status = wring_comm_peer(x->comm, r, &info[r], sizeof(info[r]));

		x->order[r] = r;
		if (!exact_ok(x, status, "comm_peer %d", r))
			return;
	}
	if (ring_is_rank_order(settings))
		return;
	for (int first = 0; first < x->size; first++) {
		for (int r = first; r < x->size; r++) {
			if (placed[r] || strcmp(info[r].host, info[first].host) != 0)
				continue;
			placed[r] = true;
			x->order[n++] = r;
		}
	}
}

int exact_open(struct exact *x, const struct exact_settings *settings)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_config config;
	enum wring_status status = configure(x, settings, &config, &error);

	if (status == WRING_OK)
		status = wring_comm_create(x->context->bootstrap, &config, &x->comm, &error);
	if (status != WRING_OK) {
		x->comm = NULL;
		x->broken = true;
		exact_complain(x, "create: %s: %s", wring_strerror(status), error.text);
		return -1;
	}
	if (wring_comm_rank(x->comm) != x->rank || wring_comm_size(x->comm) != x->size)
		exact_complain(x, "communicator says rank %d of %d", wring_comm_rank(x->comm),
			       wring_comm_size(x->comm));
	find_ring_order(x, settings);
	return 0;
}

void exact_close(struct exact *x)
{
	wring_comm_destroy(x->comm);
	x->comm = NULL;
}

/* Rank 0 writes everybody's sum where the launcher reads it. */
static int hand_in_report(struct exact *x)
{
	const struct wring_bootstrap *bootstrap = x->context->bootstrap;
	struct exact_report all[RANKS_MAX], sum = {0};

	if (bootstrap->allgather(bootstrap->ctx, &x->report, all, sizeof(all[0])))
		return -1;
	for (int r = 0; r < x->size; r++) {
		sum.operations += all[r].operations;
		sum.elements += all[r].elements;
		sum.wrong += all[r].wrong;
		sum.failed += all[r].failed;
	}
	if (x->rank == 0)
		*x->test->report = sum;
	return sum.wrong || sum.failed ? -1 : 0;
}

int exact_rank(const struct rank_context *context)
{
	struct exact x = {
		.test = context->arg,
		.context = context,
		.rank = context->rank,
		.size = context->size,
	};

	if (x.test->without_comm || exact_open(&x, &x.test->settings) == 0)
		x.test->body(&x);
	exact_close(&x);
	if (x.warnings > 0)
		fprintf(stderr, "# %s: rank %d: %d warnings\n", x.test->name, x.rank, x.warnings);
	return hand_in_report(&x) ? 1 : 0;
}
