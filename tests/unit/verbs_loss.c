/* verbs_loss.c: the port's counts of lost packets stand where the user looks for a cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/harness/fake_pair_talk.h"

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Since the port was opened, 5 packets were sent again: gives the directory that says so. */
static void count_loss(char *root, size_t len)
{
	static const char *const parts[] = {"/ports", "/1", "/hw_counters"};
	char path[256];
	FILE *file;

	(void)snprintf(root, len, "/tmp/wring-counters-XXXXXX");
	assert_non_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "%s", root);
	for (int i = 0; i < 3; i++) {
		(void)strcat(path, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	(void)strcat(path, "/completer_retry_err");
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("5\n", file);
	(void)fclose(file);
	(void)snprintf(fake.devices[0].device.ibdev_path, sizeof(fake.devices[0].device.ibdev_path),
		       "%s", root);
}

static void loss_is_told_while_waiting_and_at_the_end(void **state)
{
	static const char loss[] = "; loss on this path: completer_retry_err +5";
	static char hosts[2][64] = {"left", "right"};
	struct transport *transport = &pair.ends[0].transport;
	struct idle idle = {0};
	char root[64];

	(void)state;
	count_loss(root, sizeof(root));
	transport->peer_host = hosts;
	transport->config.stall_ms = 1;
	transport->config.timeout_ms = 20;
	while (!transport->error.status)
		(void)transport_idle(transport, &idle, &(struct awaited){1, 1});
	assert_non_null(strstr(logged, "waiting for rank 1 on right"));
	assert_non_null(strstr(logged, loss));
	assert_int_equal(transport->error.status, WRING_ERR_TIMEOUT);
	assert_non_null(strstr(transport->error.text, loss));
	assert_int_equal(nftw(root, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
}

static void loss_is_told_with_a_failed_completion(void **state)
{
	const struct wring_error *failure = &pair.ends[0].transport.error;
	char root[64];

	(void)state;
	count_loss(root, sizeof(root));
	fake.next_status = IBV_WC_RETRY_EXC_ERR;
	link_copy(left, MESSAGE_DATA, &(struct signature){.operation = 1, .count = 1}, "\1", 1);
	verbs_poll(pair_verbs(&pair, 0));
	assert_int_equal(failure->status, WRING_ERR_PEER);
	assert_non_null(strstr(failure->text, "; loss on this path: completer_retry_err +5"));
	assert_int_equal(nftw(root, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(loss_is_told_while_waiting_and_at_the_end,
						setup_connected, teardown),
		cmocka_unit_test_setup_teardown(loss_is_told_with_a_failed_completion,
						setup_connected, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
