/* fuzz_line.c: collectives whose peers write anything at all into this rank's arena. */
#include "tests/fuzz/fuzz.h"

#include "coll/request.h"
#include "transport/transport_state.h"

#include <sys/mman.h>
#include <unistd.h>

/*
 * The input: five digits (ranks, slots, whether buffers can be named to peers, whether all links
 * are shared memory, where the counts of messages begin), then actions, each a letter with what
 * it needs:
 *
 *   s COLLECTIVE SIZE DATATYPE OP ROOT PLACE   start
 *   m PEER KIND LENGTH WRONG N BYTES           the next message of that peer, 4 N bytes of payload;
 *                                              WRONG 0: with the signature that is waited for
 *   w PEER OFFSET(2) N BYTES                   2 N bytes into the area of that peer
 *   c PEER N                                   return credits: all that were sent, and N - 4
 *   t PEER WRONG                               that peer waits for this rank in the operation that
 *                                              is waited for (WRONG 0)
 *   p                                          progress
 *   l                                          look at signatures, aborts and goodbyes
 */
enum { MOST_RANKS = 4, SEGMENT = 4096, EAGER = 1984, SLOT = 4096, FILE_BYTES = 1 << 16 };
enum { REQUESTS = 4, MOST_ACTIONS = 200 };

struct world {
	struct transport transport;
	struct link links[MOST_RANKS];
	struct shm_link back_ends[MOST_RANKS];
	int rank_at[MOST_RANKS];
	char hosts[MOST_RANKS][64];
	uint64_t put[MOST_RANKS]; /* messages of each peer so far */
	struct arena arena;
	struct coll *coll;
	bool names_buffers; /* to peers */
	int n;
	unsigned char *send[REQUESTS], *recv[REQUESTS];
};

static int peer_file;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	peer_file = memfd_create("fuzz", MFD_CLOEXEC);
	must(peer_file >= 0 && !ftruncate(peer_file, FILE_BYTES), "there is memory for a peer");
	return 0;
}

static void *allocate(size_t len)
{
	void *memory = aligned_alloc(64, (len + 63) / 64 * 64);

	must(memory != NULL, "there is memory");
	memset(memory, 0, len);
	return memory;
}

/* --- a rank and its arena ------------------------------------------------------------------- */

static void make_link(struct world *world, int peer, uint32_t slots)
{
	struct link *link = &world->links[peer];
	struct shm_link *shm = &world->back_ends[peer];
	struct area area = {.slots = slots, .slot_bytes = SLOT};

	*shm = (struct shm_link){.fd = peer_file, .doorbell = -1, .pidfd = -1};
	shm->file_len = FILE_BYTES;
	shm->head = allocate(sizeof(struct arena_header));
	*link = (struct link){
		.transport = &world->transport,
		.ops = &shm_link_ops,
		.kind = WRING_TRANSPORT_SHM,
		.peer = peer,
		.reusable = SENT_AT_ONCE,
		.tx = area,
		.rx = area,
		.back_end = shm,
	};
	link->tx_area = allocate(area_len(&area));
	link->rx_area = allocate(area_len(&area));
	link->sent = link->credits_seen = world->transport.first_message;
	link->word_seen = link->sent;
	link->arrived = link->consumed = link->credited = world->transport.first_message;
	link->credit_word = (const void *)(link->rx_area + area_credit_at());
	world->put[peer] = world->transport.first_message;
	shm_area_init(link->rx_area, &area, world->transport.first_message);
}

static void ignore_line(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

static void make_world(struct world *world, struct input *input)
{
	struct transport *transport = &world->transport;
	int size = 2 + (int)input_digit(input) % (MOST_RANKS - 1);
	uint32_t slots = 2u << input_digit(input) % 2;
	struct wring_error error;

	world->arena.base = allocate(sizeof(struct arena_header));
	*transport = (struct transport){
		.size = size,
		.rank_at = world->rank_at,
		.links = world->links,
		.arena = &world->arena,
		.peer_host = world->hosts,
	};
	transport->config.slots = (int)slots;
	transport->config.segment_bytes = SEGMENT;
	transport->config.eager_bytes = EAGER;
	transport->config.timeout_ms = transport->config.stall_ms = 86400000;
	transport->config.log = ignore_line;
	world->names_buffers = input_digit(input) % 2;
	transport->all_shm = input_digit(input) % 2;
	transport->first_message = input_digit(input) % 2 ? UINT32_MAX - 2u : 0;
	for (int rank = 0; rank < size; rank++) {
		world->rank_at[rank] = rank;
		if (rank != 0)
			make_link(world, rank, slots);
	}
	must(!coll_open(&world->coll, transport, world, &error), "there is memory");
}

static void end_world(struct world *world)
{
	coll_close(world->coll);
	for (int peer = 1; peer < world->transport.size; peer++) {
		struct shm_link *shm = &world->back_ends[peer];

		for (size_t i = 0; i < shm->n; i++)
			(void)munmap(shm->windows[i].base, shm->windows[i].len);
		free(shm->windows);
		free(shm->head);
		free(world->links[peer].tx_area);
		free(world->links[peer].rx_area);
	}
	for (int i = 0; i < world->n; i++) {
		free(world->send[i]);
		free(world->recv[i]);
	}
	free(world->transport.regions.items);
	free(world->arena.base);
}

/* --- actions -------------------------------------------------------------------------------- */

static void add_region(struct world *world, unsigned char *base, size_t len)
{
	struct region region = {.base = base, .len = len, .owned = true};

	if (world->names_buffers && len)
		must(region_add(&world->transport.regions, &region), "there is memory");
}

static void start(struct world *world, struct input *input)
{
	static const size_t bytes[] = {0, 8, 64, 1984, 1992, 5000, 20000, 70000};
	struct call call = {.collective = (enum collective)(1 + input_digit(input) % 3)};
	size_t len = bytes[input_digit(input) % 8];
	struct wring_request *request;
	struct wring_error error;
	size_t elem;

	call.datatype = (enum wring_datatype)(input_digit(input) % (WRING_FLOAT64 + 1));
	call.op = (enum wring_op)(input_digit(input) % (WRING_AVG + 1));
	call.root = (int)input_digit(input) % world->transport.size;
	if (world->n == REQUESTS)
		return;
	elem = wring_datatype_size(call.datatype);
	call.count = len / elem;
	len = call.count * elem;
	/* Of exactly that length, so that one byte more is noticed. */
	world->send[world->n] = calloc(1, len ? len : 1);
	world->recv[world->n] = calloc(1, len ? len : 1);
	call.recvbuf = world->recv[world->n];
	call.sendbuf = input_digit(input) % 2 ? call.recvbuf : world->send[world->n];
	if (call.collective != COLLECTIVE_ALLREDUCE)
		call.op = WRING_SUM;
	if (call.collective == COLLECTIVE_BROADCAST)
		call.sendbuf = call.recvbuf;
	else
		call.root = -1;
	if (call.collective == COLLECTIVE_BARRIER)
		call = (struct call){.collective = COLLECTIVE_BARRIER, .root = -1};
	call = call_measured(call);
	add_region(world, world->send[world->n], len);
	add_region(world, world->recv[world->n], len);
	world->n++;
	if (coll_check(&call, world->transport.size, &error))
		must_be_named(&error);
	else
		must(!coll_start(world->coll, &call, &request, &error), "there is memory");
}

static int input_peer(const struct world *world, struct input *input)
{
	return 1 + (int)input_digit(input) % (world->transport.size - 1);
}

/* What the collective waits for, or zeros. */
static struct signature expected(const struct world *world)
{
	const struct wring_request *request = world->coll->first;

	while (request && request->done && !request->lingers)
		request = request->next;
	return request ? request->signature : (struct signature){0};
}

static void spoil(struct signature *signature, struct input *input)
{
	unsigned int wrong = input_digit(input);

	signature->operation += wrong == 1 ? 1u : 0u;
	signature->operation -= wrong == 2 ? 1u : 0u;
	signature->count += wrong == 3 ? 1u : 0u;
	signature->root += wrong == 4;
	signature->collective = (uint8_t)(signature->collective + (wrong == 5 ? 1 : 0));
	signature->datatype = (uint8_t)(signature->datatype + (wrong == 6 ? 100 : 0));
	signature->op = (uint8_t)(signature->op + (wrong == 7 ? 100 : 0));
	if (wrong > 7)
		input_bytes(input, signature, sizeof(*signature));
}

static uint32_t input_len(const struct world *world, struct input *input)
{
	const struct wring_request *request = world->coll->first;
	unsigned int choice = input_digit(input);
	uint32_t raw;

	switch (choice) {
	case 0:
		return 0;
	case 1:
		return sizeof(struct buffers);
	case 2:
		return request ? (uint32_t)request->call.bytes : 0;
	case 3:
		return SEGMENT;
	case 4:
		return request ? (uint32_t)(request->call.bytes % SEGMENT) : 0;
	case 5:
		return SLOT + 1;
	case 6:
		return UINT32_MAX;
	default:
		input_bytes(input, &raw, sizeof(raw));
		return raw;
	}
}

static void put_message(struct world *world, struct input *input)
{
	int peer = input_peer(world, input);
	struct slot_header *line = link_rx_header(&world->links[peer], world->put[peer]);
	uint8_t kind = (uint8_t)input_digit(input);
	uint32_t len = input_len(world, input);
	struct signature signature = expected(world);

	spoil(&signature, input);
	line->kind = kind;
	line->len = len;
	line->operation = signature.operation;
	line->count = signature.count;
	line->root = signature.root;
	line->collective = signature.collective;
	line->datatype = signature.datatype;
	line->op = signature.op;
	input_bytes(input, line->payload, 4 * (size_t)(input_digit(input) % 9));
	line->sequence = (uint32_t)++world->put[peer];
}

static void write_area(struct world *world, struct input *input)
{
	struct link *link = &world->links[input_peer(world, input)];
	size_t len = area_len(&link->rx);
	size_t at = (size_t)(input_byte(input) << 8 | input_byte(input)) % len;
	size_t n = 2 * (size_t)input_digit(input);

	input_bytes(input, link->rx_area + at, n < len - at ? n : len - at);
}

static void return_credits(struct world *world, struct input *input)
{
	struct link *link = &world->links[input_peer(world, input)];
	uint64_t value = link->sent + input_digit(input) - 4;

	memcpy(link->rx_area + area_credit_at(), &value, sizeof(value));
}

static void tell_waiting(struct world *world, struct input *input)
{
	struct link link = world->links[input_peer(world, input)];
	struct signature signature = expected(world);

	spoil(&signature, input);
	link.tx_area = link.rx_area; /* as if it were the peer */
	(void)link_tell_waiting(&link, &signature);
}

/* What transport_idle and wring_test do when nothing has moved for a while. */
static void look(struct world *world)
{
	struct idle *idle = &world->coll->look;
	uint64_t now = transport_now();

	if (!world->coll->first)
		return;
	*idle = (struct idle){
		.progress = world->transport.progress,
		.since_ns = now - 100000000, /* the look is due, and so is telling the peers */
		.looked_ns = now,	     /* there is no process to look at */
		.called_ns = now,
	};
	coll_look(world->coll, world->coll->first);
}

/* A finished request is consumed, as wring_wait would do. */
static void progress(struct world *world)
{
	struct wring_request *request, *next;

	coll_progress(world->coll);
	for (request = world->coll->first; request && request->done; request = next) {
		next = request->next;
		if (!request->released)
			coll_release(request);
	}
}

static void act(struct world *world, struct input *input)
{
	switch (input_byte(input)) {
	case 's':
		start(world, input);
		break;
	case 'm':
		put_message(world, input);
		break;
	case 'w':
		write_area(world, input);
		break;
	case 'c':
		return_credits(world, input);
		break;
	case 't':
		tell_waiting(world, input);
		break;
	case 'p':
		progress(world);
		break;
	case 'l':
		look(world);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.at = data, .left = size};
	struct world world = {.n = 0};

	make_world(&world, &input);
	for (int i = 0; i < MOST_ACTIONS && input.left; i++)
		act(&world, &input);
	progress(&world);
	if (world.transport.error.status)
		must_be_an_error(&world.transport.error);
	end_world(&world);
	return 0;
}
