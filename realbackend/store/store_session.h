/*
 * store_session.h - one connection of the store's server: bytes in until a
 * request is whole, bytes out until the reply is gone.
 *
 * A session begins as a stranger's and stays one until its first whole request
 * or, where there is a secret, until it has proved to know it. A stranger has
 * one deadline for all it has to say, costs next to nothing before its first
 * whole header, and no more than `limit` after it: garbage is seen at its first
 * byte, and room is made as the bytes come.
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
	bool known;      /* no stranger's any more */
	bool challenged; /* nonce has been sent */
	int64_t accepted_ns;
	size_t limit;        /* of its requests, bytes */
	bool waiting;        /* request is whole, the answer is not known */
	int64_t deadline_ns; /* waiting: of the answer; else: of the rest of
				the request; NEVER: it owes us nothing */
	int rank;            /* that it says it is; -1: has not said */
	bool joined;         /* the roster counts it */
	bool arrived;        /* it has been counted as a user */
	int ticket;          /* agents: its number, 0: the leader; else -1 */
	struct dist__parcel request;
	struct dist__parcel reply; /* len 0: none */
	size_t replied;            /* bytes of it sent */
	unsigned char nonce[DIST__NONCE_BYTES];
};

/* dist__session_new takes fd over; NULL: no memory, fd is closed. */
struct dist__session *dist__session_new(int fd, size_t limit);
void dist__session_free(struct dist__session *session);

/* dist__session_read takes what came. false: to be dropped. */
bool dist__session_read(struct dist__session *session);

/* dist__session_admit makes a stranger known. */
void dist__session_admit(struct dist__session *session);

/* dist__session_whole returns whether a valid request is there to be served. */
bool dist__session_whole(const struct dist__session *session);

/* dist__session_reply sends *reply (taken over), as far as it goes now. false:
 * to be dropped. */
bool dist__session_reply(struct dist__session *session,
			 struct dist__parcel *reply);

/* dist__session_write goes on sending. false: to be dropped. */
bool dist__session_write(struct dist__session *session);

#endif
