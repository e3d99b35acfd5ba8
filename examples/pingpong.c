/* pingpong.c: the first RDMA program to run: two processes, one RDMA Write each way. */
/* SPDX-License-Identifier: MIT */

/*
 * Start "pingpong", then, there or elsewhere, "pingpong HOST" with the name of the first machine.
 * Each process asks the kernel for a device and makes four things on it:
 *
 *	PD	protection domain: what belongs together
 *	MR	memory region: memory that the device may read and write by itself
 *	CQ	completion queue: where the device says what has been done
 *	QP	queue pair: one end of a connection; work is posted to it
 *
 * They tell each other over a socket how to reach these things, and connect the queue pairs:
 *
 *	post a receive                          post a receive
 *	RDMA Write "ping" ------------------->  "ping" is in memory; the receive completes
 *	"pong" is in memory  <----------------  RDMA Write "pong"
 *
 * The writer names the address in the other one's memory. The other CPU takes no part, so it would
 * not even notice: a Write *with immediate* carries 32 more bits and completes one receive over
 * there. That is the bell. There are three rounds, because in the first one all is cold.
 *
 * With -x a process destroys its queue pair and leaves. Try it on either side: the one that writes
 * gets an error from its device; the one that only waits gets nothing, and needs the clock.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char tcp_port[] = "47530";
static const char usage[] = "usage: pingpong [-d DEVICE] [-p PORT] [-x] [HOST]";
enum { ROUNDS = 3, MEET_SECONDS = 30, WAIT_SECONDS = 5, TEXT_BYTES = 192 };

/* What completes: our write (the other device has it all), or our receive (the bell). */
enum { WRITTEN = 1, ARRIVED = 2 };

/* What the device reads and writes: one region. The other process may write into it. */
static struct {
	char inbox[TEXT_BYTES], outbox[TEXT_BYTES];
} memory;

/* What each side tells the other: how to reach its queue pair, and where to write. */
struct card {
	unsigned qpn;	     /* number of the queue pair, 24 bits */
	unsigned psn;	     /* number that its first packet will bear, 24 bits */
	unsigned lid;	     /* address of the port in an InfiniBand subnet; 0 on Ethernet */
	unsigned mtu;	     /* enum ibv_mtu: 1 = 256 bytes ... 5 = 4096 */
	unsigned rkey;	     /* the key to the memory */
	unsigned long inbox; /* its address over there */
	union ibv_gid gid;   /* address of the port, 128 bits; on Ethernet an IP address */
};

struct end {
	const char *want_device; /* -d; NULL: any */
	int want_port;		 /* -p; 0: any */
	bool leave;		 /* -x */
	struct ibv_context *context;
	uint8_t port;
	struct ibv_port_attr attr;
	struct ibv_gid_entry gid;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t psn;
	struct card theirs;
	int tcp;
	unsigned completed; /* WRITTEN, ARRIVED */
	uint32_t arrived;   /* how many messages */
};

/* Every error: which call, why, what to try next. exit() gives everything back. */
__attribute__((noreturn)) static void fail(int error, const char *call, const char *advice)
{
	if (error == EAGAIN || error == EINPROGRESS)
		error = ETIMEDOUT; /* what a socket says at its time limit */
	fprintf(stderr, "pingpong: %s: %s%s%s\n", call, error ? strerror(error) : "",
		error ? "; " : "", advice);
	exit(1);
}

/* Verbs fail in two ways. What creates returns NULL and sets errno; ... */
static void *created(void *object, const char *call)
{
	if (!object)
		fail(errno, call, "is there memory to pin? \"ulimit -l\" shows the limit in KiB");
	return object;
}

/* ... everything else returns the errno value itself. */
static void check(int error, const char *call, const char *advice)
{
	if (error)
		fail(error, call, advice);
}

static const char how_to_get_a_device[] =
	"A network card can play an RDMA device (Soft-RoCE). As root:\n"
	"    apt-get install rdma-core ibverbs-providers iproute2    # Debian's names\n"
	"    modprobe crc32_generic; modprobe rdma_rxe    # both are in linux-image-amd64\n"
	"    rdma link add rxe0 type rxe netdev eth0      # or another card of \"ip link\"\n"
	"Or, without root, in the virtual machine that Wring's folder brings along:\n"
	"    tests/vm/run -- sh -c 'examples/pingpong & examples/pingpong localhost'\n";

/*
 * How good a GID is. A RoCE port has several, at other places on every machine: look at what they
 * say. RoCE v2 is UDP; with an IPv4 address (::ffff:a.b.c.d) it gets wherever ping does.
 */
static int rate_gid(const struct ibv_gid_entry *entry)
{
	const struct in6_addr *address = (const void *)&entry->gid;

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 1;
	if (IN6_IS_ADDR_V4MAPPED(address))
		return 4;
	return IN6_IS_ADDR_LINKLOCAL(address) ? 2 : 3;
}

static void choose_gid(struct end *end)
{
	struct ibv_gid_entry entry;
	int i, best = 0;

	for (i = 0; i < end->attr.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(end->context, end->port, (uint32_t)i, &entry, 0) != 0 ||
		    rate_gid(&entry) <= best)
			continue; /* no better, or empty, which is usual */
		best = rate_gid(&entry);
		end->gid = entry;
	}
	if (best == 0)
		fail(0, "ibv_query_gid_ex", "no GID; does the network card have an IP address?");
}

/* True if a port of this device will do; the device stays open then. */
static bool open_device(struct end *end, struct ibv_device *device)
{
	end->context = ibv_open_device(device);
	if (!end->context)
		return false;
	/* Ports count from 1; the first one that does not exist ends the loop. */
	for (end->port = 1; !ibv_query_port(end->context, end->port, &end->attr); end->port++) {
		if (end->want_port && end->port != end->want_port)
			continue;
		if (end->attr.state == IBV_PORT_ACTIVE)
			return true;
		fprintf(stderr, "pingpong: %s port %d is %s\n", ibv_get_device_name(device),
			end->port, ibv_port_state_str(end->attr.state));
	}
	(void)ibv_close_device(end->context);
	return false;
}

static void find_device(struct end *end)
{
	int i, n = 0;
	bool found = false;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list || n == 0) {
		fputs(how_to_get_a_device, stderr);
		fail(list ? 0 : errno, "ibv_get_device_list", "no RDMA device; see above");
	}
	for (i = 0; i < n && !found; i++) {
		if (end->want_device && strcmp(end->want_device, ibv_get_device_name(list[i])) != 0)
			continue;
		/* InfiniBand or RoCE; iWARP has no Write with immediate. */
		if (list[i]->transport_type == IBV_TRANSPORT_IB)
			found = open_device(end, list[i]);
	}
	ibv_free_device_list(list);
	if (!found)
		fail(0, end->want_device ? end->want_device : "ibv_get_device_list",
		     "no such active port; ibv_devinfo lists all");
	choose_gid(end);
}

static void create_queue_pair(struct end *end)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, /* reliable, connected: like TCP, but with messages */
		.cap = {.max_send_wr = 1, .max_recv_wr = ROUNDS, .max_send_sge = 1},
	};

	end->pd = created(ibv_alloc_pd(end->context), "ibv_alloc_pd");
	/*
	 * Registering pins the pages and gives two keys: the lkey for our own work, the rkey for
	 * the other side. What others may write, the device must be allowed to write at all. The CQ
	 * needs room for all that may complete: a write, and each receive.
	 */
	end->mr = created(ibv_reg_mr(end->pd, &memory, sizeof(memory),
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
			  "ibv_reg_mr");
	end->cq = created(ibv_create_cq(end->context, 1 + ROUNDS, NULL, NULL, 0), "ibv_create_cq");
	init.send_cq = init.recv_cq = end->cq;
	end->qp = created(ibv_create_qp(end->pd, &init), "ibv_create_qp");
}

/*
 * A queue pair is connected by three changes of state: RESET -> INIT -> RTR -> RTS.
 * INIT: it belongs to a port; the other side may write, not read; receives may be posted.
 */
static void become_init(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = end->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	check(ibv_modify_qp(end->qp, &attr, mask), "ibv_modify_qp to INIT", "look at dmesg");
}

/*
 * How packets find the other side. InfiniBand's switches need the LID, and routers between subnets
 * the GRH (global routing header) with the GIDs. RoCE always has a GRH: it becomes the IP header.
 */
static struct ibv_ah_attr describe_path(const struct end *end)
{
	const union ibv_gid *ours = &end->gid.gid, *theirs = &end->theirs.gid;
	struct ibv_ah_attr path = {.dlid = (uint16_t)end->theirs.lid, .port_num = end->port};

	if (end->attr.link_layer == IBV_LINK_LAYER_ETHERNET ||
	    ours->global.subnet_prefix != theirs->global.subnet_prefix ||
	    (end->attr.flags & IBV_QPF_GRH_REQUIRED)) {
		path.is_global = 1;
		path.grh.dgid = *theirs;
		path.grh.sgid_index = (uint8_t)end->gid.gid_index;
		path.grh.hop_limit = 64; /* routers on the way; 1 would forbid any */
	}
	return path;
}

/* RTR, ready to receive: now it knows the other one. Both must use the smaller of the two MTUs. */
static void become_rtr(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = end->attr.active_mtu,
		.dest_qp_num = end->theirs.qpn,
		.rq_psn = end->theirs.psn,
		.min_rnr_timer = 12, /* what it says when no receive is posted: wait 0.64 ms */
		.ah_attr = describe_path(end),
	};
	int mask = IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_MAX_DEST_RD_ATOMIC;

	if (attr.path_mtu > end->theirs.mtu)
		attr.path_mtu = end->theirs.mtu;
	check(ibv_modify_qp(end->qp, &attr, mask), "ibv_modify_qp to RTR",
	      "does ping reach the IP address in the other side's GID?");
}

/* RTS, ready to send: how patient it is. */
static void become_rts(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = end->psn,
		.timeout = 14,	/* no answer after 4.096 us x 2^14 = 67 ms: send again */
		.retry_cnt = 6, /* 6 times, so 0.5 s in all. (Soft-RoCE takes 7 for "for ever") */
		.rnr_retry = 0, /* a receive is always there: if not, we want to hear of it */
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

	check(ibv_modify_qp(end->qp, &attr, mask), "ibv_modify_qp to RTS", "look at dmesg");
}

/* A receive without memory: the Write brings its own address. Only the bell is needed. */
static void post_receive(struct end *end)
{
	struct ibv_recv_wr wr = {.wr_id = ARRIVED, .num_sge = 0}, *bad;

	check(ibv_post_recv(end->qp, &wr, &bad), "ibv_post_recv", "is it in INIT or later?");
}

/* From our outbox into their inbox. The immediate travels in network byte order. */
static struct ibv_send_wr fill_write(const struct end *end, struct ibv_sge *sge, uint32_t round)
{
	*sge = (struct ibv_sge){
		.addr = (uintptr_t)memory.outbox, .length = TEXT_BYTES, .lkey = end->mr->lkey};
	return (struct ibv_send_wr){
		.wr_id = WRITTEN,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, /* we want to hear when it is done */
		.sg_list = sge,
		.num_sge = 1,
		.wr.rdma = {.remote_addr = end->theirs.inbox, .rkey = end->theirs.rkey},
		.imm_data = htonl(round),
	};
}

static void post_write(struct end *end, uint32_t round)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fill_write(end, &sge, round), *bad;

	check(ibv_post_send(end->qp, &wr, &bad), "ibv_post_send", "is it in RTS?");
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The status first: unless it is success, only wr_id, status, qp_num and vendor_err are valid. */
static void take(struct end *end, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "pingpong: the %s has failed: status %d, vendor error %u\n",
			wc->wr_id == WRITTEN ? "write" : "receive", wc->status, wc->vendor_err);
		fail(0, ibv_wc_status_str(wc->status),
		     "has the other side ended? does ping reach its GID, and UDP its port 4791?");
	}
	if (wc->wr_id == ARRIVED && wc->imm_data != htonl(++end->arrived))
		fail(0, "ibv_poll_cq", "an unexpected immediate: is the other side this program?");
	end->completed |= (unsigned)wc->wr_id;
}

/* Never without a deadline: while we have nothing to send, our device misses nobody. */
static void wait_for(struct end *end, unsigned what)
{
	double deadline = now() + WAIT_SECONDS;
	struct ibv_wc wc;
	int n, empty = 0;

	while ((end->completed & what) != what) {
		n = ibv_poll_cq(end->cq, 1, &wc);
		if (n > 0)
			take(end, &wc);
		else if (n < 0)
			fail(0, "ibv_poll_cq", "look at dmesg");
		else if (now() > deadline)
			fail(ETIMEDOUT, "ibv_poll_cq", "no completion: has the other side ended?");
		else if (++empty > 100)
			(void)usleep(20); /* a software device may need this very CPU */
	}
	end->completed &= ~what;
}

/* The socket over which the two meet. All of it is limited in time; what accept gives, too. */
static int meet(const char *host)
{
	struct addrinfo *address, hints = {.ai_family = AF_INET, .ai_flags = AI_PASSIVE};
	struct timeval limit = {.tv_sec = MEET_SECONDS};
	double deadline = now() + WAIT_SECONDS;
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = getaddrinfo(host, tcp_port, &hints, &address);

	if (error)
		fail(0, gai_strerror(error), "HOST is the name or IPv4 address of a machine");
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
		fail(errno, "socket, setsockopt", "is there an IPv4 network?");
	while (host && connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
		if (errno != ECONNREFUSED || now() > deadline)
			fail(errno, "connect", "start pingpong there first, without HOST");
		(void)usleep(100000);
	}
	if (host)
		return fd;
	if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, 1) != 0)
		fail(errno, "bind", "is another pingpong waiting on this machine?");
	fprintf(stderr, "waiting %d s; on the other side run: pingpong HOST\n", MEET_SECONDS);
	fd = accept(fd, NULL, NULL);
	if (fd < 0)
		fail(errno, "accept", "nobody came; is HOST wrong, or a firewall between?");
	return fd;
}

/* A text each way: then the byte order of the two machines does not matter. */
static void trade(const struct end *end, char text[TEXT_BYTES])
{
	errno = 0;
	if (send(end->tcp, text, TEXT_BYTES, MSG_NOSIGNAL) != TEXT_BYTES ||
	    recv(end->tcp, text, TEXT_BYTES, MSG_WAITALL) != TEXT_BYTES)
		fail(errno, "send, recv", "has the other side ended? see what it says");
	text[TEXT_BYTES - 1] = '\0';
}

static void trade_cards(struct end *end)
{
	struct card *t = &end->theirs;
	char text[TEXT_BYTES] = "", gid[INET6_ADDRSTRLEN];

	(void)inet_ntop(AF_INET6, &end->gid.gid, gid, sizeof(gid));
	(void)snprintf(text, sizeof(text), "qpn %u psn %u lid %u mtu %u rkey %u inbox %lu gid %s",
		       end->qp->qp_num, end->psn, end->attr.lid, end->attr.active_mtu,
		       end->mr->rkey, (unsigned long)(uintptr_t)memory.inbox, gid);
	fprintf(stderr, "this side:  %s\n", text);
	trade(end, text);
	fprintf(stderr, "other side: %s\n", text);
	if (sscanf(text, "qpn %u psn %u lid %u mtu %u rkey %u inbox %lu gid %45s", &t->qpn, &t->psn,
		   &t->lid, &t->mtu, &t->rkey, &t->inbox, gid) != 7 ||
	    inet_pton(AF_INET6, gid, &t->gid) != 1)
		fail(0, "sscanf", "the other side is not this program");
}

static void connect_queue_pairs(struct end *end, const char *host)
{
	int i;

	/* At random, so that no late packet of an earlier connection bears it. */
	if (getrandom(&end->psn, sizeof(end->psn), 0) != sizeof(end->psn))
		fail(errno, "getrandom", "is this Linux?");
	end->psn &= 0xffffff;
	become_init(end);
	for (i = 0; i < ROUNDS; i++)
		post_receive(end); /* before anybody can write */
	end->tcp = meet(host);
	trade_cards(end);
	become_rtr(end);
	become_rts(end);
	if (end->leave)
		check(ibv_destroy_qp(end->qp), "ibv_destroy_qp", "look at dmesg");
	trade(end, (char[TEXT_BYTES]){"ready"}); /* before RTR, a write would find nobody */
}

static void ping_and_pong(struct end *end, bool first)
{
	double start;
	uint32_t round;

	(void)snprintf(memory.outbox, TEXT_BYTES, "%s from process %d", first ? "ping" : "pong",
		       getpid());
	for (round = 1; round <= ROUNDS; round++) {
		start = now();
		if (!first)
			wait_for(end, ARRIVED);
		post_write(end, round);
		wait_for(end, first ? WRITTEN | ARRIVED : WRITTEN);
		memory.inbox[TEXT_BYTES - 1] = '\0';
		if (first)
			printf("round %u: wrote \"%s\", got \"%s\" after %.1f us\n", round,
			       memory.outbox, memory.inbox, (now() - start) * 1e6);
	}
}

/* In the opposite order of making: each thing refuses to go while something still needs it. */
static void release(struct end *end)
{
	if (ibv_destroy_qp(end->qp) || ibv_destroy_cq(end->cq) || ibv_dereg_mr(end->mr) ||
	    ibv_dealloc_pd(end->pd) || ibv_close_device(end->context))
		fail(errno, "ibv_destroy_...", "look at dmesg");
}

static const char *parse_options(struct end *end, int argc, char **argv)
{
	char rest;
	int option;

	opterr = 0;
	while ((option = getopt(argc, argv, "d:p:x")) != -1) {
		if (option == 'd')
			end->want_device = optarg;
		else if (option == 'x')
			end->leave = true;
		else if (option != 'p' || sscanf(optarg, "%d%c", &end->want_port, &rest) != 1 ||
			 end->want_port < 1 || end->want_port > 254)
			fail(0, usage, "PORT is 1 to 254; ibv_devinfo lists devices and ports");
	}
	if (argc - optind > 1)
		fail(0, usage, "one HOST at most");
	return argv[optind];
}

int main(int argc, char **argv)
{
	struct end end = {0};
	const char *host = parse_options(&end, argc, argv);

	find_device(&end);
	create_queue_pair(&end);
	connect_queue_pairs(&end, host);
	if (end.leave)
		return 0;
	ping_and_pong(&end, host != NULL);
	/* Our device may still have to acknowledge the other side's write. */
	trade(&end, (char[TEXT_BYTES]){"goodbye"});
	release(&end);
	return 0;
}
