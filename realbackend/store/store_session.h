/*
 * store_session.h - one connection of the store's server: reads until a request
 * is complete, writes until the reply is sent.
 *
 * A session begins as a stranger and stays one until its first complete request
 * or, if there is a secret, until it has proved to know it. A stranger has one
 * deadline for everything; it uses almost no memory before its first complete
 * header, and at most `limit` after it: garbage is refused at its first byte,
 * and memory is allocated as bytes come.
 * Private to realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_STORE_SESSION_H
#define LOCKSTEP_STORE_STORE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "realbackend/store/parcel.h"
#include "realbackend/wire/secret.h"

struct dist__session {
	int fd;
	bool known;      /* no stranger any more */
	bool challenged; /* nonce has been sent */
	int64_t accepted_ns;
	size_t limit;        /* of its requests, bytes */
	bool waiting;        /* request is complete, but not yet answered */
	int64_t deadline_ns; /* waiting: of the answer; else: of the rest of
				the request; NEVER: no request has begun */
	int rank;            /* as it says; -1: not yet */
	bool joined;         /* it is in the roster */
	bool arrived;        /* it is counted as a user */
	int ticket;          /* agents: its number, 0: the leader; else -1 */
	struct dist__parcel request;
	struct dist__parcel reply; /* len 0: none */
	size_t replied;            /* bytes of reply that were sent */
	unsigned char nonce[DIST__NONCE_BYTES];
};

/* dist__session_new takes ownership of fd; NULL: no memory, fd is closed. */
struct dist__session *dist__session_new(int fd, size_t limit);
void dist__session_free(struct dist__session *session);

/* dist__session_read reads what has come. false: drop the session. */
bool dist__session_read(struct dist__session *session);

/* dist__session_admit makes a stranger known. */
void dist__session_admit(struct dist__session *session);

/* dist__session_whole returns whether a valid request is complete. */
bool dist__session_whole(const struct dist__session *session);

/* dist__session_reply takes ownership of *reply and sends what can be sent now.
 * false: drop the session. */
bool dist__session_reply(struct dist__session *session,
			 struct dist__parcel *reply);

/* dist__session_write continues sending. false: drop the session. */
bool dist__session_write(struct dist__session *session);

#endif
