/* wring.c: the composition root: puts bootstrap, transport and collectives together. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "bootstrap/exchange.h"
#include "bootstrap/topology.h"
#include "bootstrap/tuning.h"
#include "coll/comm.h"
#include "coll/sizes.h"
#include "transport/transport_state.h"

extern char **environ;

_Static_assert(sizeof(struct transport_address) == EXCHANGE_ADDRESS,
	       "an introduction holds the transport's address");

/* --- wring_comm_create -------------------------------------------------------------------- */

/* What a rank knows while it is being connected. */
struct creation {
	const struct wring_bootstrap *bootstrap;
	struct wring_config config;
	struct tuning tuning;
	struct transport *transport;
	struct introduction own, *all;
	int *host_of_rank, *rank_at;
	uint8_t *can_open, *opened_by; /* by rank: verdicts on shared memory */
	struct transport_offer *offers_out, *offers_in;
	struct wring_error unopened; /* why the last shared memory could not be opened */
	struct wring_error failure;  /* the first one; this rank takes part in the rounds with it */
	struct wring_comm *comm;
};

static bool failed(const struct creation *c)
{
	return c->failure.status != WRING_OK;
}

_Static_assert(sizeof(struct introduction) % sizeof(uint64_t) == 0, "offers may follow it");

/* In one piece: a rank that does not get it can take part in no round, and the others learn of
 * that from the bootstrap alone. Everything after it fails in words. */
static bool allocate_rounds(struct creation *c)
{
	size_t n = (size_t)c->bootstrap->size;

	c->all = calloc(n, sizeof(*c->all) + 2 * sizeof(*c->offers_in) + 2 * sizeof(*c->rank_at) +
				   2 * sizeof(*c->can_open));
	if (!c->all)
		return false;
	c->offers_out = (struct transport_offer *)(c->all + n);
	c->offers_in = c->offers_out + n;
	c->host_of_rank = (int *)(c->offers_in + n);
	c->rank_at = c->host_of_rank + n;
	c->can_open = (uint8_t *)(c->rank_at + n);
	c->opened_by = c->can_open + n;
	return true;
}

static void describe_cpus(struct introduction *own)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		CPU_SET(0, &set);
	memcpy(own->cpus, &set, sizeof(own->cpus));
	own->quota_cpus = cpus_within_cgroups("", CPU_COUNT(&set));
}

_Static_assert(sizeof(cpu_set_t) == EXCHANGE_CPUS, "an introduction holds a CPU set");

static enum wring_status read_settings(struct creation *c, const struct wring_config *config,
				       struct wring_error *error)
{
	enum wring_status status = config_resolve(&c->config, config, environ, error);

	if (!status)
		status = tuning_load(&c->tuning, &c->config, coll_candidate, error);
	if (status)
		return status;
	if (c->config.qp_timeout < 0)
		c->config.qp_timeout =
			config_qp_timeout(c->config.qp_retry, c->config.peer_timeout_ms);
	config_fingerprint(&c->config, c->tuning.hash, &c->own.settings);
	return WRING_OK;
}

/* Everything that this rank can do before it has heard of the others. */
static enum wring_status prepare(struct creation *c, const struct wring_config *config,
				 struct wring_error *error)
{
	const struct wring_bootstrap *b = c->bootstrap;
	struct transport_address address;
	enum wring_status status = read_settings(c, config, error);

	if (!status)
		status = identity_read(&c->own.host, error);
	if (!status)
		status = transport_open(&c->transport, &c->config, b->rank, b->size, error);
	if (status)
		return status;
	transport_get_address(c->transport, &address);
	memcpy(c->own.address, &address, sizeof(address));
	return WRING_OK;
}

/* Who is on which host, and in which order the ring goes. */
static enum wring_status place_ranks(struct creation *c, struct wring_error *error)
{
	int size = c->bootstrap->size;
	struct host_identity *hosts = calloc((size_t)size, sizeof(*hosts));
	bool network = c->config.transport == WRING_TRANSPORT_VERBS;

	if (!hosts)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %d hosts", size);
	for (int peer = 0; peer < size; peer++) {
		hosts[peer] = c->all[peer].host;
		transport_set_host(c->transport, peer, hosts[peer].host);
	}
	identity_hosts(hosts, size, c->host_of_rank);
	identity_ring_order(c->host_of_rank, size, (enum wring_ring)c->config.ring, c->rank_at);
	free(hosts);
	for (int peer = 0; peer < size; peer++)
		network |= c->host_of_rank[peer] != c->host_of_rank[0];
	transport_set_ring(c->transport, c->rank_at, network,
			   sizes_slot(size, network, c->config.eager_bytes));
	return WRING_OK;
}

/* --- round 2: whose memory can be opened here? --------------------------------------------- */

/* True if opening failed because this rank has run out of files or memory. */
static bool lacks_resources(const struct wring_error *error)
{
	return error->status == WRING_ERR_NOMEM || error->native == EMFILE ||
	       error->native == ENFILE || error->native == ENOMEM;
}

/* A peer whose memory cannot be opened is left to verbs. */
static enum wring_status try_host_peers(struct creation *c, struct wring_error *error)
{
	int rank = c->bootstrap->rank;
	struct transport_address address;

	if (c->config.transport == WRING_TRANSPORT_VERBS)
		return WRING_OK;
	for (int peer = 0; peer < c->bootstrap->size; peer++) {
		if (peer == rank || c->host_of_rank[peer] != c->host_of_rank[rank])
			continue;
		memcpy(&address, c->all[peer].address, sizeof(address));
		c->can_open[peer] = !transport_try_shm(c->transport, peer, &address, &c->unopened);
		if (!c->can_open[peer] && lacks_resources(&c->unopened)) {
			*error = c->unopened;
			return error->status;
		}
	}
	return WRING_OK;
}

/* This rank has failed, and the last round says why: a verdict that asks for verbs would only send
 * its peers looking for a device. */
static void tell_peers_nothing_is_needed(struct creation *c)
{
	memset(c->can_open, true, (size_t)c->bootstrap->size);
}

/* --- round 3: room, and QPs, for all peers ------------------------------------------------ */

/* Shared memory needs both ends. Returns how many peers remain for verbs. */
static int settle_verdicts(struct creation *c)
{
	int remain = 0;

	for (int peer = 0; peer < c->bootstrap->size; peer++) {
		if (peer == c->bootstrap->rank)
			continue;
		if (c->can_open[peer] && c->opened_by[peer])
			continue;
		if (c->can_open[peer])
			transport_forget_shm(c->transport, peer);
		remain++;
	}
	return remain;
}

enum { MAX_CANDIDATES = 64 };

/* The nearest usable port; the software ones last. */
static enum wring_status choose_port(struct creation *c, struct verbs_candidate *chosen,
				     struct wring_error *error)
{
	struct verbs_candidate all[MAX_CANDIDATES];
	const char *names[MAX_CANDIDATES];
	struct topology *topology = NULL;
	int usable[MAX_CANDIDATES];
	char why[128];
	int n = verbs_candidates(&c->config, all, MAX_CANDIDATES), m = 0, nearest = 0;

	for (int i = 0; i < n; i++) {
		if (!all[i].usable)
			continue;
		names[m] = all[i].device;
		usable[m++] = i;
	}
	if (m == 0)
		return verbs_no_device(&c->config, all, n, error);
	if (m > 1)
		topology = topology_load(NULL, error);
	if (topology)
		nearest = topology_nearest_device(topology, names, m, why, sizeof(why));
	topology_free(topology);
	*chosen = all[usable[nearest < 0 ? 0 : nearest]];
	return WRING_OK;
}

static enum wring_status open_verbs(struct creation *c, int *software, struct wring_error *error)
{
	struct verbs_candidate chosen;
	enum wring_status status;

	if (c->config.transport == WRING_TRANSPORT_SHM)
		return error_set(
			error, WRING_ERR_UNSUPPORTED,
			"WRING_TRANSPORT=shm, but not every rank's memory can be opened here: "
			"%s; use WRING_TRANSPORT=auto",
			c->unopened.status
				? c->unopened.text
				: "some ranks are on other hosts, or cannot open this rank's");
	status = choose_port(c, &chosen, error);
	if (status)
		return status;
	*software = chosen.software;
	return transport_use_verbs(c->transport, chosen.device, chosen.port, error);
}

/* Ranks of this host whose CPUs overlap this rank's, against those CPUs. */
static void choose_wait(struct creation *c, int busy)
{
	int rank = c->bootstrap->rank, sharing = 0;
	cpu_set_t own, all, set, both;
	int cpus;

	memcpy(&own, c->own.cpus, sizeof(own));
	CPU_ZERO(&all);
	for (int peer = 0; peer < c->bootstrap->size; peer++) {
		memcpy(&set, c->all[peer].cpus, sizeof(set));
		CPU_AND(&both, &own, &set);
		if (c->host_of_rank[peer] != c->host_of_rank[rank] || CPU_COUNT(&both) == 0)
			continue;
		CPU_OR(&all, &all, &set);
		sharing++;
	}
	cpus = CPU_COUNT(&all);
	if (c->own.quota_cpus < cpus)
		cpus = c->own.quota_cpus;
	transport_set_wait(c->transport, sharing, busy, cpus);
}

/* Make room, and QPs, for all peers, and say where. */
static enum wring_status make_offers(struct creation *c, struct wring_error *error)
{
	enum wring_status status = WRING_OK;
	int software = 0;

	if (settle_verdicts(c))
		status = open_verbs(c, &software, error);
	if (!status) {
		choose_wait(c, software);
		status = transport_lay_out(c->transport, error);
	}
	for (int peer = 0; !status && peer < c->bootstrap->size; peer++)
		transport_make_offer(c->transport, peer, &c->offers_out[peer]);
	return status;
}

/* An invalid offer is from a rank that has failed: the last round says why. */
static enum wring_status take_offers(struct creation *c, struct wring_error *error)
{
	enum wring_status status = WRING_OK;

	for (int peer = 0; !status && peer < c->bootstrap->size; peer++)
		if (peer != c->bootstrap->rank && c->offers_in[peer].valid)
			status = transport_connect(c->transport, peer, &c->offers_in[peer], error);
	return status;
}

/* --- round 4: the communicator, if all are ready ------------------------------------------- */

static void discard_comm(struct wring_comm *comm)
{
	if (!comm)
		return;
	engine_stop(&comm->engine);
	coll_close(comm->coll);
	free(comm);
}

_Static_assert((int)CONFIG_MOST_EAGER == (int)SIZES_MOST_EAGER, "coll has room for any setting");
_Static_assert((int)TUNING_CHOICES <= (int)COLL_PREFERENCES,
	       "every line of a tuning file is a preference");

/* tuning_load takes only names that coll_candidate has given. */
static void hand_over_tuning(const struct tuning *tuning, struct coll *coll)
{
	for (size_t i = 0; i < tuning->n; i++) {
		const struct tuning_choice *choice = &tuning->choices[i];

		(void)coll_prefer(coll, choice->collective, choice->algorithm, choice->above,
				  choice->bytes);
	}
}

static enum wring_status make_comm(struct creation *c, struct wring_error *error)
{
	struct transport *transport = c->transport;
	struct wring_comm *made = calloc(1, sizeof(*made));
	enum wring_status status;

	if (!made)
		return error_set(error, WRING_ERR_NOMEM, "no memory for %zu bytes", sizeof(*made));
	made->rank = transport->rank;
	made->size = transport->size;
	made->transport = transport;
	c->comm = made;
	status = coll_open(&made->coll, transport, made, error);
	if (!status)
		hand_over_tuning(&c->tuning, made->coll);
	if (!status)
		status = engine_start(&made->engine, made->coll,
				      transport->config.progress == WRING_PROGRESS_THREAD, error);
	return status;
}

/* All are ready: then all have made an offer, or are not what they seem. */
static enum wring_status check_offers(const struct creation *c, struct wring_error *error)
{
	for (int peer = 0; peer < c->bootstrap->size; peer++)
		if (!c->offers_in[peer].valid)
			return error_set(
				error, WRING_ERR_BOOTSTRAP,
				"rank %d is ready, but made no offer; do all ranks run the "
				"same version?",
				peer);
	return WRING_OK;
}

/* --- all rounds ---------------------------------------------------------------------------- */

/* A step between two rounds; a rank that has failed takes no more of them. */
static void take_step(struct creation *c,
		      enum wring_status (*step)(struct creation *c, struct wring_error *error))
{
	if (!failed(c))
		(void)step(c, &c->failure);
}

/* Rounds 2 to 4. The steps between them fail into c->failure, which the last round tells to all;
 * only a failed callback ends the rounds at once, with *error. */
static enum wring_status connect_ranks(struct creation *c, struct wring_error *error)
{
	const struct wring_bootstrap *b = c->bootstrap;
	enum wring_status status;

	take_step(c, place_ranks);
	take_step(c, try_host_peers);
	if (failed(c))
		tell_peers_nothing_is_needed(c);
	status = exchange_alltoall(b, c->can_open, c->opened_by, sizeof(*c->can_open), error);
	if (status)
		return status;
	take_step(c, make_offers);
	status = exchange_alltoall(b, c->offers_out, c->offers_in, sizeof(*c->offers_out), error);
	if (status)
		return status;
	take_step(c, take_offers);
	take_step(c, make_comm);
	status = exchange_ready(b, &c->failure, c->all, error);
	return status ? status : check_offers(c, error);
}

/* All rounds; the transport is c->transport when it returns WRING_OK. */
static enum wring_status run_rounds(struct creation *c, const struct wring_config *config,
				    struct wring_comm **comm, struct wring_error *error)
{
	enum wring_status status;

	if (!comm)
		(void)error_set(&c->failure, WRING_ERR_INVALID, "wring_comm_create: comm is NULL");
	else
		(void)prepare(c, config, &c->failure);
	describe_cpus(&c->own);
	exchange_introduce(&c->own, c->bootstrap, &c->failure);
	status = exchange_introductions(c->bootstrap, &c->own, c->all, error);
	return status ? status : connect_ranks(c, error);
}

enum wring_status wring_comm_create(const struct wring_bootstrap *bootstrap,
				    const struct wring_config *config, struct wring_comm **comm,
				    struct wring_error *error)
{
	struct creation c = {.bootstrap = bootstrap};
	enum wring_status status = exchange_check(bootstrap, error);

	if (status)
		return status;
	if (allocate_rounds(&c))
		status = run_rounds(&c, config, comm, error);
	else
		status = error_set(error, WRING_ERR_NOMEM, "no memory for %d ranks",
				   bootstrap->size);
	if (status) {
		discard_comm(c.comm);
		transport_close(c.transport);
	} else {
		*comm = c.comm;
	}
	free(c.all);
	return status;
}

/* --- the rest of a communicator's life ----------------------------------------------------- */

void wring_comm_destroy(struct wring_comm *comm)
{
	if (!comm || !comm->transport)
		return;
	engine_stop(&comm->engine);
	transport_leave(comm->transport);
	comm_keep_orphans(comm);
	coll_close(comm->coll);
	transport_close(comm->transport);
	comm->transport = NULL;
	comm->coll = NULL;
	comm_free_if_empty(comm);
}

enum wring_status wring_comm_peer(const struct wring_comm *comm, int peer,
				  struct wring_peer_info *info, size_t size)
{
	struct wring_peer_info all = {.port = -1, .gid_index = -1, .lid = -1, .numa_node = -1};

	if (!comm || !info || size == 0 || peer < 0 || peer >= comm->size)
		return WRING_ERR_INVALID;
	if (!comm->transport)
		return WRING_ERR_STATE;
	transport_describe(comm->transport, peer, &all);
	memcpy(info, &all, size < sizeof(all) ? size : sizeof(all));
	return WRING_OK;
}
