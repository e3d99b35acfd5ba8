/* fake_verbs_data.c: the calls of the data path: a write is a memcpy, completions are queued. */
#include "tests/harness/fake_verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc *entries;
	int depth, first, n;
	bool armed;
};

static struct fake_cq *cq_of(struct ibv_cq *cq)
{
	return (struct fake_cq *)(void *)cq;
}

struct ibv_cq *fake_new_cq(struct ibv_context *context, struct ibv_comp_channel *channel, int depth)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	cq->entries = calloc((size_t)depth, sizeof(*cq->entries));
	cq->depth = depth;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cqe = depth;
	return &cq->cq;
}

void fake_free_cq(struct ibv_cq *cq)
{
	if (cq->comp_events_completed)
		fake_break_rule("a completion event was not acknowledged");
	free(cq_of(cq)->entries);
	free(cq_of(cq));
}

static void push(struct ibv_cq *ibv_cq, const struct ibv_wc *wc)
{
	struct fake_cq *cq = cq_of(ibv_cq);

	if (cq->n == cq->depth) {
		fake_break_rule("the completion queue overflows");
		return;
	}
	cq->entries[(cq->first + cq->n++) % cq->depth] = *wc;
	if (cq->armed && write(ibv_cq->channel->refcnt, &ibv_cq, sizeof(ibv_cq)) < 0)
		abort();
	cq->armed = false;
}

/* Only wr_id, status, qp_num and vendor_err of a failed completion are valid; the rest is noise. */
static struct ibv_wc make_wc(const struct fake_qp *qp, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	memset(&wc, status ? 0x5a : 0, sizeof(wc));
	wc.wr_id = id;
	wc.status = status;
	wc.vendor_err = status ? 0x81 : 0;
	wc.qp_num = qp->qp.qp_num;
	return wc;
}

static int poll_cq(struct ibv_cq *ibv_cq, int room, struct ibv_wc *wcs)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	struct fake_cq *cq = cq_of(ibv_cq);
	struct fake_qp *qp;
	int n = 0;

	if (fake_fails("ibv_poll_cq"))
		return -1;
	for (; n < room && cq->n; n++, cq->n--) {
		wcs[n] = cq->entries[cq->first];
		cq->first = (cq->first + 1) % cq->depth;
		qp = fake_qp_of(wcs[n].qp_num);
		if (qp && !wcs[n].status && wcs[n].opcode == IBV_WC_RDMA_WRITE)
			qp->retired = wcs[n].byte_len;
	}
	return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();

	(void)solicited_only;
	if (fake_fails("ibv_req_notify_cq"))
		return errno;
	cq_of(cq)->armed = true;
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	if (read(channel->fd, cq, sizeof(*cq)) != (ssize_t)sizeof(*cq))
		return -1;
	*context = NULL;
	(*cq)->comp_events_completed++;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	cq->comp_events_completed -= n;
}

/* --- receiving ----------------------------------------------------------------------------- */

static int post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	struct fake_qp *qp = fake_qp_of(ibv_qp->qp_num);

	for (; wr; wr = wr->next) {
		*bad = wr;
		if (fake_fails("ibv_post_recv"))
			return errno;
		if (wr->num_sge)
			fake_break_rule("a receive with memory");
		if (qp->receives == qp->cap.max_recv_wr) {
			fake_break_rule("the receive queue overflows");
			return ENOMEM;
		}
		qp->receives++;
		qp->receive_id = wr->wr_id;
	}
	return 0;
}

void fake_flush_qp(struct fake_qp *qp)
{
	struct ibv_wc wc = make_wc(qp, qp->receive_id, IBV_WC_WR_FLUSH_ERR);

	for (; qp->receives; qp->receives--)
		push(qp->qp.recv_cq, &wc);
}

void fake_break_qp(uint32_t qp_num)
{
	struct fake_qp *qp = fake_qp_of(qp_num);

	qp->qp.state = IBV_QPS_ERR;
	fake_flush_qp(qp);
}

/* --- sending ------------------------------------------------------------------------------- */

static const struct ibv_mr *region_of(uint32_t key, uint64_t address, size_t len, bool remote)
{
	const struct ibv_mr *mr;

	for (int i = 0; i < FAKE_MRS; i++) {
		mr = fake.mrs[i];
		if (mr && key && (remote ? mr->rkey : mr->lkey) == key &&
		    address >= (uintptr_t)mr->addr &&
		    address + len <= (uintptr_t)mr->addr + mr->length)
			return mr;
	}
	return NULL;
}

static size_t length_of(const struct ibv_send_wr *wr)
{
	size_t len = 0;

	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

static void check_send(const struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	size_t len = length_of(wr);

	if (len == 0 || len > qp->device->ports[0].attr.max_msg_sz)
		fake_break_rule("a write of no bytes, or of more than max_msg_sz");
	if (wr->num_sge > (int)qp->cap.max_send_sge)
		fake_break_rule("more sources than max_send_sge");
	if ((wr->send_flags & IBV_SEND_INLINE) && len > qp->cap.max_inline_data)
		fake_break_rule("more inline than max_inline_data");
	for (int i = 0; i < wr->num_sge && !(wr->send_flags & IBV_SEND_INLINE); i++)
		if (!region_of(sge[i].lkey, sge[i].addr, sge[i].length, false))
			fake_break_rule("a source that is not registered");
}

static struct fake_qp *remote_of(const struct fake_qp *qp)
{
	struct fake_qp *remote = fake_qp_of(qp->attr.dest_qp_num);

	if (!remote || remote->qp.state < IBV_QPS_RTR || remote->qp.state > IBV_QPS_RTS)
		return NULL;
	if (remote->attr.rq_psn != qp->attr.sq_psn || remote->attr.path_mtu != qp->attr.path_mtu)
		fake_break_rule("both ends have another PSN or MTU");
	return remote;
}

static void copy_sources(const struct ibv_send_wr *wr)
{
	unsigned char *to = (unsigned char *)(uintptr_t)wr->wr.rdma.remote_addr;

	for (int i = 0; i < wr->num_sge; to += wr->sg_list[i].length, i++)
		memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
}

/* What the network does with a write. */
static enum ibv_wc_status deliver(const struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct fake_qp *remote = remote_of(qp);
	struct ibv_wc wc;

	if (!remote)
		return IBV_WC_RETRY_EXC_ERR;
	if (!(remote->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) ||
	    !region_of(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, length_of(wr), true))
		return IBV_WC_REM_ACCESS_ERR;
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && !remote->receives)
		return IBV_WC_RNR_RETRY_EXC_ERR;
	copy_sources(wr);
	if (wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
		return IBV_WC_SUCCESS;
	wc = make_wc(remote, remote->receive_id, IBV_WC_SUCCESS);
	wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	wc.wc_flags = IBV_WC_WITH_IMM;
	wc.imm_data = wr->imm_data;
	remote->receives--;
	push(remote->qp.recv_cq, &wc);
	return IBV_WC_SUCCESS;
}

/* The queue has room again only when a signalled completion was polled: byte_len says up to which
 * send. */
static void complete(struct fake_qp *qp, const struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_wc wc = make_wc(qp, wr->wr_id, status);

	if (!status && !(wr->send_flags & IBV_SEND_SIGNALED))
		return;
	if (!status) {
		wc.opcode = IBV_WC_RDMA_WRITE;
		wc.byte_len = qp->posted;
	}
	if (!fake.hold_sends)
		push(qp->qp.send_cq, &wc);
	else
		qp->held[qp->n_held++] = wc;
}

void fake_release(void)
{
	struct fake_qp *qp;

	for (int i = 0; i < FAKE_QPS; i++) {
		qp = &fake.qps[i];
		for (uint32_t k = 0; qp->alive && k < qp->n_held; k++)
			push(qp->qp.send_cq, &qp->held[k]);
		qp->n_held = 0;
	}
}

static void count(const struct ibv_send_wr *wr)
{
	fake.writes++;
	fake.notices += wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	fake.inlined += (wr->send_flags & IBV_SEND_INLINE) != 0;
	fake.signalled += (wr->send_flags & IBV_SEND_SIGNALED) != 0;
	fake.gathered += wr->num_sge > 1;
}

static enum ibv_wc_status send_one(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	enum ibv_wc_status status = fake.next_status;

	check_send(qp, wr);
	count(wr);
	if (qp->qp.state == IBV_QPS_ERR)
		return IBV_WC_WR_FLUSH_ERR;
	if (qp->qp.state != IBV_QPS_RTS)
		fake_break_rule("a send before RTS");
	fake.next_status = IBV_WC_SUCCESS;
	if (status && fake.drop_writes)
		return status;
	return status ? status : deliver(qp, wr);
}

static int post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	__attribute__((cleanup(fake_leave), unused)) const bool entered = fake_enter();
	struct fake_qp *qp = fake_qp_of(ibv_qp->qp_num);
	enum ibv_wc_status status;

	*bad = wr;
	if (fake_fails("ibv_post_send"))
		return errno;
	if (qp->posted - qp->retired == qp->cap.max_send_wr) {
		fake_break_rule("the send queue overflows");
		return ENOMEM;
	}
	qp->posted++;
	status = send_one(qp, wr);
	complete(qp, wr, status);
	if (status && status != IBV_WC_WR_FLUSH_ERR)
		fake_break_qp(qp->qp.qp_num);
	return 0;
}

void fake_set_data_ops(struct ibv_context *context)
{
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
}
