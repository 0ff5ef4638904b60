/*
 * service.h - what the store knows, and how it answers a request. A session
 * whose answer is not known yet is left waiting and tried again.
 *
 * Where a function returns bool: false means that the session is to be dropped.
 * Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_SERVICE_H
#define LOCKSTEP_TCP_SERVICE_H

#include "lockstep/dist.h"
#include "realbackend/tcp/roster.h"
#include "realbackend/tcp/session.h"
#include "core/table.h"

struct dist__service {
	struct dist__table *table;
	struct dist__roster roster;
	char *secret; /* NULL: none, whoever speaks our language is let in */
	int arrived;  /* users that said so */
	char token[DIST__TOKEN_TEXT];
	bool changed; /* waiting requests may be answerable now */
	int told;     /* sessions that got the roster's failure */
};

/* dist__service_init makes an empty store. Errors: NO_MEMORY, IO; release it
 * all the same. */
enum dist_error dist__service_init(struct dist__service *service);
void dist__service_release(struct dist__service *service);

/* dist__service_request serves a request that is whole: replies, or leaves the
 * session waiting. */
bool dist__service_request(struct dist__service *service,
			   struct dist__session *session);

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
