/* error.c: what a failed verbs call or completion is called, and what to try next. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "transport/verbs/sysfs.h"
#include "transport/verbs/verbs_state.h"

/* "rxe0 port 1, rank 3: " */
static void write_place(const struct verbs *verbs, int peer, char *text, size_t len)
{
	if (peer < 0)
		(void)snprintf(text, len, "%s port %d", verbs->device, verbs->port);
	else
		(void)snprintf(text, len, "%s port %d, link to rank %d", verbs->device, verbs->port,
			       peer);
}

enum wring_status verbs_call_failed(const struct verbs *verbs, int peer, const char *call,
				    int native, const char *next, struct wring_error *error)
{
	char place[128];

	write_place(verbs, peer, place, sizeof(place));
	return error_native(error, WRING_ERR_TRANSPORT, native, "%s: %s: %s; %s", place, call,
			    strerror(native), next);
}

static void write_memlock(char *text, size_t len)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		(void)snprintf(text, len, "RLIMIT_MEMLOCK cannot be read");
	else if (limit.rlim_cur == RLIM_INFINITY)
		(void)snprintf(text, len,
			       "RLIMIT_MEMLOCK is unlimited, so the device or the machine has "
			       "no more; free memory or use fewer and smaller buffers");
	else
		(void)snprintf(text, len,
			       "RLIMIT_MEMLOCK is %" PRIu64
			       " bytes in all; raise it: ulimit -l unlimited where the ranks are "
			       "started, or memlock in /etc/security/limits.conf",
			       (uint64_t)limit.rlim_cur);
}

enum wring_status verbs_pin_failed(const struct verbs *verbs, const char *call, int native,
				   size_t bytes, struct wring_error *error)
{
	char memlock[256], place[128];

	/* rxe reports EINVAL or EFAULT for memory that is not there; only these mean "no room". */
	if (native != ENOMEM && native != EAGAIN && native != EPERM)
		return verbs_call_failed(verbs, -1, call, native,
					 "is the memory mapped, and may it be written?", error);
	write_place(verbs, -1, place, sizeof(place));
	write_memlock(memlock, sizeof(memlock));
	return error_native(error, WRING_ERR_NOMEM, native, "%s: %s of %zu bytes: %s; %s", place,
			    call, bytes, strerror(native), memlock);
}

void verbs_note(struct verbs *verbs, int peer, int native, const char *format, ...)
{
	struct wring_error *error = &verbs->error;
	char place[128], text[sizeof(error->text)];
	va_list args;

	if (error->status)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	write_place(verbs, peer, place, sizeof(place));
	(void)error_native(error, WRING_ERR_TRANSPORT, native, "%s: %s", place, text);
	error->rank = peer >= 0 ? peer : verbs->transport->rank;
}

void verbs_tell(struct verbs *verbs)
{
	struct wring_error error = verbs->error;

	if (!error.status)
		return;
	verbs->error = (struct wring_error){.status = WRING_OK};
	transport_fail(verbs->transport, &error);
}

/* What a status means for who uses Wring. */
static const char *next_step(enum ibv_wc_status status)
{
	switch ((int)status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer has died or its network is cut: look for its process, ping its "
		       "address";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer had no receive posted, which Wring never lets happen: please "
		       "report it";
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		return "a buffer was unmapped or deregistered while it was in use";
	case IBV_WC_LOC_LEN_ERR:
		return "do both ends have the same MTU? wring-info shows it";
	default:
		return "dmesg may tell more";
	}
}

/* What is wrong with the port itself just now; "" if nothing is. A driver that cannot send says so
 * before the state of its port has changed. */
static void write_port_fault(const struct verbs *verbs, const struct ibv_wc *wc, char *text,
			     size_t len)
{
	struct ibv_port_attr attr;
	struct verbs_gid gid;
	char netdev[64];

	text[0] = '\0';
	if (ibv_query_port(verbs->context, (uint8_t)verbs->port, &attr))
		return;
	verbs_netdev(verbs->context->device, verbs->port, netdev, sizeof(netdev));
	if (attr.state != IBV_PORT_ACTIVE) {
		(void)snprintf(text, len, "the port of rank %d is %s: ip link set %s up",
			       verbs->transport->rank, ibv_port_state_str(attr.state),
			       *netdev ? netdev : "NETDEV");
		return;
	}
	if (verbs->gid.class != GID_EMPTY) {
		verbs_gid_read(verbs->context, verbs->port, verbs->gid.index, &gid);
		if (memcmp(&gid.value, &verbs->gid.value, sizeof(gid.value)) != 0) {
			(void)snprintf(text, len,
				       "the GID of rank %d (index %d) is gone: ip addr show %s",
				       verbs->transport->rank, verbs->gid.index, netdev);
			return;
		}
	}
	if (wc->status == IBV_WC_LOC_QP_OP_ERR)
		(void)snprintf(text, len,
			       "the port of rank %d may be down: ip link set %s up, wring-info",
			       verbs->transport->rank, *netdev ? netdev : "NETDEV");
}

void verbs_loss(const struct verbs *verbs, char *text, size_t len)
{
	struct verbs_counters now;

	verbs_counters_read(verbs->context->device->ibdev_path, verbs->port, &now);
	(void)verbs_counters_grown(&verbs->counters, &now, text, len);
}

/* Of a failed completion only wr_id, status, qp_num and vendor_err are valid. */
void verbs_note_completion(struct verbs_link *vl, const struct ibv_wc *wc)
{
	struct verbs *verbs = vl->verbs;
	int peer = vl->link->peer;
	char loss[160], fault[160];

	if (verbs->error.status)
		return;
	write_port_fault(verbs, wc, fault, sizeof(fault));
	verbs_loss(verbs, loss, sizeof(loss));
	verbs_note(verbs, peer, (int)wc->status,
		   "%s completion: %s (status %d, vendor 0x%x); %s%s%s",
		   wc->wr_id & ID_RECEIVE ? "receive" : "send", ibv_wc_status_str(wc->status),
		   (int)wc->status, wc->vendor_err, *fault ? fault : next_step(wc->status),
		   *loss ? "; " : "", loss);
	if (*fault)
		verbs->error.rank = verbs->transport->rank;
	if (wc->status == IBV_WC_RETRY_EXC_ERR && !*fault)
		verbs->error.status = WRING_ERR_PEER;
}
