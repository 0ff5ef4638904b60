/*
 * loop_transport.h - ranks that take turns on one thread, and a transport
 * between them: a test double for coll/, without a world.
 *
 * A message is checked (size, fingerprint) and copied at the moment when both
 * its ends are posted. With a clock, each rank has its own virtual time, and a
 * message follows the rule of the cost formulas: posting a send takes overhead;
 * the message starts when both ends are posted and takes alpha + bytes * beta,
 * during which both are busy with it; reducing takes bytes * gamma. Ranks have
 * all links to themselves, so this is the contention-free star, message by
 * message.
 *
 * Nothing here waits in real time. When no rank can ever move the waits end:
 * with TIMEOUT where there is a deadline, with DEADLOCK where there is none.
 * The slots compute and lane_* are not there.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_LOOP_TRANSPORT_H
#define LOCKSTEP_TESTS_SUPPORT_LOOP_TRANSPORT_H

#include "coll/algorithm.h"

struct loop_options {
	int world_size;
	const struct dist__cost *clock; /* NULL: time stands still */

	/* Call number fail_call (from 1, of isend, irecv and wait) of rank
	 * fail_rank returns IO, and all others are told PEER_LOST. 0: none. */
	int fail_rank;
	int fail_call;
};

struct loop_report {
	double ended_ns;   /* the last rank's clock at the end */
	size_t messages;   /* that were matched */
	size_t bytes;      /* in them */
	size_t left_over;  /* requests that nobody waited for */
	int most_sends;    /* that one rank ever had in flight at once */
	int most_receives; /* likewise */
	bool failed;       /* fail_call was reached */
};

/* loop_run runs rank_main on a stack for each rank, from rank 0 on whichever
 * can move, until all have returned. The transport is the rank's until
 * rank_main returns. */
struct loop_report loop_run(const struct loop_options *options,
			    void (*rank_main)(struct dist__transport *transport,
					      int rank, void *arg),
			    void *arg);

/* loop_meet returns when every rank of the loop has come to it. */
void loop_meet(struct dist__transport *transport);

#endif
