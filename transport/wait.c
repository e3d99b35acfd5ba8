/* wait.c: what a rank does while nothing moves: spin, yield, sleep, and look after its peers. */
#include <poll.h>
#include <sched.h>
#include <stdio.h>

#include "transport/transport_state.h"

/*
 * spin         pause; the clock is read every CLOCK_ROUNDS rounds
 * yield, and   pause for some rounds (transport->pauses), then sched_yield in each: cheap when
 * auto         nobody else wants the CPU, and a stranger who does costs a time slice once, not in
 *              every operation
 * event, and   the same, but after yield_ns sleep in poll(2). First arm: raise the flag that
 * auto when    peers read after they have written, fence, ask the CQ for an event; then return,
 * CPUs are     so that the caller looks at everything once more; only if still nothing has moved
 * short        sleep. So a write is either seen by that look, or its writer sees the flag.
 */
#define CLOCK_ROUNDS 1024
#define LISTEN_NS    ((uint64_t)1000 * 1000)
#define LOOK_NS	     ((uint64_t)100 * 1000 * 1000)
#define SLEEP_MS     100

void transport_poll(struct transport *transport)
{
	if (transport->verbs)
		verbs_poll(transport->verbs);
}

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void arm(struct transport *t)
{
	shm_set_asleep(t->arena, true);
	if (t->verbs)
		verbs_arm(t->verbs);
}

/* Until the deadline, or SLEEP_MS: the peers are to be looked after. */
static int sleep_ms(const struct transport *t, uint64_t waited_ns)
{
	uint64_t waited = waited_ns / 1000000, end = (uint64_t)t->config.timeout_ms;

	if (waited >= end)
		return 1;
	return end - waited < SLEEP_MS ? (int)(end - waited) : SLEEP_MS;
}

static void sleep_until_event(struct transport *t, uint64_t waited_ns)
{
	struct pollfd fds[3] = {{.fd = t->shm->pipe[0], .events = POLLIN}};
	int verbs_fd[2] = {-1, -1};
	int i, n = t->verbs ? verbs_fds(t->verbs, verbs_fd) : 0;

	for (i = 0; i < n; i++)
		fds[i + 1] = (struct pollfd){.fd = verbs_fd[i], .events = POLLIN};
	(void)poll(fds, (nfds_t)(n + 1), sleep_ms(t, waited_ns));
	shm_set_asleep(t->arena, false);
	if (fds[0].revents)
		shm_answer_doorbell(t->shm);
	if (t->verbs)
		verbs_acknowledge(t->verbs);
}

/* Half of the slots are credited at once, which is enough to go on (see tests/model); the rest goes
 * along with what is sent, or here, before a peer could take this rank for the slow one. */
static void flush_credits(struct transport *t)
{
	int peer;

	for (peer = 0; peer < t->size; peer++)
		if (peer != t->rank)
			link_flush_credit(&t->links[peer]);
}

/* --- looking after the peers -------------------------------------------------------------- */

static void fail_peer(struct transport *t, int peer, uint64_t operation, const char *how)
{
	transport_fail_at(
		t, WRING_ERR_PEER, peer, operation,
		"rank %d on %s %s while rank %d was in operation %llu; look at that rank's own "
		"output first",
		peer, t->peer_host[peer], how, t->rank, (unsigned long long)operation);
}

static void hear_leave(struct link *link)
{
	const struct reserve_record *record;

	if (link->left)
		return;
	record = link->ops->reserved(link, RESERVE_LEAVE);
	if (record)
		link->left = true;
}

/* A peer that left has sent all it had: if nothing of it is there now, nothing will come. */
static void miss_leaver(struct transport *t, int peer, uint64_t operation)
{
	struct message message;

	if (peer < 0 || peer == t->rank || !t->links[peer].left)
		return;
	if (!link_peek(&t->links[peer], &message))
		fail_peer(t, peer, operation, "has left the communicator");
}

/* True when nothing has moved since the last look at this peer, which was after its end. */
static bool looked_twice(const struct transport *t, struct link *link)
{
	bool twice = link->ended && link->moved_at_end == t->moved;

	link->ended = true;
	link->moved_at_end = t->moved;
	return twice;
}

/*
 * A process that has ended may have messages here that are still to be taken, and its goodbye may
 * be among them: judge only when nothing has moved between two looks.
 */
static void look_at_process(struct transport *t, struct link *link, uint64_t operation)
{
	if (link->left || !shm_peer_ended(link))
		return;
	hear_leave(link);
	if (link->left)
		return;
	if (looked_twice(t, link))
		fail_peer(t, link->peer, operation, "has ended (its process is gone)");
}

/* What a peer that left had sent and nobody takes is of a later operation: we miss its credit. */
static void look_at_leaver(struct transport *t, int peer, uint64_t operation)
{
	if (peer < 0 || peer == t->rank || !t->links[peer].left)
		return;
	if (looked_twice(t, &t->links[peer]))
		fail_peer(t, peer, operation, "has left the communicator");
}

static void listen_to_peers(struct transport *t, uint64_t operation, int waiting_for)
{
	int peer;

	transport_hear_aborts(t);
	for (peer = 0; peer < t->size; peer++)
		if (peer != t->rank)
			hear_leave(&t->links[peer]);
	if (!t->error.status)
		miss_leaver(t, waiting_for, operation);
}

static void look_after_peers(struct transport *t, uint64_t operation, int waiting_for)
{
	int peer;

	for (peer = 0; peer < t->size && !t->error.status; peer++)
		if (peer != t->rank && t->links[peer].kind == WRING_TRANSPORT_SHM)
			look_at_process(t, &t->links[peer], operation);
	if (!t->error.status)
		look_at_leaver(t, waiting_for, operation);
	if (t->verbs && !t->error.status)
		verbs_watch(t->verbs);
}

static void name_peer(const struct transport *t, int peer, char *text, size_t len)
{
	if (peer < 0)
		(void)snprintf(text, len, "its peers");
	else
		(void)snprintf(text, len, "rank %d on %s", peer, t->peer_host[peer]);
}

/* A path that loses packets may be why: "; loss on this path: ...", or "". */
static void tell_loss(const struct transport *t, char *text, size_t len)
{
	char loss[160] = "";

	if (t->verbs)
		verbs_loss(t->verbs, loss, sizeof(loss));
	(void)snprintf(text, len, "%s%s", *loss ? "; " : "", loss);
}

static void pass_deadline(struct transport *t, uint64_t ms, uint64_t operation, int waiting_for)
{
	char name[128], loss[168];

	name_peer(t, waiting_for, name, sizeof(name));
	tell_loss(t, loss, sizeof(loss));
	transport_fail_at(t, WRING_ERR_TIMEOUT, waiting_for, operation,
			  "rank %d waited %llu ms for %s in operation %llu and nothing moved "
			  "(timeout_ms %d); is that rank late, or in other code? "
			  "WRING_TIMEOUT_MS raises the limit%s",
			  t->rank, (unsigned long long)ms, name, (unsigned long long)operation,
			  t->config.timeout_ms, loss);
}

static void warn_of_stall(struct transport *t, uint64_t ms, uint64_t operation, int waiting_for)
{
	char name[128], loss[168];

	name_peer(t, waiting_for, name, sizeof(name));
	tell_loss(t, loss, sizeof(loss));
	transport_log(t, "waiting for %s in operation %llu for %llu ms (stall_ms %d)%s", name,
		      (unsigned long long)operation, (unsigned long long)ms, t->config.stall_ms,
		      loss);
}

static void check_deadline(struct transport *t, struct idle *idle, uint64_t waited_ns,
			   uint64_t operation, int waiting_for)
{
	uint64_t ms = waited_ns / 1000000;

	if (ms >= (uint64_t)t->config.timeout_ms) {
		pass_deadline(t, ms, operation, waiting_for);
	} else if (!idle->warned && ms >= (uint64_t)t->config.stall_ms) {
		idle->warned = true;
		warn_of_stall(t, ms, operation, waiting_for);
	}
}

/* --- one idle round ----------------------------------------------------------------------- */

static void start_over(struct transport *t, struct idle *idle)
{
	if (idle->armed)
		shm_set_asleep(t->arena, false);
	*idle = (struct idle){.moved = t->moved};
}

/* The clock has been read: do what is due. */
static void slow_round(struct transport *t, struct idle *idle, uint64_t now, uint64_t operation,
		       int waiting_for)
{
	if (idle->since_ns == 0) {
		idle->since_ns = idle->listened_ns = idle->looked_ns = now;
		return;
	}
	if (now - idle->listened_ns >= LISTEN_NS) {
		idle->listened_ns = now;
		flush_credits(t);
		listen_to_peers(t, operation, waiting_for);
		check_deadline(t, idle, now - idle->since_ns, operation, waiting_for);
	}
	if (now - idle->looked_ns >= LOOK_NS) {
		idle->looked_ns = now;
		look_after_peers(t, operation, waiting_for);
	}
}

static bool may_spin(const struct transport *t, uint64_t rounds)
{
	if (t->spins)
		return (rounds & (CLOCK_ROUNDS - 1)) != 0;
	return rounds <= t->pauses;
}

void transport_idle(struct transport *transport, struct idle *idle, uint64_t operation,
		    int waiting_for)
{
	uint64_t now;

	if (idle->moved != transport->moved)
		start_over(transport, idle);
	idle->rounds++;
	if (may_spin(transport, idle->rounds)) {
		pause_cpu();
		return;
	}
	now = transport_now();
	slow_round(transport, idle, now, operation, waiting_for);
	if (transport->spins || transport->error.status)
		return;
	if (!transport->may_sleep || now - idle->since_ns < transport->yield_ns) {
		(void)sched_yield();
	} else if (!idle->armed) {
		idle->armed = true;
		flush_credits(transport);
		arm(transport);
	} else {
		idle->armed = false;
		sleep_until_event(transport, now - idle->since_ns);
	}
}

void transport_look(struct transport *transport, struct idle *idle, uint64_t operation,
		    int waiting_for)
{
	uint64_t now = transport_now();

	if (idle->moved != transport->moved)
		start_over(transport, idle);
	if (idle->since_ns && now - idle->called_ns > LOOK_NS)
		idle->since_ns += now - idle->called_ns - LOOK_NS;
	idle->called_ns = now;
	slow_round(transport, idle, now, operation, waiting_for);
}
