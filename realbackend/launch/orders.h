/*
 * orders.h - what the agents of a job exchange through their store: the report
 * of each, and the leader's orders to all; as structs and as text.
 *
 * An agent is one launcher on one node. A round is one start of the ranks on
 * all nodes. Rounds count from 0; a restart is a new round.
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_ORDERS_H
#define LOCKSTEP_LAUNCH_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "check/cause.h"

/* Sizes of names of roles and hosts, and of addresses, with the final 0. */
#define DIST__NAME_SIZE 64
#define DIST__HOST_SIZE 256

enum dist__agent_state {
	DIST__AGENT_IDLE,    /* waits for orders */
	DIST__AGENT_RUNNING, /* its ranks of `round` run */
	DIST__AGENT_DONE,    /* they all ended well */
	DIST__AGENT_FAILED,  /* one of them failed */
	DIST__AGENT_LEFT     /* the agent leaves */
};

struct dist__report {
	int64_t beat; /* number of reports: it changes while the agent lives */
	enum dist__agent_state state;
	bool busy; /* processes of a round are left, in any state */
	int round; /* of state; -1: none yet */
	int nproc;
	int node_rank; /* from its user; -1: any */
	long pid;
	struct check_cause cause;
	char role[DIST__NAME_SIZE]; /* without white space, like host */
	char host[DIST__NAME_SIZE];
};

enum dist__order {
	DIST__ORDER_WAIT, /* end the ranks that run; wait */
	DIST__ORDER_RUN,  /* run your ranks of `round` */
	DIST__ORDER_END   /* end, with `status` */
};

/* A node of a round; they are sorted by node rank. */
struct dist__node {
	int ticket; /* the agent's number */
	int nproc;
	char role[DIST__NAME_SIZE];
};

struct dist__orders {
	enum dist__order order;
	int round;
	int status;      /* END: of the job */
	int culprit;     /* END: first rank of the verdict; -1: none */
	char text[400];  /* END: why, one line; "": none */
	int master_port; /* RUN: the program's, on the host of rank 0 */
	int store_port;  /* RUN: where rank 0 serves our store */
	char master_addr[DIST__HOST_SIZE];
	int num_nodes; /* RUN */
	struct dist__node *nodes;
};

/* Size of the text of a report. */
#define DIST__REPORT_TEXT 512

void dist__report_format(const struct dist__report *report,
			 char text[DIST__REPORT_TEXT]);

/* dist__report_parse returns whether text is a report. */
bool dist__report_parse(const char *text, struct dist__report *report);

/* dist__orders_format returns a text that the caller frees; NULL: no memory. */
char *dist__orders_format(const struct dist__orders *orders);

/* dist__orders_parse replaces *orders, which is zeroed or the result of an
 * earlier call. false: no orders, or no memory; *orders is unchanged. */
bool dist__orders_parse(const char *text, struct dist__orders *orders);

/* dist__orders_release frees what *orders owns. */
void dist__orders_release(struct dist__orders *orders);

#endif
