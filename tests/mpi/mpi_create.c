/* mpi_create.c: wring_comm_create_mpi, right and wrong, under mpirun: mpi_create.sh starts it. */
/* SPDX-License-Identifier: MIT */
#include <wring-mpi.h>

#include <time.h>
#include <unistd.h>

/*
 * The functions of MPI that wring-mpi.h calls stand here once more, before those of the library:
 * round 1 duplicates, then each collective is one round. In one of them a rank stays away, or MPI
 * says that it has failed.
 */
enum { TIMEOUT_MS = 800, AWAY_MS = 2000, LONGEST_MS = 20000 };

static struct {
	int round, away_in, fails_in;
} mpi;

static int failed;

static void expect(int good, const char *what, const struct wring_error *error)
{
	if (good)
		return;
	failed = 1;
	(void)printf("# %s: %s\n", what, error ? error->text : "");
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Sleeps in pieces, in no function of MPI. */
static void stay_away(double ms)
{
	double until = now_ms() + ms;

	while (now_ms() < until)
		(void)poll(NULL, 0, 10);
}

static int enter_round(void)
{
	mpi.round++;
	if (mpi.round == mpi.away_in)
		stay_away(AWAY_MS);
	return mpi.round == mpi.fails_in ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
	int code = enter_round();

	return code ? code : PMPI_Comm_idup(comm, copy, request);
}

int MPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int out_n,
		   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
	int code = enter_round();

	return code ? code : PMPI_Iallgather(in, n, type, out, out_n, out_type, comm, request);
}

int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int out_n,
		  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
	int code = enter_round();

	return code ? code : PMPI_Ialltoall(in, n, type, out, out_n, out_type, comm, request);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void expect_refusal(MPI_Comm comm, enum wring_status wanted, const char *word)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *made = NULL;
	enum wring_status status = wring_comm_create_mpi(comm, NULL, &made, &error);

	expect(status == wanted && error.status == wanted, word, &error);
	expect(strstr(error.text, word) != NULL, word, &error);
	expect(made == NULL, "an output was written", NULL);
	expect(wring_comm_create_mpi(comm, NULL, &made, NULL) == wanted, "without an error", NULL);
}

static void refuse_before_and_after(int *argc, char ***argv)
{
	expect_refusal(MPI_COMM_NULL, WRING_ERR_STATE, "MPI_Init");
	(void)MPI_Init(argc, argv);
	(void)MPI_Finalize();
	expect_refusal(MPI_COMM_NULL, WRING_ERR_STATE, "MPI_Finalize");
}

static void refuse_communicators(void)
{
	MPI_Comm half, inter;
	int rank;

	expect_refusal(MPI_COMM_NULL, WRING_ERR_INVALID, "MPI_COMM_NULL");
	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	(void)MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	(void)MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
	expect_refusal(inter, WRING_ERR_INVALID, "inter-communicator");
	(void)MPI_Comm_free(&inter);
	(void)MPI_Comm_free(&half);
}

/* One rank's bad argument is an error of every rank, and a later attempt goes well. */
static void refuse_null_of_one_rank(void)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *comm = NULL;
	enum wring_status status;
	int rank;

	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	status = wring_comm_create_mpi(MPI_COMM_WORLD, NULL, rank == 1 ? NULL : &comm, &error);
	expect(status == WRING_ERR_INVALID && comm == NULL, "status of a NULL comm", &error);
	expect(error.rank == 1, "the rank of a NULL comm", &error);
	status = wring_comm_create_mpi(MPI_COMM_WORLD, NULL, &comm, &error);
	expect(status == WRING_OK, "the next attempt", &error);
	wring_comm_destroy(comm);
}

/* ---- what works -------------------------------------------------------------------------- */

/* The communicator has the ranks of comm, and adds and copies right. */
static void expect_working(struct wring_comm *made, MPI_Comm comm)
{
	int rank, size;
	int32_t sum[2], root[2];

	(void)MPI_Comm_rank(comm, &rank);
	(void)MPI_Comm_size(comm, &size);
	expect(wring_comm_rank(made) == rank && wring_comm_size(made) == size, "rank or size",
	       NULL);
	sum[0] = rank + 1;
	sum[1] = rank * rank;
	root[0] = root[1] = 100 + rank;
	expect(wring_allreduce(made, sum, sum, 2, WRING_INT32, WRING_SUM) == WRING_OK, "allreduce",
	       NULL);
	expect(sum[0] == size * (size + 1) / 2, "the sum", NULL);
	expect(sum[1] == (size - 1) * size * (2 * size - 1) / 6, "the sum of squares", NULL);
	expect(wring_broadcast(made, root, 2, WRING_INT32, size - 1) == WRING_OK, "broadcast",
	       NULL);
	expect(root[0] == 99 + size && root[1] == 99 + size, "the root's value", NULL);
}

static struct wring_comm *create(MPI_Comm comm, int by_handle)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *made = NULL;
	enum wring_status status;

	if (by_handle)
		status = wring_comm_create_mpi_f(MPI_Comm_c2f(comm), NULL, &made, &error);
	else
		status = wring_comm_create_mpi(comm, NULL, &made, &error);
	expect(status == WRING_OK && made != NULL, "create", &error);
	return made;
}

/* Parts, the reverse order, a rank by itself, the Fortran handle; and MPI may end first. */
static void use_parts_and_orders(void)
{
	enum { KINDS = 4 };
	MPI_Comm comms[KINDS] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_COMM_NULL};
	struct wring_comm *made[KINDS];
	int rank, i;

	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	(void)MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	(void)MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[3]);
	for (i = 0; i < KINDS; i++) {
		made[i] = create(comms[i], i % 2);
		if (made[i])
			expect_working(made[i], comms[i]);
	}
	(void)MPI_Comm_free(&comms[2]);
	(void)MPI_Comm_free(&comms[3]);
	(void)MPI_Finalize();
	for (i = KINDS - 1; i >= 0; i--) {
		expect(made[i] && wring_barrier(made[i]) == WRING_OK, "after MPI_Finalize", NULL);
		wring_comm_destroy(made[i]);
	}
}

/* ---- a round that fails ------------------------------------------------------------------ */

/* Rank 1 stays away in a round; the others have waited timeout_ms, not ten minutes. */
static void miss_a_rank(int round)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *comm = NULL;
	struct wring_config config;
	enum wring_status status;
	double began, took;
	int rank;

	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect(wring_config_init(&config, sizeof(config), &error) == WRING_OK, "config", &error);
	config.timeout_ms = TIMEOUT_MS;
	mpi.away_in = rank == 1 ? round : 0;
	(void)MPI_Barrier(MPI_COMM_WORLD);
	began = now_ms();
	status = wring_comm_create_mpi(MPI_COMM_WORLD, &config, &comm, &error);
	took = now_ms() - began;
	if (rank == 1)
		return;
	expect(status == WRING_ERR_BOOTSTRAP && error.status == status, "status", &error);
	expect(strstr(error.text, "timeout_ms") != NULL, "timeout_ms is not named", &error);
	expect(comm == NULL, "an output was written", NULL);
	expect(took > TIMEOUT_MS * 0.9 && took < LONGEST_MS, "it took another time", &error);
}

/* MPI fails on every rank: its code and words are told. */
static void fail_a_round(int round)
{
	struct wring_error error = {.status = WRING_OK};
	struct wring_comm *comm = NULL;
	enum wring_status status;

	mpi.fails_in = round;
	status = wring_comm_create_mpi(MPI_COMM_WORLD, NULL, &comm, &error);
	expect(status == WRING_ERR_BOOTSTRAP && comm == NULL, "status", &error);
	expect(error.native == MPI_ERR_OTHER, "the code of MPI", &error);
	expect(strstr(error.text, "see what MPI printed") != NULL, "the next thing to do", &error);
}

/* Requests of MPI are left, so that MPI cannot end; the others of this job may not have written. */
static void leave_without_mpi(void)
{
	(void)printf("%s\n", failed ? "wrong" : "good");
	(void)fflush(stdout);
	stay_away(AWAY_MS + 1500);
	_exit(failed);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int round = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "states") == 0) {
		refuse_before_and_after(&argc, &argv);
		return failed;
	}
	(void)MPI_Init(&argc, &argv);
	if (strcmp(what, "late") == 0) {
		miss_a_rank(round);
		leave_without_mpi();
	} else if (strcmp(what, "failing") == 0) {
		fail_a_round(round);
		leave_without_mpi();
	} else if (strcmp(what, "parts") == 0) {
		use_parts_and_orders();
		return failed;
	} else if (strcmp(what, "refused") == 0) {
		refuse_communicators();
		refuse_null_of_one_rank();
	} else {
		(void)fprintf(stderr, "mpi_create: states, refused, parts, late N or failing N\n");
		failed = 2;
	}
	(void)MPI_Finalize();
	return failed;
}
