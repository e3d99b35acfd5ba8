/* wait.c: when a rank that waits may sleep, by its policy and by who shares its CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transport/transport_state.h"

#define US 1000

static struct transport waiting(int wait, bool network, int ranks, int cpus)
{
	struct transport transport = {.config.wait = wait, .network = network};

	transport_set_wait(&transport, ranks, 0, cpus);
	return transport;
}

static void a_rank_with_a_cpu_of_its_own_never_sleeps(void **state)
{
	struct transport transport = waiting(WRING_WAIT_AUTO, false, 2, 2);

	(void)state;
	assert_false(transport.crowded);
	assert_false(transport.may_sleep);
	assert_false(transport.spins);
	assert_int_equal(transport.pauses, 2000);
}

static void crowded_ranks_sleep(void **state)
{
	struct transport transport = waiting(WRING_WAIT_AUTO, false, 3, 2);

	(void)state;
	assert_true(transport.crowded);
	assert_true(transport.may_sleep);
	assert_int_equal(transport.yield_ns, 200 * US);
	assert_int_equal(transport.pauses, 1);
}

/* It shares the CPUs as another rank would, but is not waited for by yielding. */
static void a_driver_that_needs_a_cpu_makes_crowded_ranks(void **state)
{
	struct transport transport = {.config.wait = WRING_WAIT_AUTO, .network = true};

	(void)state;
	transport_set_wait(&transport, 2, 1, 2);
	assert_true(transport.may_sleep);
	assert_int_equal(transport.pauses, 20);
	transport_set_wait(&transport, 2, 1, 3);
	assert_false(transport.may_sleep);
	assert_int_equal(transport.pauses, 2000);
}

/* Less, and all would sleep before the one that could go on had its turn. */
static void but_not_before_all_ranks_of_a_cpu_had_their_turn(void **state)
{
	(void)state;
	assert_int_equal(waiting(WRING_WAIT_AUTO, false, 8, 2).yield_ns, 200 * US);
	assert_int_equal(waiting(WRING_WAIT_AUTO, false, 32, 2).yield_ns, 800 * US);
	assert_int_equal(waiting(WRING_WAIT_AUTO, true, 32, 2).yield_ns, 2000 * US);
	assert_int_equal(waiting(WRING_WAIT_AUTO, true, 96, 2).yield_ns, 2400 * US);
}

static void who_asks_for_events_sleeps_soon_however_many_ranks(void **state)
{
	struct transport transport = waiting(WRING_WAIT_EVENT, true, 96, 2);

	(void)state;
	assert_true(transport.may_sleep);
	assert_int_equal(transport.yield_ns, 200 * US);
}

static void spin_and_yield_never_sleep(void **state)
{
	(void)state;
	assert_true(waiting(WRING_WAIT_SPIN, false, 96, 2).spins);
	assert_false(waiting(WRING_WAIT_SPIN, false, 96, 2).may_sleep);
	assert_false(waiting(WRING_WAIT_YIELD, false, 96, 2).spins);
	assert_false(waiting(WRING_WAIT_YIELD, false, 96, 2).may_sleep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_with_a_cpu_of_its_own_never_sleeps),
		cmocka_unit_test(crowded_ranks_sleep),
		cmocka_unit_test(a_driver_that_needs_a_cpu_makes_crowded_ranks),
		cmocka_unit_test(but_not_before_all_ranks_of_a_cpu_had_their_turn),
		cmocka_unit_test(who_asks_for_events_sleeps_soon_however_many_ranks),
		cmocka_unit_test(spin_and_yield_never_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
