/* fake_verbs.c: the calls that set up: devices, ports, regions, queue pairs and their states. */
#include "tests/harness/fake_verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

struct fake fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct fake_device *device_of(const struct ibv_context *context)
{
	return (struct fake_device *)(void *)context->device;
}

bool fake_enter(void)
{
	return pthread_mutex_lock(&lock) == 0;
}

void fake_leave(const bool *entered)
{
	if (*entered)
		(void)pthread_mutex_unlock(&lock);
}

bool fake_fails(const char *call)
{
	if (++fake.calls != fake.fail_at)
		return false;
	(void)snprintf(fake.failed_call, sizeof(fake.failed_call), "%s", call);
	errno = EIO;
	return true;
}

void fake_break_rule(const char *rule)
{
	fake.broken++;
	(void)snprintf(fake.broken_rule, sizeof(fake.broken_rule), "%s", rule);
}

/* --- what a test sets ----------------------------------------------------------------------- */

void fake_set_gid(struct fake_gid *gid, const char *address, uint32_t type)
{
	struct in_addr v4;

	*gid = (struct fake_gid){.type = type};
	if (inet_pton(AF_INET, address, &v4) == 1) {
		gid->value.raw[10] = gid->value.raw[11] = 0xff;
		memcpy(gid->value.raw + 12, &v4, sizeof(v4));
	} else if (inet_pton(AF_INET6, address, gid->value.raw) != 1) {
		fake_break_rule("the test's own GID cannot be read");
	}
}

static void fill_port(struct fake_port *port, int number)
{
	char address[32];

	port->attr = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_1024,
		.gid_tbl_len = FAKE_GIDS,
		.max_msg_sz = 1u << 23,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	for (int i = 0; i < FAKE_GIDS; i++)
		port->gids[i].error = ENODATA;
	(void)snprintf(address, sizeof(address), "fe80::%d", number);
	fake_set_gid(&port->gids[0], address, IBV_GID_TYPE_ROCE_V2);
	(void)snprintf(address, sizeof(address), "10.77.0.%d", number);
	fake_set_gid(&port->gids[1], address, IBV_GID_TYPE_ROCE_V2);
}

static void fill_device(struct fake_device *device, int number)
{
	device->device.node_type = IBV_NODE_CA;
	device->device.transport_type = IBV_TRANSPORT_IB;
	(void)snprintf(device->device.name, sizeof(device->device.name), "fake%d", number);
	(void)snprintf(device->device.dev_name, sizeof(device->device.dev_name), "uverbs%d",
		       number);
	(void)snprintf(device->device.ibdev_path, sizeof(device->device.ibdev_path),
		       "/nowhere/fake%d", number);
	device->limits = (struct ibv_device_attr){
		.max_qp = 100,
		.max_qp_wr = 1000,
		.max_sge = 4,
		.max_cqe = 10000,
		.phys_port_cnt = 1,
	};
	device->max_inline = 64;
	for (int i = 0; i < FAKE_PORTS; i++)
		fill_port(&device->ports[i], 10 * i + number + 1);
}

void fake_reset(int n)
{
	memset(&fake, 0, sizeof(fake));
	fake.n_devices = n;
	fake.fork_status = IBV_FORK_UNNEEDED;
	for (int i = 0; i < n; i++)
		fill_device(&fake.devices[i], i);
}

void fake_make_infiniband(struct fake_device *device, uint16_t lid)
{
	struct fake_port *port = &device->ports[0];
	char address[64];

	port->attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	port->attr.lid = lid;
	(void)snprintf(address, sizeof(address), "fe80::2:c903:0:%x", lid);
	fake_set_gid(&port->gids[0], address, IBV_GID_TYPE_IB);
	port->gids[1].error = ENODATA;
}

void fake_raise(struct ibv_context *context, enum ibv_event_type type, int port, uint32_t qp_num)
{
	struct ibv_async_event event;

	memset(&event, 0, sizeof(event));
	event.event_type = type;
	if (qp_num)
		event.element.qp = &fake_qp_of(qp_num)->qp;
	else
		event.element.port_num = port;
	if (write((int)(intptr_t)context->abi_compat, &event, sizeof(event)) != sizeof(event))
		fake_break_rule("the test's event pipe is full");
}

/* --- devices ------------------------------------------------------------------------------- */

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list;

	if (fake_fails("ibv_get_device_list"))
		return NULL;
	list = calloc(FAKE_DEVICES + 1, sizeof(*list));
	for (int i = 0; i < fake.n_devices; i++)
		list[i] = &fake.devices[i].device;
	if (n)
		*n = fake.n_devices;
	fake.objects++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	fake.objects--;
	free(list);
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return (enum ibv_fork_status)fake.fork_status;
}

int ibv_fork_init(void)
{
	fake.fork_inits++;
	return 0;
}

/* abi_compat holds the end of a pipe by which the test raises async events. */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;
	int fds[2];

	errno = ((struct fake_device *)(void *)device)->open_error;
	if (errno || fake_fails("ibv_open_device") || pipe(fds))
		return NULL;
	context = calloc(1, sizeof(*context));
	context->device = device;
	context->num_comp_vectors = 1;
	context->async_fd = fds[0];
	context->abi_compat = (void *)(intptr_t)fds[1];
	fake_set_data_ops(context);
	fake.objects++;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)close(context->async_fd);
	(void)close((int)(intptr_t)context->abi_compat);
	free(context);
	fake.objects--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	if (fake_fails("ibv_query_device"))
		return errno;
	*attr = device_of(context)->limits;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	if (fake_fails("ibv_query_port"))
		return errno;
	memcpy(attr, &device_of(context)->ports[port - 1].attr, sizeof(struct ibv_port_attr));
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	const struct fake_gid *gid;

	(void)flags;
	(void)size;
	if (index >= FAKE_GIDS)
		return EINVAL;
	gid = &device_of(context)->ports[port - 1].gids[index];
	if (gid->error)
		return gid->error;
	*entry = (struct ibv_gid_entry){
		.gid = gid->value, .gid_index = index, .port_num = port, .gid_type = gid->type};
	return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	if (read(context->async_fd, event, sizeof(*event)) != (ssize_t)sizeof(*event))
		return -1;
	fake.objects++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	fake.objects--;
}

/* --- small objects ------------------------------------------------------------------------- */

static void *new_object(const char *call, size_t size)
{
	if (fake_fails(call))
		return NULL;
	fake.objects++;
	return calloc(1, size);
}

static int free_object(void *object)
{
	fake.objects--;
	free(object);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = new_object("ibv_alloc_pd", sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return free_object(pd);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	(void)pd;
	(void)attr;
	return new_object("ibv_create_ah", sizeof(struct ibv_ah));
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	return free_object(ah);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel;
	int fds[2];

	channel = new_object("ibv_create_comp_channel", sizeof(*channel));
	if (!channel)
		return NULL;
	if (pipe(fds))
		abort();
	channel->context = context;
	channel->fd = fds[0];
	channel->refcnt = fds[1]; /* the end by which events come */
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	(void)close(channel->fd);
	(void)close(channel->refcnt);
	return free_object(channel);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	int error = device_of(pd->context)->mr_error, i = 0;
	struct ibv_mr *mr;

	if ((access & IBV_ACCESS_REMOTE_WRITE) && !(access & IBV_ACCESS_LOCAL_WRITE))
		fake_break_rule("remote write without local write");
	mr = new_object("ibv_reg_mr", sizeof(*mr));
	if (!mr)
		return NULL;
	if (error) {
		(void)free_object(mr);
		errno = error;
		return NULL;
	}
	while (fake.mrs[i])
		i++;
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = len};
	mr->lkey = 0x1000u + (uint32_t)i;
	mr->rkey = access & IBV_ACCESS_REMOTE_WRITE ? 0x2000u + (uint32_t)i : 0;
	fake.mrs[i] = mr;
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();

	fake.mrs[mr->lkey - 0x1000u] = NULL;
	return free_object(mr);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int depth, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	int largest = device_of(context)->largest_cq;

	(void)cq_context;
	if (vector < 0 || vector >= context->num_comp_vectors)
		fake_break_rule("completion vector out of range");
	if (depth > device_of(context)->limits.max_cqe)
		fake_break_rule("deeper than max_cqe");
	if (fake_fails("ibv_create_cq"))
		return NULL;
	if (largest && depth > largest) {
		errno = ENOMEM;
		return NULL;
	}
	fake.objects++;
	return fake_new_cq(context, channel, depth);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	fake_free_cq(cq);
	fake.objects--;
	return 0;
}

/* --- queue pairs --------------------------------------------------------------------------- */

struct fake_qp *fake_qp_of(uint32_t qp_num)
{
	for (int i = 0; i < FAKE_QPS; i++)
		if (fake.qps[i].alive && fake.qps[i].qp.qp_num == qp_num)
			return &fake.qps[i];
	return NULL;
}

static int refuses_qp(const struct fake_device *device, const struct ibv_qp_init_attr *attr)
{
	if (attr->cap.max_send_wr > (uint32_t)device->limits.max_qp_wr ||
	    attr->cap.max_recv_wr > (uint32_t)device->limits.max_qp_wr)
		fake_break_rule("deeper than max_qp_wr");
	if (device->refuses_inline && attr->cap.max_inline_data > device->max_inline)
		return EINVAL;
	if (device->largest_qp && attr->cap.max_send_wr > device->largest_qp)
		return ENOMEM;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	struct fake_device *device = device_of(pd->context);
	struct fake_qp *qp = fake.qps;

	if (fake_fails("ibv_create_qp"))
		return NULL;
	errno = refuses_qp(device, attr);
	if (errno)
		return NULL;
	while (qp->alive)
		qp++;
	if (attr->cap.max_inline_data > device->max_inline)
		attr->cap.max_inline_data = device->max_inline;
	*qp = (struct fake_qp){.device = device, .cap = attr->cap, .alive = true};
	qp->qp.context = pd->context;
	qp->qp.qp_context = attr->qp_context;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.qp_num = 0x10u + (uint32_t)(qp - fake.qps);
	fake.objects++;
	return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();

	fake_qp_of(qp->qp_num)->alive = false;
	fake.objects--;
	return 0;
}

static const char *modify_name(enum ibv_qp_state state)
{
	switch ((int)state) {
	case IBV_QPS_INIT:
		return "ibv_modify_qp to INIT";
	case IBV_QPS_RTR:
		return "ibv_modify_qp to RTR";
	case IBV_QPS_RTS:
		return "ibv_modify_qp to RTS";
	default:
		return "ibv_modify_qp";
	}
}

/* Each state must be reached from the one before it. */
static void check_order(const struct fake_qp *qp, enum ibv_qp_state next)
{
	enum ibv_qp_state now = qp->qp.state;

	if (next != IBV_QPS_ERR && (int)next != (int)now + 1)
		fake_break_rule("queue pair states out of order");
	if (next == IBV_QPS_RTR && !qp->receives)
		fake_break_rule("ready to receive without receives");
}

static void collect(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_AV)
		fake.last_path = qp->attr.ah_attr = attr->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		qp->attr.path_mtu = attr->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		qp->attr.rq_psn = attr->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn;
	if (mask & IBV_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
}

int ibv_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	struct fake_qp *qp = fake_qp_of(ibv_qp->qp_num);

	if (attr->qp_state != IBV_QPS_ERR && fake_fails(modify_name(attr->qp_state)))
		return errno;
	check_order(qp, attr->qp_state);
	collect(qp, attr, mask);
	qp->qp.state = attr->qp_state;
	if (attr->qp_state == IBV_QPS_ERR)
		fake_flush_qp(qp);
	return 0;
}
