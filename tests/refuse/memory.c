/* memory.c: alloc, free, register and deregister, peer information, names of values. */
#include "tests/refuse/refuse.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BYTES = 4096 };

static int marker;

static void alloc_null(struct refuse *r)
{
	void *buf = &marker;

	(void)refuse_status(r, "alloc without comm", wring_alloc(NULL, BYTES, &buf),
			    WRING_ERR_INVALID);
	(void)refuse_expect(r, buf == &marker, "buf was written");
	refuse_call(r, "alloc without buf", wring_alloc(r->comm, BYTES, NULL), WRING_ERR_INVALID,
		    "buf");
}

static volatile sig_atomic_t asked_for_too_much;

static void note(int signal_number)
{
	(void)signal_number;
	asked_for_too_much = 1;
}

/*
 * A library that only tries would take all memory there is, and the system would kill others for
 * it. With this limit the attempt itself is refused, and a signal tells of it.
 */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, note);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
		limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
		if (setrlimit(RLIMIT_FSIZE, &limit) == 0)
			return;
	}
	fprintf(stderr, "# RLIMIT_FSIZE cannot be set, and without it this test is a danger\n");
	exit(1);
}

static void alloc_too_much(struct refuse *r)
{
	static const size_t sizes[] = {(size_t)1 << 38, (size_t)1 << 60, SIZE_MAX};
	static const char *const texts[] = {"274877906944", "1152921504606846976",
					    "18446744073709551615"};

	limit_files((rlim_t)1 << 30);
	for (int i = 0; i < 3; i++) {
		void *buf = &marker;

		asked_for_too_much = 0;
		refuse_call(r, "alloc of too much", wring_alloc(r->comm, sizes[i], &buf),
			    WRING_ERR_NOMEM, texts[i]);
		(void)refuse_expect(r, buf == &marker, "buf was written");
		(void)refuse_expect(r, !asked_for_too_much,
				    "%zu bytes were really asked for: all memory would be taken",
				    sizes[i]);
	}
	limit_files(RLIM_INFINITY);
}

static void alloc_zero(struct refuse *r)
{
	void *buf = NULL;

	if (!refuse_status(r, "alloc of 0 bytes", wring_alloc(r->comm, 0, &buf), WRING_OK))
		return;
	(void)refuse_expect(r, ((uintptr_t)buf & 4095) == 0, "%p is not page-aligned", buf);
	memset(buf, 1, 4096);
	wring_free(r->comm, buf);
	wring_free(r->comm, NULL);
	wring_free(NULL, NULL);
}

static void register_null(struct refuse *r)
{
	static char memory[BYTES];

	(void)refuse_status(r, "register without comm", wring_register(NULL, memory, BYTES),
			    WRING_ERR_INVALID);
	refuse_call(r, "register of NULL", wring_register(r->comm, NULL, BYTES), WRING_ERR_INVALID,
		    "NULL");
}

static void register_empty(struct refuse *r)
{
	static char memory[BYTES];

	refuse_call(r, "register of 0 bytes", wring_register(r->comm, memory, 0), WRING_ERR_INVALID,
		    "0");
	refuse_call(r, "register past the end of memory", wring_register(r->comm, memory, SIZE_MAX),
		    WRING_ERR_INVALID, "18446744073709551615");
}

static void register_overlap(struct refuse *r)
{
	static char memory[4 * BYTES];

	(void)refuse_status(r, "register", wring_register(r->comm, memory + BYTES, 2 * BYTES),
			    WRING_OK);
	refuse_call(r, "the same again", wring_register(r->comm, memory + BYTES, 2 * BYTES),
		    WRING_ERR_INVALID, "overlap");
	refuse_call(r, "overlap below", wring_register(r->comm, memory, BYTES + 1),
		    WRING_ERR_INVALID, "overlap");
	refuse_call(r, "overlap above", wring_register(r->comm, memory + 3 * BYTES - 1, BYTES),
		    WRING_ERR_INVALID, "overlap");
	refuse_call(r, "overlap inside", wring_register(r->comm, memory + 2 * BYTES, 8),
		    WRING_ERR_INVALID, "overlap");
	refuse_call(r, "overlap around", wring_register(r->comm, memory, 4 * BYTES),
		    WRING_ERR_INVALID, "overlap");
	(void)refuse_status(r, "neighbour below", wring_register(r->comm, memory, BYTES), WRING_OK);
	(void)refuse_status(r, "neighbour above",
			    wring_register(r->comm, memory + 3 * BYTES, BYTES), WRING_OK);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, memory), WRING_OK);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, memory + BYTES), WRING_OK);
	(void)refuse_status(r, "register anew", wring_register(r->comm, memory, 2 * BYTES),
			    WRING_OK);
}

static void deregister_unknown(struct refuse *r)
{
	static char memory[BYTES];

	(void)refuse_status(r, "deregister without comm", wring_deregister(NULL, memory),
			    WRING_ERR_INVALID);
	refuse_call(r, "deregister of NULL", wring_deregister(r->comm, NULL), WRING_ERR_INVALID,
		    NULL);
	refuse_call(r, "deregister of unregistered memory", wring_deregister(r->comm, memory),
		    WRING_ERR_INVALID, NULL);
	(void)refuse_status(r, "register", wring_register(r->comm, memory, BYTES), WRING_OK);
	refuse_call(r, "deregister of the middle", wring_deregister(r->comm, memory + 64),
		    WRING_ERR_INVALID, NULL);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, memory), WRING_OK);
}

static void deregister_twice(struct refuse *r)
{
	static char memory[BYTES];

	(void)refuse_status(r, "register", wring_register(r->comm, memory, BYTES), WRING_OK);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, memory), WRING_OK);
	refuse_call(r, "deregister again", wring_deregister(r->comm, memory), WRING_ERR_INVALID,
		    NULL);
}

/* Rank 0 starts early, so its request is surely in flight until rank 1 comes. */
static void deregister_in_flight(struct refuse *r)
{
	static int32_t memory[BYTES];
	struct wring_request *request = NULL;
	enum wring_status status;

	(void)refuse_status(r, "register", wring_register(r->comm, memory, sizeof(memory)),
			    WRING_OK);
	if (r->rank > 0)
		(void)ranks_meet(r->context);
	status = wring_iallreduce(r->comm, memory, memory, BYTES, WRING_INT32, WRING_SUM, &request);
	(void)refuse_status(r, "start", status, WRING_OK);
	if (r->rank == 0) {
		refuse_call(r, "deregister in flight", wring_deregister(r->comm, memory),
			    WRING_ERR_STATE, NULL);
		(void)ranks_meet(r->context);
	}
	(void)refuse_status(r, "wait", wring_wait(&request), WRING_OK);
	(void)refuse_status(r, "deregister", wring_deregister(r->comm, memory), WRING_OK);
}

static void peer_arguments(struct refuse *r)
{
	struct wring_peer_info info, copy;

	memset(&info, 0x3c, sizeof(info));
	memset(&copy, 0x3c, sizeof(copy));
	(void)refuse_status(r, "peer without comm", wring_comm_peer(NULL, 0, &info, sizeof(info)),
			    WRING_ERR_INVALID);
	(void)refuse_status(r, "peer without info", wring_comm_peer(r->comm, 0, NULL, sizeof(info)),
			    WRING_ERR_INVALID);
	(void)refuse_status(r, "peer of size 0", wring_comm_peer(r->comm, 0, &info, 0),
			    WRING_ERR_INVALID);
	(void)refuse_status(r, "peer -1", wring_comm_peer(r->comm, -1, &info, sizeof(info)),
			    WRING_ERR_INVALID);
	(void)refuse_status(r, "peer 2 of 2", wring_comm_peer(r->comm, 2, &info, sizeof(info)),
			    WRING_ERR_INVALID);
	(void)refuse_expect(r, memcmp(&info, &copy, sizeof(copy)) == 0, "info was written");
}

static void peer_size(struct refuse *r)
{
	struct wring_peer_info whole, part;
	const unsigned char *bytes = (const unsigned char *)&part;

	memset(&part, 0x3c, sizeof(part));
	(void)refuse_status(r, "peer", wring_comm_peer(r->comm, 1 - r->rank, &whole, sizeof(whole)),
			    WRING_OK);
	(void)refuse_status(r, "part of peer", wring_comm_peer(r->comm, 1 - r->rank, &part, 8),
			    WRING_OK);
	(void)refuse_expect(r, memcmp(&part, &whole, 8) == 0, "the part is not the whole's");
	for (size_t i = 8; i < sizeof(part); i++) {
		if (!refuse_expect(r, bytes[i] == 0x3c, "byte %zu was written", i))
			return;
	}
	(void)refuse_expect(r, whole.host[0] != '\0', "no host");
	(void)refuse_expect(r, strnlen(whole.host, sizeof(whole.host)) < sizeof(whole.host),
			    "host without end");
}

static void no_comm(struct refuse *r)
{
	struct wring_error error = {.status = WRING_ERR_SYSTEM, .rank = 5};

	(void)refuse_expect(r, wring_comm_rank(NULL) == -1, "rank of NULL");
	(void)refuse_expect(r, wring_comm_size(NULL) == -1, "size of NULL");
	(void)refuse_status(r, "abort of NULL", wring_comm_abort(NULL, "x"), WRING_ERR_INVALID);
	wring_comm_error(NULL, &error);
	wring_comm_error(NULL, NULL);
	wring_comm_error(r->comm, NULL);
	wring_comm_destroy(NULL);
}

/* Memory keeps a destroyed communicator's shell alive, so that it can still be given back. */
static void after_destroy(struct refuse *r)
{
	struct wring_comm *comm = refuse_open(r, r->context->bootstrap);
	struct wring_peer_info info;
	void *buf = NULL, *other = NULL;
	enum wring_status status;

	if (!comm)
		return;
	status = wring_alloc(comm, 4096, &buf);
	wring_comm_destroy(comm);
	if (!refuse_status(r, "alloc", status, WRING_OK))
		return;
	r->comm = comm;
	refuse_call(r, "barrier", wring_barrier(comm), WRING_ERR_STATE, "was destroyed");
	refuse_call(r, "alloc", wring_alloc(comm, 1, &other), WRING_ERR_STATE, NULL);
	refuse_call(r, "deregister", wring_deregister(comm, buf), WRING_ERR_STATE, NULL);
	(void)refuse_status(r, "peer", wring_comm_peer(comm, 0, &info, sizeof(info)),
			    WRING_ERR_STATE);
	r->comm = NULL;
	wring_comm_destroy(comm);
	wring_free(comm, &info);
	memset(buf, 1, 4096);
	wring_free(comm, buf);
}

static bool unknown(const char *text)
{
	return text && strcmp(text, "unknown") == 0;
}

static void unknown_values(struct refuse *r)
{
	static const int values[] = {-1, 5000};

	for (int i = 0; i < 2; i++) {
		int v = values[i];

		(void)refuse_expect(r, unknown(wring_strerror((enum wring_status)v)), "strerror");
		(void)refuse_expect(r, unknown(wring_datatype_name((enum wring_datatype)v)),
				    "datatype_name");
		(void)refuse_expect(r, unknown(wring_op_name((enum wring_op)v)), "op_name");
		(void)refuse_expect(r, unknown(wring_transport_name((enum wring_transport)v)),
				    "transport_name");
		(void)refuse_expect(r, wring_datatype_size((enum wring_datatype)v) == 0,
				    "datatype_size");
	}
	(void)refuse_expect(r, wring_version() != NULL, "version");
	(void)refuse_expect(r, wring_datatype_size(WRING_BFLOAT16) == 2, "size of bfloat16");
	(void)refuse_expect(r, strcmp(wring_datatype_name(WRING_FLOAT64), "float64") == 0, "name");
}

void refuse_memory(void)
{
	static const struct refusal tests[] = {
		{.name = "alloc_refuses_null", .body = alloc_null},
		{.name = "alloc_refuses_more_than_there_is", .body = alloc_too_much},
		{.name = "alloc_of_0_bytes_is_a_page", .body = alloc_zero},
		{.name = "register_refuses_null", .body = register_null},
		{.name = "register_refuses_len_0_and_wrapping_len", .body = register_empty},
		{.name = "register_refuses_overlap", .body = register_overlap},
		{.name = "deregister_refuses_unregistered", .body = deregister_unknown},
		{.name = "deregister_refuses_the_second_time", .body = deregister_twice},
		{.name = "deregister_refuses_while_in_flight", .body = deregister_in_flight},
		{.name = "calls_after_destroy_are_refused_while_memory_lives",
		 .without_comm = true,
		 .body = after_destroy},
		{.name = "comm_peer_refuses_bad_arguments", .body = peer_arguments},
		{.name = "comm_peer_writes_at_most_size", .body = peer_size},
		{.name = "null_comm_is_harmless", .body = no_comm},
		{.name = "unknown_values_have_no_name",
		 .ranks = 1,
		 .without_comm = true,
		 .body = unknown_values},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		refuse_run(&tests[i]);
}
