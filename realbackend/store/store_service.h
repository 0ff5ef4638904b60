/*
 * store_service.h - the contents of the store, and how it answers a request. A
 * session whose answer is not known yet stays waiting and is tried again.
 *
 * A store of agents has the id of its job, and serves only agents. The leader,
 * which made it, may do everything. Another process that sends the id enrols
 * once, and is agent T while its connection lasts: it may read, set the keys
 * below "T/", and count looks. No other process is served, and none can act as
 * another agent: there is nothing to guess, to repeat or to steal. "T/report"
 * is the last report of agent T, with "\n" behind it once the agent has
 * disconnected; "arrivals" counts the tickets.
 *
 * A function that returns bool returns false if the session must be dropped.
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
	char *secret; /* NULL: none, any client is served */
	char *run;    /* agents: the id of their job; NULL: a store of ranks */
	int arrived;  /* number of ARRIVE requests */
	char token[DIST__TOKEN_TEXT];
	bool changed;      /* waiting requests may be answerable now */
	int failures_sent; /* sessions that got the roster's failure */
};

/* dist__service_init makes an empty store: of agents of the job called run, or
 * of ranks (NULL). Errors: NO_MEMORY, IO; release it in any case. */
enum dist_error dist__service_init(struct dist__service *service,
				   const char *run);
void dist__service_release(struct dist__service *service);

/* dist__service_request serves a complete request: replies, or leaves the
 * session waiting. */
bool dist__service_request(struct dist__service *service,
			   struct dist__session *session);

/* dist__service_forget handles the end of session. */
void dist__service_forget(struct dist__service *service,
			  const struct dist__session *session);

/* dist__service_limit returns the maximum length of a stranger's request. */
size_t dist__service_limit(const struct dist__service *service);

/* dist__service_retry answers a waiting GET, WAIT or ARRIVE if it can be
 * answered now. */
bool dist__service_retry(struct dist__service *service,
			 struct dist__session *session);

/* dist__service_is_join returns whether session waits for the roster. */
bool dist__service_is_join(const struct dist__session *session);

/* dist__service_reply_join sends it all addresses, or the failure. */
bool dist__service_reply_join(struct dist__service *service,
			      struct dist__session *session);

/* dist__service_reply ends a request with a code and, unless NULL, a text. */
bool dist__service_reply(struct dist__session *session, int32_t code,
			 const char *text);

#endif
