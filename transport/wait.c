/* wait.c: what a rank does while nothing moves: spin, yield, sleep, and look after its peers. */
/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <sched.h>

#include "transport/peers.h"
#include "transport/transport_state.h"

/*
 * spin         pause; the clock is read every CLOCK_ROUNDS rounds
 * yield, and   pause for some rounds (transport->pauses), then sched_yield in each: cheap when
 * auto         nobody else wants the CPU, and a stranger who does costs a time slice once, not in
 *              every operation
 * event, and   the same, but after yield_ns sleep in poll(2). First arm: every back end makes sure
 * auto when    that whatever arrives from now on makes a descriptor readable; then return, so that
 * CPUs are     the caller looks at everything once more; only if still nothing has moved sleep. So
 * short        a write is either seen by that look, or ends the sleep.
 */
enum { CLOCK_ROUNDS = 1024, SLEEP_MS = 100 };
#define LISTEN_NS ((uint64_t)1000 * 1000)
#define LOOK_NS	  ((uint64_t)100 * 1000 * 1000)

/* --- the policy --------------------------------------------------------------------------- */

/* Yield until each rank sharing this CPU has run once. Sleeping earlier makes every peer pay for a
 * doorbell. Over a network whose driver wants the same CPUs, a call takes most of a millisecond. */
#define YIELD_NS	 ((uint64_t)200 * 1000)
#define YIELD_RANK_NS	 ((uint64_t)50 * 1000)
#define YIELD_NETWORK_NS ((uint64_t)2000 * 1000)

static uint64_t yield_time(const struct transport *transport, int ranks_per_cpu)
{
	uint64_t ns = YIELD_NS;

	if (transport->config.wait != WRING_WAIT_AUTO)
		return ns;
	if (transport->network)
		ns = YIELD_NETWORK_NS;
	if (ns < YIELD_RANK_NS * (uint64_t)ranks_per_cpu)
		ns = YIELD_RANK_NS * (uint64_t)ranks_per_cpu;
	return ns;
}

/* If the awaited rank shares our CPU, each pause delays it; a driver that moves bytes with that CPU
 * comes by itself. */
enum { PAUSES = 2000, PAUSES_DRIVER = 20, PAUSES_CROWDED = 1 };

void transport_set_wait(struct transport *transport, int ranks, int drivers, int cpus)
{
	int wait = transport->config.wait, busy = ranks + drivers;

	transport->yield_ns = yield_time(transport, cpus > 0 ? busy / cpus : busy);
	transport->crowded = busy > cpus;
	transport->pauses = !transport->crowded ? PAUSES : PAUSES_DRIVER;
	if (ranks > cpus)
		transport->pauses = PAUSES_CROWDED;
	transport->spins = wait == WRING_WAIT_SPIN;
	transport->may_sleep =
		wait == WRING_WAIT_EVENT || (wait == WRING_WAIT_AUTO && transport->crowded);
}

/* --- sleeping ----------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
static void pause_cpu(void)
{
	__builtin_ia32_pause();
}
#elif defined(__aarch64__)
static void pause_cpu(void)
{
	__asm__ volatile("yield");
}
#else
static void pause_cpu(void)
{
}
#endif

static void arm(struct transport *t)
{
	for (int i = 0; i < t->n_back_ends; i++)
		t->back_ends[i]->ops->arm(t->back_ends[i]);
}

static void disarm(struct transport *t)
{
	for (int i = 0; i < t->n_back_ends; i++)
		t->back_ends[i]->ops->disarm(t->back_ends[i]);
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
	struct pollfd fds[BACK_ENDS * BACK_END_FDS] = {{0}};
	const struct pollfd *own = fds;
	int n_fds[BACK_ENDS], n = 0;

	for (int i = 0; i < t->n_back_ends; i++) {
		n_fds[i] = t->back_ends[i]->ops->fds(t->back_ends[i], fds + n);
		n += n_fds[i];
	}
	(void)poll(fds, (nfds_t)n, sleep_ms(t, waited_ns));
	disarm(t);
	for (int i = 0; i < t->n_back_ends; own += n_fds[i], i++)
		t->back_ends[i]->ops->acknowledge(t->back_ends[i], own);
}

/* --- one round ---------------------------------------------------------------------------- */

static void start_over(struct transport *t, struct idle *idle)
{
	if (idle->armed)
		disarm(t);
	*idle = (struct idle){.progress = t->progress};
}

/* The clock has been read: do what is due. Returns what transport_idle does. */
static uint64_t slow_round(struct transport *t, struct idle *idle, uint64_t now,
			   const struct awaited *awaited)
{
	uint64_t waited_ns = 0;

	if (idle->since_ns == 0) {
		idle->since_ns = idle->listened_ns = idle->looked_ns = now;
		return 1;
	}
	if (now - idle->listened_ns >= LISTEN_NS) {
		idle->listened_ns = now;
		waited_ns = now - idle->since_ns;
		peers_flush_credits(t);
		peers_listen(t, awaited);
		peers_check_deadline(t, idle, waited_ns, awaited);
	}
	if (now - idle->looked_ns >= LOOK_NS) {
		idle->looked_ns = now;
		peers_look(t, awaited);
	}
	return t->error.status ? 0 : waited_ns;
}

static bool may_spin(const struct transport *t, uint64_t rounds)
{
	if (t->spins)
		return (rounds & (CLOCK_ROUNDS - 1)) != 0;
	return rounds <= t->pauses;
}

/* Give the CPU away: yield, or sleep if the policy says so and the round before has armed. */
static void give_way(struct transport *t, struct idle *idle, uint64_t waited_ns)
{
	if (!t->may_sleep || waited_ns < t->yield_ns) {
		(void)sched_yield();
	} else if (!idle->armed) {
		idle->armed = true;
		peers_flush_credits(t);
		arm(t);
	} else {
		idle->armed = false;
		sleep_until_event(t, waited_ns);
	}
}

uint64_t transport_idle(struct transport *transport, struct idle *idle,
			const struct awaited *awaited)
{
	uint64_t now, due;

	if (idle->progress != transport->progress)
		start_over(transport, idle);
	idle->rounds++;
	if (may_spin(transport, idle->rounds)) {
		pause_cpu();
		return 0;
	}
	now = transport_now();
	due = slow_round(transport, idle, now, awaited);
	if (!transport->spins && !transport->error.status)
		give_way(transport, idle, now - idle->since_ns);
	return due;
}

uint64_t transport_look(struct transport *transport, struct idle *idle,
			const struct awaited *awaited)
{
	uint64_t now = transport_now();

	if (idle->progress != transport->progress)
		start_over(transport, idle);
	if (idle->since_ns && now - idle->called_ns > LOOK_NS)
		idle->since_ns += now - idle->called_ns - LOOK_NS;
	idle->called_ns = now;
	return slow_round(transport, idle, now, awaited);
}
