/*
 * tcp_cases.h - what the TCP transport must do, as functions of one rank.
 *
 * Each runs in a process of its own that has joined through attach(); no test
 * framework is needed, so that a Criterion file, a plain main under the thread
 * sanitizer, and the fault tests share them.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_CASES_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backend.h"

/* Long enough for a sanitizer on a busy machine; a hang ends all the same. */
#define TCP_PATIENCE ((int64_t)20 * 1000000000)

/* One rank that has joined. */
struct tcp_rank {
	int rank, world_size;
	struct dist__members members; /* all of them */
	struct dist__transport *transport;
	int failures;
};

/* A case: run by every rank of a world. */
struct tcp_case {
	const char *name;
	int world_size;
	void (*run)(struct tcp_rank *r);
};

/* The table, ended by a NULL name. */
extern const struct tcp_case tcp_cases[];

/* tcp_case_run launches a case, its ranks talking through memory ("shm"; on one
 * processor: "crowded") or sockets ("tcp"); 0: every rank found everything
 * right. */
int tcp_case_run(const struct tcp_case *one, const char *intra);

/* All of them, ended by NULL. */
extern const char *const tcp_intras[];

/* ---- parts, for the fault tests ----------------------------------------- */

/* tcp_join makes this process rank of the job that the environment names; NULL:
 * failed, *error and *message say how. tcp_leave frees. */
bool tcp_join(struct tcp_rank *r, int64_t timeout_ns, enum dist_error *error,
	      struct dist_message *message);
void tcp_leave(struct tcp_rank *r);

/* tcp_enter joins with patience; false: it failed, and stderr says how. */
bool tcp_enter(struct tcp_rank *r);

/* tcp_is counts a failure, in words, unless got is wanted. */
void tcp_is(struct tcp_rank *r, const char *what, long long got,
	    long long wanted);

/* tcp_post sends or receives, tcp_wait waits for it so long from now. */
enum dist_error tcp_post(struct tcp_rank *r, bool send,
			 const struct dist__message *m,
			 struct dist__request **request);
enum dist_error tcp_wait(struct tcp_rank *r, struct dist__request *request,
			 int64_t timeout_ns);

/* tcp_send and tcp_receive move bytes, blocking, with a tag. */
enum dist_error tcp_send(struct tcp_rank *r, int peer, int tag,
			 const void *data, size_t bytes, int64_t timeout_ns);
enum dist_error tcp_receive(struct tcp_rank *r, int peer, int tag, void *data,
			    size_t bytes, int64_t timeout_ns);

#endif
