/*
 * store_client.h - a client of the job's key-value store, which rank 0 serves.
 *
 * One connection, one request at a time: a store belongs to one thread at a
 * time. Keys are up to DIST__STORE_MAX_KEY bytes, a request up to
 * DIST__PARCEL_MAX_REQUEST in all. A timeout of DIST_TIMEOUT_NEVER waits for
 * ever. After TIMEOUT because the server kept silent, or IO, the store is
 * broken: every later call gives IO.
 *
 * "Any store error" stands for INVALID_ARGUMENT (a key or value too long, a
 * negative timeout), TIMEOUT, IO (the server is gone), RENDEZVOUS (it has a
 * secret and this process has none) and NO_MEMORY.
 * Private to realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_STORE_CLIENT_H
#define LOCKSTEP_STORE_STORE_CLIENT_H

#include "realbackend/store/parcel.h"
#include "realbackend/wire/socket.h"

#define DIST__STORE_MAX_KEY 4096

/* What a store holds at most; there is no memory for more. */
#define DIST__STORE_MAX_KEYS  ((size_t)1 << 20)
#define DIST__STORE_MAX_BYTES ((size_t)1 << 30)

/* Codes of replies beside those of enum dist_error: try once more in a moment;
 * text say why the secret was not good enough. */
#define DIST__STORE_AGAIN  1
#define DIST__STORE_LOCKED 2
/* ...; the job here has another id. */
#define DIST__STORE_OTHER 3

/* Who proves in a connection to the store; see secret.h. */
#define DIST__STORE_CLIENT "client of the store"
#define DIST__STORE_SERVER "store"

struct dist__store;

/*
 * dist__store_connect connects to the store at host:port, trying again until
 * deadline_ns while nobody listens there. With LOCKSTEP_SECRET set both ends
 * prove that they know it. Errors: RENDEZVOUS (host unknown; nobody came to
 * listen; the store has another secret or none), NO_MEMORY, IO; message says
 * which.
 */
enum dist_error dist__store_connect(const char *host, int port,
				    int64_t deadline_ns,
				    struct dist__store **store,
				    struct dist_message *message);

/* dist__store_adopt speaks to a store over fd, a connected socket that it owns
 * from then on. NULL: no memory, or no such socket; fd is closed. */
struct dist__store *dist__store_adopt(int fd);

/* dist__store_patience says how long the server may take over what needs no
 * waiting; 30 s until then. */
void dist__store_patience(struct dist__store *store, int64_t prompt_ns);

/* dist__store_free hangs up. NULL allowed. */
void dist__store_free(struct dist__store *store);

/* dist__store_is_broken returns whether every later call gives IO. */
bool dist__store_is_broken(const struct dist__store *store);

/* dist__store_local stores the address that this end of the connection has:
 * the one under which others on the way to the store find this machine. */
bool dist__store_local(const struct dist__store *store,
		       struct dist__address *address);

/*
 * dist__store_call sends request (and leaves it to the caller) and waits for
 * the reply until deadline_ns. On OK the caller releases *reply, whose code is
 * whatever the server said. Errors: TIMEOUT, IO, NO_MEMORY.
 */
enum dist_error dist__store_call(struct dist__store *store,
				 const struct dist__parcel *request,
				 int64_t deadline_ns,
				 struct dist__parcel *reply);

/* dist__store_explain puts the words of a reply that is not OK into message. */
void dist__store_explain(const struct dist__parcel *reply,
			 struct dist_message *message);

/* dist__store_ask asks for what request says; GET waits for its key, and what
 * is found is a copy, with a 0 behind it, that the caller frees. Errors: any
 * store error, and nothing is found then. */
enum dist_error dist__store_ask(struct dist__store *store,
				struct dist__store_request *request);

/* dist__store_set stores len bytes under key. Errors: any store error. */
enum dist_error dist__store_set(struct dist__store *store, const char *key,
				const void *value, size_t len);

/* dist__store_get waits for key and stores a copy of its value, with a 0 behind
 * it, that the caller frees. Errors: any store error. */
enum dist_error dist__store_get(struct dist__store *store, const char *key,
				int64_t timeout_ns, char **value, size_t *len);

/* dist__store_add adds amount to the number under key (none: 0) and stores the
 * sum. Errors: any store error; INVALID_ARGUMENT also when there is no number.
 */
enum dist_error dist__store_add(struct dist__store *store, const char *key,
				int64_t amount, int64_t *sum);

/* dist__store_arrive says that one more user of the store has come, and waits
 * until there have been number of them. Errors: any. */
enum dist_error dist__store_arrive(struct dist__store *store, int number,
				   int64_t timeout_ns);

/* dist__store_enrol makes this process an agent in the store of agents of the
 * job called run, with its first report, and stores its ticket: 1 and up; see
 * service.h. Errors: any; IO (this is no store of agents); RENDEZVOUS (it is
 * another job's, has had too many agents, or has a secret, and this process has
 * not; message says which). */
enum dist_error dist__store_enrol(struct dist__store *store, const char *run,
				  const char *report, int64_t timeout_ns,
				  int *ticket, struct dist_message *message);

#endif
