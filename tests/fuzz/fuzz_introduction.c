/* fuzz_introduction.c: wring_comm_create among peers that send wrong bytes in any round. */
#include "tests/fuzz/fuzz.h"

#include "bootstrap/exchange.h"
#include "coll/comm.h"
#include "tests/harness/fake_verbs.h"
#include "transport/transport_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The input is text. The first line is a number of options (see enum), every other line an edit
 *
 *     ROUND RANK OFFSET HEX
 *
 * of what that rank sends in that round; without edits the peers are honest. Their memory is real:
 * an arena whose descriptors a child of this process holds too, so it can be reached as another
 * process's or as this one's.
 */
enum { MAX_EDITS = 32, MAX_SIZE = 4, ROUNDS = 4, HEAD = 1 << 20 };
enum { SIZE = 3, THREADS = 4, VERBS = 8, SHM = 16, BY_RANK = 32, OWN = 64 };

struct edit {
	unsigned int round, rank, offset, len;
	unsigned char bytes[24];
};

struct script {
	unsigned int options, n, round;
	int rank, size;
	struct edit edits[MAX_EDITS];
};

static struct arena *arena;
static struct back_end *doorbell;
static pid_t child;

/* A failure of the set-up is no finding of the fuzzer, but nothing can be found without it. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct wring_error error;

	(void)argc;
	(void)argv;
	must(!arena_open(&arena, &error) && !arena_grow_head(arena, HEAD, &error) &&
		     !shm_open_back_end(&doorbell, arena, &error),
	     "there is memory for an arena");
	child = fork();
	must(child >= 0, "a process can be made");
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(STDOUT_FILENO);
		(void)close(STDERR_FILENO);
		for (;;)
			(void)pause();
	}
	return 0;
}

/* --- the script ----------------------------------------------------------------------------- */

static void read_edit(const char *line, struct script *script)
{
	struct edit *edit = &script->edits[script->n];
	unsigned int byte;
	int at = 0;

	*edit = (struct edit){0};
	if (sscanf(line, "%9u %9u %9u %n", &edit->round, &edit->rank, &edit->offset, &at) != 3)
		return;
	for (line += at; edit->len < sizeof(edit->bytes); line += 2) {
		if (sscanf(line, "%2x", &byte) != 1 || strlen(line) < 2)
			break;
		edit->bytes[edit->len++] = (unsigned char)byte;
	}
	edit->round %= ROUNDS;
	script->n++;
}

static void read_script(char *text, struct script *script)
{
	char *line = strsep(&text, "\n");

	script->options = (unsigned int)strtoul(line, NULL, 10);
	script->size = 2 + (int)(script->options & SIZE) % (MAX_SIZE - 1);
	script->rank = (script->options & OWN) ? script->size - 1 : 0;
	while (script->n < MAX_EDITS && (line = strsep(&text, "\n")) != NULL)
		read_edit(line, script);
}

/* out has one blob of len bytes from each rank. */
static void apply_edits(struct script *script, unsigned char *out, size_t len)
{
	for (unsigned int i = 0; i < script->n; i++) {
		const struct edit *edit = &script->edits[i];
		size_t at = edit->offset % len;
		size_t most = len - at;
		size_t rank = edit->rank % (unsigned int)script->size;

		if (edit->round == script->round)
			memcpy(out + rank * len + at, edit->bytes,
			       edit->len < most ? edit->len : most);
	}
	script->round++;
}

/* --- honest peers, but for the edits -------------------------------------------------------- */

static void be_introduced(const struct script *script, int rank, struct introduction *one)
{
	struct shm_address address;

	shm_get_address(doorbell, &address);
	if (!(script->options & THREADS))
		address.pid = (int32_t)child;
	one->rank = rank;
	memcpy(one->address, &address, sizeof(address));
}

static int allgather(void *ctx, const void *in, void *out, size_t len)
{
	struct script *script = ctx;

	for (int rank = 0; rank < script->size; rank++) {
		unsigned char *one = (unsigned char *)out + (size_t)rank * len;

		memcpy(one, in, len);
		if (script->round == 0 && rank != script->rank)
			be_introduced(script, rank, (struct introduction *)(void *)one);
	}
	apply_edits(script, out, len);
	return 0;
}

/* A peer offers what we offer to it: the geometry is the same. */
static int alltoall(void *ctx, const void *in, void *out, size_t len)
{
	struct script *script = ctx;

	memcpy(out, in, (size_t)script->size * len);
	for (int rank = 0; rank < script->size && script->round == 2; rank++) {
		struct transport_offer *offer = &((struct transport_offer *)out)[rank];

		offer->shm.head_len = HEAD;
		offer->shm.base = (uint64_t)(uintptr_t)arena->base;
	}
	apply_edits(script, out, len);
	return 0;
}

/* --- one input ------------------------------------------------------------------------------ */

/* What a created communicator can do without a peer that answers. */
static void use(struct wring_comm *comm)
{
	struct call call = {.collective = COLLECTIVE_BARRIER, .root = -1, .elem = 1};
	struct wring_request *request;
	struct wring_peer_info info;
	struct wring_error error;

	for (int peer = 0; peer < comm->size; peer++)
		must(wring_comm_peer(comm, peer, &info, sizeof(info)) == WRING_OK &&
			     memchr(info.host, 0, sizeof(info.host)) &&
			     memchr(info.device, 0, sizeof(info.device)),
		     "every peer can be described");
	if (!comm->transport->all_shm)
		return;
	must(!coll_start(comm->coll, &call, &request, &error), "a barrier can be started");
	for (int i = 0; i < 4; i++)
		coll_progress(comm->coll);
	if (transport_status(comm->transport))
		must_be_named(transport_error(comm->transport));
}

static void create(struct script *script)
{
	struct wring_bootstrap bootstrap = {
		.struct_size = sizeof(bootstrap),
		.rank = script->rank,
		.size = script->size,
		.allgather = allgather,
		.alltoall = alltoall,
		.ctx = script,
	};
	struct wring_error error = {0};
	struct wring_comm *comm = NULL;
	struct wring_config config;

	must(!wring_config_init(&config, sizeof(config), &error), "a configuration can be made");
	config.slots = 2;
	config.segment_bytes = 1024;
	config.ring = (script->options & BY_RANK) ? WRING_RING_RANK : WRING_RING_HOST;
	if (script->options & (VERBS | SHM))
		config.transport =
			(script->options & SHM) ? WRING_TRANSPORT_SHM : WRING_TRANSPORT_VERBS;
	if (wring_comm_create(&bootstrap, &config, &comm, &error)) {
		must(comm == NULL, "outputs are written on success only");
		must(script->n > 0, "honest peers are accepted");
		must_be_named(&error);
		return;
	}
	use(comm);
	comm->transport->settled = true; /* nobody listens: no goodbye */
	comm->transport->error.status = WRING_ERR_ABORTED;
	wring_comm_destroy(comm);
}

static int lowest_free_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	(void)close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = lowest_free_descriptor();
	char *text = calloc(1, size + 1);
	struct script script = {0};

	must(text != NULL, "there is memory");
	memcpy(text, data, size);
	read_script(text, &script);
	free(text);
	fake_reset(1);
	arena_header(arena)->holders = 1;
	arena_header(arena)->asleep = 0;
	create(&script);
	must(fake.objects == 0, "nothing of verbs is left");
	must(fake.broken == 0, fake.broken_rule);
	must(lowest_free_descriptor() == fd, "no descriptor is left open");
	return 0;
}
