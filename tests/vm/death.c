/* death.c: one rank is killed or stopped during operations; how the others take it. */
/* If there can be no communicator at all, that is said, and looked at for what it leaves. */
#include "tests/harness/ranks.h"
#include "tests/harness/tap.h"
#include "tests/harness/tcp_bootstrap.h"

#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1 << 18, TURNS = 4, TIMEOUT_S = 90, BOOTSTRAP_MS = 60000 };
enum { STOP_MS = 3000, STALL_MS = 1000, SLEEP_MS = 700, GRACE_MS = 1000, DESTROY_MS = 1000 };

/* When it happens: before the victim's next call, during it, or while all others wait for it. */
enum moment { BEFORE, DURING, WAITING };
static const char *const moments[] = {"before", "during", "waiting", NULL};

enum fate { KILL, STOP };
static const char *const fates[] = {"kill", "stop", NULL};

static const char usage[] =
	"usage: vm_death [--fate kill|stop] [--moment before|during|waiting] [--victim RANK]\n"
	"                (--ranks N | --rank R --size N --host HOST --port PORT)\n";

struct trial {
	int ranks, rank, size, port, victim;
	int fate, moment;
	const char *host;
	int *ms; /* by rank: how long the last call took since it happened */
	int stall_lines;
};

static long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&pause, NULL);
}

static int complain(const struct rank_context *context, const char *what, const char *text)
{
	fprintf(stderr, "# vm_death: rank %d: %s: %s\n", context->rank, what, text);
	return 1;
}

/* Open files and devices' and shared memory's mappings: while one is there, the kernel keeps what
 * belongs to it. */
static int count_held(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	DIR *fds = opendir("/proc/self/fd");
	char line[512];
	int n = 0;

	while (fds && readdir(fds))
		n++;
	while (maps && fgets(line, sizeof(line), maps))
		n += strstr(line, "infiniband") || strstr(line, "memfd:") ||
		     strstr(line, "/dev/shm") || strstr(line, "/dev/zero");
	if (fds)
		(void)closedir(fds);
	if (maps)
		(void)fclose(maps);
	return n;
}

/* ---- the victim ------------------------------------------------------------------------------ */

/* A process that waits for a byte, then a while, then lets its parent go on. */
static int make_waker(void)
{
	int ends[2];
	char byte;
	pid_t parent = getpid(), child;

	if (pipe(ends))
		return -1;
	child = fork();
	if (child != 0) {
		(void)close(ends[0]);
		return child > 0 ? ends[1] : -1;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(ends[1]);
	if (getppid() == parent && read(ends[0], &byte, 1) == 1) {
		sleep_ms(STOP_MS);
		(void)kill(parent, SIGCONT);
	}
	_exit(0);
}

/* What the trial is about. Returns only if the fate is to be stopped and continued. */
static int suffer(const struct trial *trial, int waker)
{
	if (trial->fate == KILL)
		return raise(SIGKILL);
	if (write(waker, "", 1) != 1)
		return -1;
	return raise(SIGSTOP);
}

/* ---- the operations -------------------------------------------------------------------------- */

/* One operation of any kind. All results are compared; a failed call's status is returned. */
static enum wring_status operate(const struct rank_context *context, struct wring_comm *comm,
				 float *data, int turn)
{
	int size = context->size, root = turn % size;
	float expected = (float)(size * (size + 1) / 2);
	enum wring_status status;

	for (int i = 0; i < COUNT; i++)
		data[i] = (float)(context->rank + 1);
	if (turn % 3 == 0) {
		status = wring_allreduce(comm, data, data, COUNT, WRING_FLOAT32, WRING_SUM);
	} else if (turn % 3 == 1) {
		status = wring_broadcast(comm, data, COUNT, WRING_FLOAT32, root);
		expected = (float)(root + 1);
	} else {
		return wring_barrier(comm);
	}
	for (int i = 0; status == WRING_OK && i < COUNT; i++) {
		if (data[i] != expected) {
			(void)complain(context, "operation", "wrong value");
			exit(1);
		}
	}
	return status;
}

/* The operation during which it happens. */
static enum wring_status meet_fate(const struct rank_context *context, struct wring_comm *comm,
				   float *data, int waker)
{
	const struct trial *trial = context->arg;
	struct wring_request *request;
	enum wring_status status;

	if (context->rank != trial->victim)
		return operate(context, comm, data, trial->moment == WAITING ? 2 : 0);
	if (trial->moment == WAITING)
		sleep_ms(SLEEP_MS);
	if (trial->moment != DURING) {
		if (suffer(trial, waker))
			return WRING_ERR_SYSTEM;
		return operate(context, comm, data, trial->moment == WAITING ? 2 : 0);
	}
	for (int i = 0; i < COUNT; i++)
		data[i] = (float)(context->rank + 1);
	status = wring_iallreduce(comm, data, data, COUNT, WRING_FLOAT32, WRING_SUM, &request);
	if (status == WRING_OK && suffer(trial, waker))
		status = WRING_ERR_SYSTEM;
	return status == WRING_OK ? wring_wait(&request) : status;
}

/* ---- how it ends ----------------------------------------------------------------------------- */

/* The others must be told, who it was, in time. */
static int judge_kill(const struct rank_context *context, struct wring_comm *comm,
		      enum wring_status status, int limit_ms)
{
	const struct trial *trial = context->arg;
	struct wring_error error = {.status = WRING_OK};
	char what[64];

	wring_comm_error(comm, &error);
	(void)snprintf(what, sizeof(what), "%s naming rank %d after %d ms", wring_strerror(status),
		       error.rank, trial->ms[context->rank]);
	if (status != WRING_ERR_PEER || error.rank != trial->victim || !error.text[0])
		return complain(context, what, error.text);
	if (trial->ms[context->rank] > limit_ms)
		return complain(context, what, "too late");
	if (trial->rank >= 0)
		printf("rank %d: %s\n", context->rank, what);
	return 0;
}

/* A stopped rank is late, not dead. */
static int judge_stop(const struct rank_context *context, struct wring_comm *comm,
		      enum wring_status status)
{
	const struct trial *trial = context->arg;
	struct wring_error error = {.status = WRING_OK};

	wring_comm_error(comm, &error);
	if (status != WRING_OK)
		return complain(context, wring_strerror(status), error.text);
	if (context->rank == trial->victim)
		return 0;
	if (trial->ms[context->rank] < STOP_MS / 2)
		return complain(context, "wait", "ended while a rank was stopped");
	if (trial->stall_lines == 0)
		return complain(context, "stall_ms", "passed without a line");
	if (trial->rank >= 0)
		printf("rank %d: went on after %d ms\n", context->rank, trial->ms[context->rank]);
	return 0;
}

static void take_line(void *ctx, const char *line)
{
	struct trial *trial = ctx;

	trial->stall_lines++;
	(void)line;
}

static enum wring_status open_comm(const struct rank_context *context, struct wring_comm **comm,
				   int *limit_ms)
{
	struct wring_config config;
	struct wring_error error;
	enum wring_status status = wring_config_init(&config, sizeof(config), &error);
	const char *peer_timeout = getenv("WRING_PEER_TIMEOUT_MS");

	if (status == WRING_OK) {
		config.stall_ms = STALL_MS;
		config.timeout_ms = TIMEOUT_S * 1000 / 2;
		config.log = take_line;
		config.log_ctx = context->arg;
		status = wring_comm_create(context->bootstrap, &config, comm, &error);
	}
	if (status != WRING_OK)
		(void)complain(context, "create", error.text);
	*limit_ms = (peer_timeout ? atoi(peer_timeout) : 2000) + GRACE_MS;
	return status;
}

static int run_trial(const struct rank_context *context, struct wring_comm *comm, float *data,
		     int waker, int limit_ms)
{
	const struct trial *trial = context->arg;
	enum wring_status status = WRING_OK;
	long begin;
	int failed;

	for (int turn = 0; turn < TURNS && status == WRING_OK; turn++)
		status = operate(context, comm, data, turn);
	if (status != WRING_OK)
		return complain(context, "operation", wring_strerror(status));
	begin = now_ms() + (trial->moment == WAITING ? SLEEP_MS : 0);
	status = meet_fate(context, comm, data, waker);
	trial->ms[context->rank] = (int)(now_ms() - begin);
	failed = trial->fate == KILL ? judge_kill(context, comm, status, limit_ms)
				     : judge_stop(context, comm, status);
	for (int turn = 0; turn < TURNS && status == WRING_OK && !failed; turn++) {
		if (operate(context, comm, data, turn) != WRING_OK)
			return complain(context, "operation", "failed after the stop");
	}
	return failed;
}

static int body(const struct rank_context *context)
{
	const struct trial *trial = context->arg;
	bool victim = context->rank == trial->victim;
	int waker = victim && trial->fate == STOP ? make_waker() : -1;
	float *data = malloc(COUNT * sizeof(*data));
	struct wring_comm *comm = NULL;
	int failed = 1, held = count_held(), limit_ms;
	long begin;

	if (data && open_comm(context, &comm, &limit_ms) == WRING_OK)
		failed = run_trial(context, comm, data, waker, limit_ms);
	begin = now_ms();
	wring_comm_destroy(comm);
	if (now_ms() - begin > DESTROY_MS)
		failed = complain(context, "destroy", "took longer than a second");
	if (count_held() != held)
		failed = complain(context, "destroy", "left open files or mappings");
	free(data);
	return failed;
}

/* ---- options, start -------------------------------------------------------------------------- */

static void refuse(const char *what)
{
	fprintf(stderr, "vm_death: %s\n%s", what, usage);
	exit(2);
}

static int number(const char *text, long least, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < least || n > most)
		refuse(text);
	return (int)n;
}

static int choice(const char *text, const char *const *names)
{
	for (int i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	refuse(text);
	return -1;
}

static void parse(struct trial *trial, int argc, char **argv)
{
	static const struct option options[] = {
		{"fate", required_argument, NULL, 'f'},
		{"moment", required_argument, NULL, 'm'},
		{"victim", required_argument, NULL, 'v'},
		{"ranks", required_argument, NULL, 'n'},
		{"rank", required_argument, NULL, 'R'},
		{"size", required_argument, NULL, 'N'},
		{"host", required_argument, NULL, 'H'},
		{"port", required_argument, NULL, 'P'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			trial->fate = choice(optarg, fates);
			break;
		case 'm':
			trial->moment = choice(optarg, moments);
			break;
		case 'v':
			trial->victim = number(optarg, 0, RANKS_MAX - 1);
			break;
		case 'n':
			trial->ranks = number(optarg, 2, RANKS_MAX);
			break;
		case 'R':
			trial->rank = number(optarg, 0, RANKS_MAX - 1);
			break;
		case 'N':
			trial->size = number(optarg, 2, RANKS_MAX);
			break;
		case 'H':
			trial->host = optarg;
			break;
		case 'P':
			trial->port = number(optarg, 1, 65535);
			break;
		default:
			refuse("unknown option");
		}
	}
	if (optind < argc || (trial->rank >= 0) != (trial->size > 0 && trial->host && trial->port))
		refuse("a rank by itself needs --rank, --size, --host and --port");
	if (trial->victim >= (trial->rank >= 0 ? trial->size : trial->ranks))
		refuse("no such victim");
}

/* This process is one rank; SIGALRM ends it if it hangs. */
static int run_alone(struct trial *trial)
{
	struct rank_context context = {.rank = trial->rank, .size = trial->size, .arg = trial};
	struct tcp_bootstrap *tcp;
	int failed;

	(void)alarm(TIMEOUT_S);
	if (tcp_bootstrap_open(&tcp, trial->host, trial->port, trial->rank, trial->size,
			       BOOTSTRAP_MS))
		return 1;
	context.bootstrap = &tcp->bootstrap;
	failed = body(&context);
	tcp_bootstrap_close(tcp);
	return failed;
}

static int run_forked(struct trial *trial)
{
	struct ranks_outcome outcome;
	bool passed;
	char name[128];
	int least = TIMEOUT_S * 1000, most = 0;

	(void)ranks_run_outcome(trial->ranks, body, trial, TIMEOUT_S, &outcome);
	passed = !outcome.timed_out;
	for (int r = 0; r < trial->ranks; r++) {
		bool killed = r == trial->victim && trial->fate == KILL;

		passed = passed && outcome.status[r] == (killed ? -SIGKILL : 0);
		if (r == trial->victim)
			continue;
		least = trial->ms[r] < least ? trial->ms[r] : least;
		most = trial->ms[r] > most ? trial->ms[r] : most;
	}
	(void)snprintf(name, sizeof(name), "%s_of_%d_ranks_%s_an_operation",
		       trial->fate == KILL ? "kill_of_one" : "stop_of_one", trial->ranks,
		       trial->moment == WAITING ? "while_others_wait_in" : moments[trial->moment]);
	tap_result(passed, name, "victim %d, the others after %d to %d ms", trial->victim, least,
		   most);
	return tap_finish();
}

int main(int argc, char **argv)
{
	struct trial trial = {.ranks = 3, .rank = -1, .victim = 1, .moment = DURING};

	parse(&trial, argc, argv);
	trial.ms = ranks_shared(RANKS_MAX * sizeof(int));
	return trial.rank >= 0 ? run_alone(&trial) : run_forked(&trial);
}
