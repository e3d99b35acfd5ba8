/* settle.c: after a failure all ranks settle on one error; without one they say goodbye. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>

#include "transport/transport_state.h"

#define HEAR_NS	 ((uint64_t)50 * 1000 * 1000)
#define LEAVE_NS ((uint64_t)200 * 1000 * 1000)

/* The least error is the one that all ranks settle on. */
static bool comes_before(const struct wring_error *a, const struct wring_error *b)
{
	if (a->operation != b->operation)
		return a->operation < b->operation;
	if (a->status != b->status)
		return a->status < b->status;
	return a->rank < b->rank;
}

/* Programs may use a rank as an index: one that does not exist becomes "nobody". */
static int known_rank(const struct transport *t, int rank)
{
	return rank >= 0 && rank < t->size ? rank : -1;
}

static void read_record(const struct transport *t, const struct reserve_record *record,
			struct wring_error *error)
{
	char text[sizeof(record->text)];

	(void)snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1, record->text);
	(void)error_native(error, (enum wring_status)record->status, record->native, "%s",
			   text[0] ? text : "a rank gave up without a reason");
	error->rank = known_rank(t, record->rank);
	error->peer = known_rank(t, record->peer);
	error->operation = record->operation;
}

static void write_record(const struct wring_error *error, struct reserve_record *record)
{
	*record = (struct reserve_record){
		.sequence = 1,
		.status = (int32_t)error->status,
		.rank = error->rank,
		.peer = error->peer,
		.native = error->native,
		.operation = error->operation,
	};
	(void)snprintf(record->text, sizeof(record->text), "%.*s", (int)sizeof(record->text) - 1,
		       error->text);
}

/* Only a status that breaks a communicator may arrive in an abort. */
static bool is_breaking(int32_t status)
{
	return status >= WRING_ERR_MISMATCH && status <= WRING_ERR_ABORTED;
}

static void hear(struct transport *t, struct link *link)
{
	const struct reserve_record *record = link->ops->find_record(link, RESERVE_ABORT);
	struct wring_error error;

	if (!record || !is_breaking(record->status))
		return;
	read_record(t, record, &error);
	if (!t->error.status || comes_before(&error, &t->error))
		t->error = error;
}

void transport_hear_aborts(struct transport *transport)
{
	for (int peer = transport_next_peer(transport, -1); peer < transport->size;
	     peer = transport_next_peer(transport, peer))
		hear(transport, &transport->links[peer]);
}

static void send_records(struct transport *t, enum reserve which, struct reserve_record *record)
{
	for (int peer = transport_next_peer(t, -1); peer < t->size;
	     peer = transport_next_peer(t, peer)) {
		struct link *link = &t->links[peer];

		if (link->record_sent[which] || link->closed)
			continue;
		link->record_sent[which] = true;
		record->consumed = link->consumed;
		link->ops->send_record(link, which, record);
	}
}

static void close_all(struct transport *t)
{
	for (int peer = transport_next_peer(t, -1); peer < t->size;
	     peer = transport_next_peer(t, peer)) {
		struct link *link = &t->links[peer];

		if (link->closed)
			continue;
		link->closed = true;
		link->ops->close(link);
	}
}

static void nap(void)
{
	struct timespec ms = {.tv_nsec = 1000 * 1000};

	(void)nanosleep(&ms, NULL);
}

/* Everyone who notices the same fault does so at nearly the same time; 50 ms lets the reports
 * cross, so that all ranks choose the same one. */
void transport_settle(struct transport *transport)
{
	struct reserve_record record;
	uint64_t end = transport_now() + HEAR_NS;

	if (transport->settled)
		return;
	transport->settled = true;
	write_record(&transport->error, &record);
	send_records(transport, RESERVE_ABORT, &record);
	while (transport->size > 1 && transport_now() < end) {
		transport_poll(transport);
		transport_hear_aborts(transport);
		nap();
	}
	close_all(transport);
}

static bool all_flushed(struct transport *t)
{
	for (int peer = transport_next_peer(t, -1); peer < t->size;
	     peer = transport_next_peer(t, peer))
		if (!t->links[peer].ops->flushed(&t->links[peer]))
			return false;
	return true;
}

void transport_leave(struct transport *transport)
{
	struct reserve_record record = {.sequence = 1, .rank = transport->rank};
	uint64_t end = transport_now() + LEAVE_NS;

	if (transport->error.status) {
		transport_settle(transport);
		return;
	}
	send_records(transport, RESERVE_LEAVE, &record);
	while (!all_flushed(transport) && !transport->error.status && transport_now() < end) {
		transport_poll(transport);
		if (!transport->spins)
			nap();
	}
	close_all(transport);
}
