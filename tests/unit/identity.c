/* identity.c: who shares a host, and where each rank stands in the ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bootstrap/identity.h"

enum { MOST = 16 };

static struct host_identity made_up(const char *boot_id, uint64_t pid_namespace)
{
	struct host_identity identity = {.pid_namespace = pid_namespace, .pid = 1};

	strcpy(identity.boot_id, boot_id);
	return identity;
}

/* hosts has a letter for each rank's host, "ABAB"; expected the ranks in ring order. */
static void check_order(const char *hosts, enum wring_ring ring, const int *expected)
{
	struct host_identity identities[MOST] = {0};
	int host_of_rank[MOST], order[MOST];
	int size = (int)strlen(hosts);

	for (int rank = 0; rank < size; rank++)
		identities[rank] = made_up((char[]){hosts[rank], '\0'}, 5);
	identity_hosts(identities, size, host_of_rank);
	for (int rank = 0; rank < size; rank++)
		assert_int_equal(host_of_rank[rank], strchr(hosts, hosts[rank]) - hosts);
	identity_ring_order(host_of_rank, size, ring, order);
	assert_memory_equal(order, expected, (size_t)size * sizeof(*order));
}

static void own_identity_is_complete(void **state)
{
	struct host_identity own, again;
	struct wring_error error;
	char host[64] = "";

	(void)state;
	assert_int_equal(identity_read(&own, &error), WRING_OK);
	assert_int_equal(strlen(own.boot_id), 36);
	assert_true(own.pid_namespace > 0);
	assert_int_equal(own.pid, getpid());
	(void)gethostname(host, sizeof(host) - 1);
	assert_string_equal(own.host, host);
	assert_int_equal(identity_read(&again, NULL), WRING_OK);
	assert_memory_equal(&own, &again, sizeof(own));
	assert_true(identity_same_host(&own, &again));
}

static void a_child_shares_the_host(void **state)
{
	struct host_identity own, other;
	int pipe_ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipe_ends), 0);
	child = fork();
	if (child == 0) {
		status = identity_read(&other, NULL) != WRING_OK ||
			 write(pipe_ends[1], &other, sizeof(other)) != sizeof(other);
		_exit(status);
	}
	assert_int_equal(read(pipe_ends[0], &other, sizeof(other)), sizeof(other));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	assert_int_equal(identity_read(&own, NULL), WRING_OK);
	assert_int_equal(other.pid, child);
	assert_true(identity_same_host(&own, &other));
}

static void same_host_takes_boot_id_and_pid_namespace(void **state)
{
	struct host_identity a = made_up("x", 5), b = made_up("x", 5);

	(void)state;
	strcpy(a.host, "node1");
	b.pid = 2;
	assert_true(identity_same_host(&a, &b));
	b.pid_namespace = 6;
	assert_false(identity_same_host(&a, &b));
	b = made_up("y", 5);
	strcpy(b.host, "node1");
	assert_false(identity_same_host(&a, &b));
}

static void nobody_shares_an_unknown_host(void **state)
{
	struct host_identity a = made_up("", 0), b = made_up("", 0);

	(void)state;
	assert_false(identity_same_host(&a, &b));
}

static void host_order_keeps_hosts_together(void **state)
{
	(void)state;
	check_order("A", WRING_RING_HOST, (const int[]){0});
	check_order("AAAA", WRING_RING_HOST, (const int[]){0, 1, 2, 3});
	check_order("ABCD", WRING_RING_HOST, (const int[]){0, 1, 2, 3});
	check_order("AABB", WRING_RING_HOST, (const int[]){0, 1, 2, 3});
	check_order("ABAB", WRING_RING_HOST, (const int[]){0, 2, 1, 3});
	check_order("ABCABC", WRING_RING_HOST, (const int[]){0, 3, 1, 4, 2, 5});
	check_order("ABBBA", WRING_RING_HOST, (const int[]){0, 4, 1, 2, 3});
	check_order("BACCAB", WRING_RING_HOST, (const int[]){0, 5, 1, 4, 2, 3});
}

static void rank_order_is_the_ranks_whatever_the_placement(void **state)
{
	(void)state;
	check_order("ABAB", WRING_RING_RANK, (const int[]){0, 1, 2, 3});
	check_order("BACCAB", WRING_RING_RANK, (const int[]){0, 1, 2, 3, 4, 5});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_identity_is_complete),
		cmocka_unit_test(a_child_shares_the_host),
		cmocka_unit_test(same_host_takes_boot_id_and_pid_namespace),
		cmocka_unit_test(nobody_shares_an_unknown_host),
		cmocka_unit_test(host_order_keeps_hosts_together),
		cmocka_unit_test(rank_order_is_the_ranks_whatever_the_placement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
