/*
 * testbed.h - several hosts on one machine: network namespaces behind a switch
 * whose links have a known rate and delay. Needs root.
 *
 * Everything is in namespaces <name>-0, <name>-1, ... and <name>-net, which
 * holds the switch. Nothing is visible outside. A test bed in any state is
 * removed by ending all processes in the namespaces and deleting them. Host i
 * has the address 10.77.0.<i + 1> on its device net0.
 *
 * The switch is a process of ours that forwards frames between TAP devices.
 * Without these, or on request, the kernel shapes the links (tc's tbf for the
 * rate, netem for the delay). Its packets are long, so that tbf has to pass
 * bursts of 66 kB at once: shorter transfers are not slowed.
 */
#ifndef LOCKSTEP_CLI_TESTBED_TESTBED_H
#define LOCKSTEP_CLI_TESTBED_TESTBED_H

#include <stdio.h>

#include "lockstep/dist.h"

#define TESTBED_HOSTS 64 /* most */

/* Bytes of a namespace's name, its 0 included. */
#define TESTBED_NAME 48

enum testbed_topology {
	TESTBED_STAR,           /* one switch */
	TESTBED_TREE,           /* leaves, each with an uplink of the sum of its
				   hosts' links */
	TESTBED_OVERSUBSCRIBED, /* leaves with an uplink of a fraction of that
				 */
};

/* What shapes the links. */
enum testbed_switch {
	TESTBED_AUTO,
	TESTBED_KERNEL, /* veth, bridges, tbf, netem */
	TESTBED_USER,   /* a process, TAP devices */
};

struct testbed {
	char name[16];
	int hosts;
	double bandwidth_Bps; /* of a host's link, each way */
	int slow_host;        /* the host whose link has slow_factor of it */
	double slow_factor;   /* 1: no host is slow */
	int64_t delay_ns;     /* from any host to any other; 0: none added */
	enum testbed_topology topology;
	int leaf_hosts; /* under a leaf, fewer under the last; STAR: all */
	double ratio;   /* OVERSUBSCRIBED: sum of hosts' links over uplink */
	enum testbed_switch by;
	int mtu; /* 0: 1500 by the kernel, 9000 by the process */
};

/* What TCP gets from the links. */
struct testbed_wire {
	int64_t latency_ns; /* of a message, beyond the delay */
	double goodput_Bps; /* of a host's link, busy both ways; 0: its rate
			       without headers */
	bool queues;        /* links are first in, first out; else shared */
};

/* ---- options (description.c) ---------------------------------------- */

/* Each reads the value of its option. Errors: INVALID_ARGUMENT (message: what
 * was expected). */
enum dist_error testbed_read_name(const char *text, struct testbed *testbed,
				  struct dist_message *message);
enum dist_error testbed_read_bandwidth(const char *text,
				       struct testbed *testbed,
				       struct dist_message *message);
enum dist_error testbed_read_goodput(const char *text,
				     struct testbed_wire *wire,
				     struct dist_message *message);
enum dist_error testbed_read_delay(const char *text, struct testbed *testbed,
				   struct dist_message *message);
enum dist_error testbed_read_topology(const char *text, struct testbed *testbed,
				      struct dist_message *message);
enum dist_error testbed_read_slow(const char *text, struct testbed *testbed,
				  struct dist_message *message);
enum dist_error testbed_read_switch(const char *text, struct testbed *testbed,
				    struct dist_message *message);

/* testbed_init sets the defaults: name "testbed", 2 hosts, a star. */
void testbed_init(struct testbed *testbed);

/* testbed_check checks options against each other. Errors: as above. */
enum dist_error testbed_check(const struct testbed *testbed,
			      struct dist_message *message);

/* testbed_leaves returns the number of leaf switches, 1 for a star. */
int testbed_leaves(const struct testbed *testbed);

/* testbed_host_Bps returns the rate of host i's link. */
double testbed_host_Bps(const struct testbed *testbed, int i);

/* testbed_uplink_Bps returns the rate of a leaf's uplink. */
double testbed_uplink_Bps(const struct testbed *testbed);

/* testbed_print prints a description, in lines. */
void testbed_print(const struct testbed *testbed, FILE *out);

/* testbed_write_platform writes a SimGrid platform of those hosts and links.
 * Errors: IO. */
enum dist_error testbed_write_platform(const struct testbed *testbed,
				       const struct testbed_wire *wire,
				       FILE *out, struct dist_message *message);

/* ---- what there is (network.c) --------------------------------------- */

/*
 * testbed_up makes the test bed and sets testbed->by to what shapes the links.
 * After an error nothing is left of it. Errors: UNAVAILABLE (no privilege, or a
 * tool or device is missing: message), INVALID_ARGUMENT (the name is in use),
 * IO.
 */
enum dist_error testbed_up(struct testbed *testbed,
			   struct dist_message *message);

/* testbed_down ends every process in the test bed of that name and removes it,
 * in whatever state it is; *found: there was one. Errors: UNAVAILABLE, IO. */
enum dist_error testbed_down(const char *name, bool *found,
			     struct dist_message *message);

/* testbed_find reads how the test bed of that name was made. Errors:
 * INVALID_ARGUMENT (there is none). */
enum dist_error testbed_find(const char *name, struct testbed *testbed,
			     struct dist_message *message);

/* testbed_namespace writes the name of host i's namespace; i = -1: the
 * switch's. */
void testbed_namespace(const struct testbed *testbed, int host, char *name);

/* testbed_address writes the address of host i, at most 16 bytes. */
void testbed_address(int host, char *address);

/* ---- running commands there (exec.c) ---------------------------------- */

/*
 * testbed_exec runs a command (arguments, then NULL) on one host, or on all at
 * once (host = -1), and waits. In arguments {host}, {hosts}, {address} and
 * {address0} become the host's number, the number of hosts, the host's address
 * and that of host 0; LOCKSTEP_TESTBED_HOST is the host's number. The commands
 * are killed when the caller dies. *status is the first status that is not 0,
 * by host. Errors: NO_MEMORY, IO.
 */
enum dist_error testbed_exec(const struct testbed *testbed, int host,
			     const char *const *text, int *status,
			     struct dist_message *message);

#endif
