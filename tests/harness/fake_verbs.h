/* fake_verbs.h: devices that exist only in a test: its own ibv_* calls, joined in one process. */
#ifndef TESTS_HARNESS_FAKE_VERBS_H
#define TESTS_HARNESS_FAKE_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_GIDS = 8, FAKE_PORTS = 2, FAKE_DEVICES = 4, FAKE_QPS = 64, FAKE_MRS = 256 };

struct fake_gid {
	union ibv_gid value;
	uint32_t type; /* enum ibv_gid_type */
	int error;     /* ibv_query_gid_ex returns it */
};

struct fake_port {
	struct ibv_port_attr attr;
	struct fake_gid gids[FAKE_GIDS];
};

/* What a device is and what it refuses. A test changes it before the device is opened. */
struct fake_device {
	struct ibv_device device;
	struct ibv_device_attr limits;
	struct fake_port ports[FAKE_PORTS];
	uint32_t max_inline;	  /* granted */
	bool refuses_inline;	  /* asked for more, ibv_create_qp fails with EINVAL */
	int largest_cq;		  /* deeper ones fail with ENOMEM; 0: none do */
	uint32_t largest_qp;	  /* deeper send queues fail with ENOMEM; 0: none do */
	int open_error, mr_error; /* errno values; 0: none */
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_device *device;
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr; /* collected from all ibv_modify_qp */
	bool alive;
	uint32_t receives;	  /* in the queue */
	uint32_t posted, retired; /* sends */
	uint64_t receive_id;
	struct ibv_wc held[256]; /* completions of sends that the test holds back */
	uint32_t n_held;
};

struct fake {
	struct fake_device devices[FAKE_DEVICES];
	int n_devices;
	struct fake_qp qps[FAKE_QPS];
	struct ibv_mr *mrs[FAKE_MRS];
	int objects; /* created and not yet destroyed */
	int broken;  /* rules of the interface that were broken; fake.broken_rule says the last */
	char broken_rule[128];

	int calls;   /* that can fail, so far */
	int fail_at; /* this call fails with EIO; 0: none */
	char failed_call[64];

	bool hold_sends;		/* completions of sends wait for fake_release */
	enum ibv_wc_status next_status; /* the next write completes so; 0: well */
	bool drop_writes;		/* with next_status: it does not arrive either */

	uint32_t writes, notices, inlined, gathered, signalled; /* work requests posted */
	struct ibv_ah_attr last_path;
	int fork_status, fork_inits;
};

extern struct fake fake;

/* Start afresh with n devices "fake0"... : RoCE, one active port, GIDs as rxe has them, MTU
 * 1024. */
void fake_reset(int n);

/* Write an IPv4-mapped (from a.b.c.d) or IPv6 address into a GID entry. */
void fake_set_gid(struct fake_gid *gid, const char *address, uint32_t type);
void fake_make_infiniband(struct fake_device *device, uint16_t lid);

/* Raise an async event; qp_num is for those of queue pairs. */
void fake_raise(struct ibv_context *context, enum ibv_event_type type, int port, uint32_t qp_num);

void fake_release(void);
struct fake_qp *fake_qp_of(uint32_t qp_num);

/* Move a queue pair to ERROR under its owner's feet: all receives are flushed. */
void fake_break_qp(uint32_t qp_num);

/* --- between fake_verbs.c and fake_verbs_data.c -------------------------------------------- */

/* Ranks may be threads: a call that shares tables with others is alone from here to its return. */
bool fake_enter(void);
void fake_leave(const bool *entered);

/* True, with errno EIO, if this call is the one to fail. */
bool fake_fails(const char *call);
void fake_break_rule(const char *rule);
void fake_set_data_ops(struct ibv_context *context);
struct ibv_cq *fake_new_cq(struct ibv_context *context, struct ibv_comp_channel *channel,
			   int depth);
void fake_free_cq(struct ibv_cq *cq);
void fake_flush_qp(struct fake_qp *qp);

#endif
