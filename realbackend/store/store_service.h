/*
 * store_service.h - what the store knows, and how it answers a request. A
 * session whose answer is not known yet is left waiting and tried again.
 *
 * A store of agents has an id, its job's, and serves agents alone. The leader,
 * who made it, may do everything. Whoever else names the id enrols, once, and
 * is agent T of this connection for as long as that lasts: it may read, set the
 * keys below "T/", and count looks. Nobody else is served, and nobody can be
 * another one: there is nothing to guess, to repeat or to steal. "T/report" is
 * what agent T said last, with "\n" behind it once it has hung up; "arrivals"
 * counts the tickets.
 *
 * Where a function returns bool: false means that the session is to be dropped.
 * Private to realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_STORE_SERVICE_H
#define LOCKSTEP_STORE_STORE_SERVICE_H

#include "lockstep/dist.h"
#include "realbackend/store/roster.h"
#include "realbackend/store/store_session.h"
#include "realbackend/store/key_table.h"

struct dist__service {
	struct dist__table *table;
	struct dist__roster roster;
	char *secret; /* NULL: none, whoever speaks our language is let in */
	char *run;    /* agents: the id of their job; NULL: a store of ranks */
	int arrived;  /* users that said so */
	char token[DIST__TOKEN_TEXT];
	bool changed; /* waiting requests may be answerable now */
	int told;     /* sessions that got the roster's failure */
};

/* dist__service_init makes an empty store: of agents of the job called run, or
 * of ranks (NULL). Errors: NO_MEMORY, IO; release it all the same. */
enum dist_error dist__service_init(struct dist__service *service,
				   const char *run);
void dist__service_release(struct dist__service *service);

/* dist__service_request serves a request that is whole: replies, or leaves the
 * session waiting. */
bool dist__service_request(struct dist__service *service,
			   struct dist__session *session);

/* dist__service_forget notes that session is to be dropped. */
void dist__service_forget(struct dist__service *service,
			  const struct dist__session *session);

/* dist__service_limit returns how long a stranger's request may be. */
size_t dist__service_limit(const struct dist__service *service);

/* dist__service_retry answers a waiting GET, WAIT or ARRIVE if what it waits
 * for is there. */
bool dist__service_retry(struct dist__service *service,
			 struct dist__session *session);

/* dist__service_is_join returns whether session waits for the roster. */
bool dist__service_is_join(const struct dist__session *session);

/* dist__service_reply_join tells it: all addresses, or the failure. */
bool dist__service_reply_join(struct dist__service *service,
			      struct dist__session *session);

/* dist__service_reply ends a request with a code and, unless NULL, words. */
bool dist__service_reply(struct dist__session *session, int32_t code,
			 const char *text);

#endif
