/* create.c: bootstraps that lie, fail or disagree; every rank fails alike and none hangs. */
#include "tests/refuse/refuse.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOST_S = 35 };

/* A bootstrap that passes calls on until its fail_at-th. */
struct faulty {
	const struct wring_bootstrap *inner;
	int calls, fail_at;
	bool leave; /* fail for the others too, by leaving the star */
};

static bool fails_now(struct faulty *faulty)
{
	if (++faulty->calls != faulty->fail_at)
		return false;
	if (faulty->leave)
		(void)faulty->inner->allgather(faulty->inner->ctx, NULL, NULL, 0);
	return true;
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	struct faulty *faulty = ctx;

	if (fails_now(faulty))
		return -1;
	return faulty->inner->allgather(faulty->inner->ctx, in, out, len);
}

static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	struct faulty *faulty = ctx;

	if (fails_now(faulty))
		return -1;
	return faulty->inner->alltoall(faulty->inner->ctx, in, out, len);
}

static struct wring_bootstrap make_faulty(struct faulty *faulty,
					  const struct wring_bootstrap *inner, int fail_at)
{
	struct wring_bootstrap bootstrap = *inner;

	*faulty = (struct faulty){.inner = inner, .fail_at = fail_at};
	bootstrap.allgather = allgather;
	bootstrap.alltoall = alltoall;
	bootstrap.ctx = faulty;
	return bootstrap;
}

static int marker;

/* comm must stay as it is; error says status and text. */
static struct wring_error create_refused(struct refuse *r, const struct wring_bootstrap *bootstrap,
					 const struct wring_config *config,
					 enum wring_status wanted, const char *text)
{
	struct wring_comm *untouched = (struct wring_comm *)(void *)&marker, *comm = untouched;
	struct wring_error error = {.status = WRING_OK};
	enum wring_status status = wring_comm_create(bootstrap, config, &comm, &error);

	(void)refuse_status(r, "create", status, wanted);
	if (status == WRING_OK)
		wring_comm_destroy(comm);
	else
		(void)refuse_expect(r, comm == untouched, "comm was written");
	refuse_error(r, "create", &error, wanted, text);
	return error;
}

/* The struct itself is no good, on all ranks: nobody can even call the others. */
enum fault {
	STRUCT_SIZE,
	RANK_NEGATIVE,
	RANK_TOO_LARGE,
	SIZE_0,
	SIZE_NEGATIVE,
	ALLGATHER,
	ALLTOALL
};

struct bad_struct {
	const char *name;
	enum fault fault;
	const char *text;
};

static const struct bad_struct structs[] = {
	{"struct_size_3", STRUCT_SIZE, "3"},	     {"rank_minus_4", RANK_NEGATIVE, "-4"},
	{"rank_equal_to_size", RANK_TOO_LARGE, "2"}, {"size_0", SIZE_0, "0"},
	{"size_minus_1", SIZE_NEGATIVE, "-1"},	     {"null_allgather", ALLGATHER, "allgather"},
	{"null_alltoall", ALLTOALL, "alltoall"},
};

static void refuse_struct(struct refuse *r)
{
	const struct bad_struct *bad = r->test->row;
	struct wring_bootstrap bootstrap = *r->context->bootstrap;

	if (bad->fault == STRUCT_SIZE)
		bootstrap.struct_size = 3;
	if (bad->fault == RANK_NEGATIVE)
		bootstrap.rank = -4;
	if (bad->fault == RANK_TOO_LARGE)
		bootstrap.rank = bootstrap.size;
	if (bad->fault == SIZE_0)
		bootstrap.size = 0;
	if (bad->fault == SIZE_NEGATIVE)
		bootstrap.size = -1;
	if (bad->fault == ALLGATHER)
		bootstrap.allgather = NULL;
	if (bad->fault == ALLTOALL)
		bootstrap.alltoall = NULL;
	(void)create_refused(r, &bootstrap, NULL, WRING_ERR_INVALID, bad->text);
	r->comm = refuse_open(r, r->context->bootstrap);
	r->broken = r->comm == NULL;
}

static void null_bootstrap(struct refuse *r)
{
	(void)create_refused(r, NULL, NULL, WRING_ERR_INVALID, "bootstrap");
}

/* Rank 1's own mistake concerns all. */
static void null_comm_on_one_rank(struct refuse *r)
{
	struct wring_error error = {.status = WRING_OK};

	if (r->rank == 1) {
		(void)refuse_status(r, "create",
				    wring_comm_create(r->context->bootstrap, NULL, NULL, &error),
				    WRING_ERR_INVALID);
		refuse_error(r, "create", &error, WRING_ERR_INVALID, "comm");
	} else {
		error = create_refused(r, r->context->bootstrap, NULL, WRING_ERR_INVALID, "comm");
		(void)refuse_expect(r, error.rank == 1, "the culprit is rank %d", error.rank);
	}
	refuse_same_everywhere(r, &error);
}

static void null_error(struct refuse *r)
{
	struct wring_config config;

	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	config.slots = 3;
	(void)refuse_status(r, "create with bad config and no error",
			    wring_comm_create(r->context->bootstrap, &config, &r->comm, NULL),
			    WRING_ERR_INVALID);
	r->comm = refuse_open(r, r->context->bootstrap);
	r->broken = r->comm == NULL;
}

/* The n-th call fails everywhere. */
static void failing_call(struct refuse *r)
{
	const int *fail_at = r->test->row;
	struct faulty faulty;
	struct wring_bootstrap bootstrap = make_faulty(&faulty, r->context->bootstrap, *fail_at);
	struct wring_error error = create_refused(r, &bootstrap, NULL, WRING_ERR_BOOTSTRAP, NULL);

	refuse_same_everywhere(r, &error);
}

/* Rank 1 is gone from its n-th call on. */
static void leaving_rank(struct refuse *r)
{
	const int *fail_at = r->test->row;
	struct faulty faulty;
	struct wring_bootstrap bootstrap =
		make_faulty(&faulty, r->context->bootstrap, r->rank == 1 ? *fail_at : 0);
	double began = refuse_seconds();

	faulty.leave = true;
	(void)create_refused(r, &bootstrap, NULL, WRING_ERR_BOOTSTRAP, NULL);
	(void)refuse_expect(r, refuse_seconds() - began < LOST_S, "create took too long");
}

/* One setting differs on the last rank. */
struct difference {
	const char *name, *field, *value, *other;
};

static const struct difference differences[] = {
	{"differing_slots", "slots", "4", "16"},
	{"differing_segment_bytes", "segment_bytes", "4096", "8192"},
	{"differing_eager_bytes", "eager_bytes", "0", "4096"},
	{"differing_rings", "ring", "host", "rank"},
	{"differing_transports", "transport", "shm", "auto"},
};

static struct wring_config config_with(struct refuse *r, const char *field, const char *value)
{
	struct wring_config config;

	(void)refuse_status(r, "config_init", wring_config_init(&config, sizeof(config), NULL),
			    WRING_OK);
	(void)refuse_status(r, "config_set", wring_config_set(&config, field, value, NULL),
			    WRING_OK);
	return config;
}

static void differing_config(struct refuse *r)
{
	const struct difference *d = r->test->row;
	bool last = r->rank == r->size - 1;
	struct wring_config config = config_with(r, d->field, last ? d->other : d->value);
	struct wring_error error =
		create_refused(r, r->context->bootstrap, &config, WRING_ERR_MISMATCH, d->field);

	refuse_error(r, "create", &error, WRING_ERR_MISMATCH, d->value);
	refuse_error(r, "create", &error, WRING_ERR_MISMATCH, d->other);
	(void)refuse_expect(r, (error.rank == r->size - 1) != (error.peer == r->size - 1),
			    "ranks %d and %d do not differ", error.rank, error.peer);
	refuse_same_everywhere(r, &error);
}

static void harmless_difference(struct refuse *r)
{
	const struct difference *d = r->test->row;
	struct wring_config config = config_with(r, d->field, r->rank == 0 ? d->value : d->other);

	r->broken = !refuse_status(
		r, "create", wring_comm_create(r->context->bootstrap, &config, &r->comm, NULL),
		WRING_OK);
}

static const struct difference harmless[] = {
	{"wait", "wait", "yield", "event"},
	{"stall_ms", "stall_ms", "1000", "2000"},
	{"port", "port", "1", "2"},
	{"gid_index", "gid_index", "0", "1"},
};

static bool have_rdma_device(void)
{
	DIR *dir = opendir("/sys/class/infiniband");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		(void)closedir(dir);
	return n > 2;
}

static void no_device(struct refuse *r)
{
	struct wring_config config = config_with(r, "transport", "verbs");
	struct wring_error error;

	(void)snprintf(config.device, sizeof(config.device), "%s", "nosuch0");
	error = create_refused(r, r->context->bootstrap, &config, WRING_ERR_NO_DEVICE,
			       have_rdma_device() ? "nosuch0" : NULL);
	refuse_same_everywhere(r, &error);
}

static void same_rank_twice(struct refuse *r)
{
	struct wring_bootstrap bootstrap = *r->context->bootstrap;
	struct wring_error error;

	bootstrap.rank = 1;
	error = create_refused(r, &bootstrap, NULL, WRING_ERR_BOOTSTRAP, NULL);
	refuse_same_everywhere(r, &error);
}

/* Nothing stays behind, however often. */
static void create_again_and_again(struct refuse *r)
{
	struct refuse_usage once = {0};

	for (int i = 0; i < 20; i++) {
		struct wring_comm *comm = refuse_open(r, r->context->bootstrap);

		if (!comm)
			return;
		wring_comm_destroy(comm);
		if (i == 0)
			once = refuse_usage_now();
	}
	refuse_unleaked(r, &once);
}

static void run(const char *prefix, const char *name, int ranks, const void *row,
		void (*body)(struct refuse *r))
{
	struct refusal test = {.ranks = ranks, .without_comm = true, .body = body, .row = row};

	(void)snprintf(test.name, sizeof(test.name), "%s%s", prefix, name);
	refuse_run(&test);
}

static void run_failing_calls(void)
{
	static const int numbers[] = {1, 2, 3};
	static const char *const names[] = {"first", "second", "third"};

	for (int i = 0; i < 3; i++) {
		run("create_fails_on_every_rank_when_bootstrap_fails_in_call_", names[i], 3,
		    &numbers[i], failing_call);
		run("create_fails_on_every_rank_when_one_leaves_in_call_", names[i], 3, &numbers[i],
		    leaving_rank);
	}
}

void refuse_creates(void)
{
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
		run("create_refuses_bootstrap_with_", structs[i].name, 2, &structs[i],
		    refuse_struct);
	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		run("create_refuses_", differences[i].name, 3, &differences[i], differing_config);
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		run("create_allows_a_different_", harmless[i].name, 2, &harmless[i],
		    harmless_difference);
	run("create_refuses_null_bootstrap", "", 2, NULL, null_bootstrap);
	run("create_refuses_null_comm_of_one_rank_on_all", "", 3, NULL, null_comm_on_one_rank);
	run("create_works_without_an_error_struct", "", 2, NULL, null_error);
	run("create_refuses_the_same_rank_twice", "", 2, NULL, same_rank_twice);
	run("create_refuses_a_device_that_does_not_exist", "", 2, NULL, no_device);
	run("create_and_destroy_leave_nothing_behind", "", 3, NULL, create_again_and_again);
	run_failing_calls();
}
