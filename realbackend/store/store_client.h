/*
 * store_client.h - a client of the job's key-value store, which rank 0 serves.
 *
 * One connection, one request at a time: one thread uses a store at a time.
 * Keys have up to DIST__STORE_MAX_KEY bytes, a request up to
 * DIST__PARCEL_MAX_REQUEST in all. A timeout of DIST_TIMEOUT_NEVER waits for
 * ever. After IO, or a TIMEOUT without any reply of the server, the store is
 * broken: every later call returns IO.
 *
 * "Any store error" stands for INVALID_ARGUMENT (a key or value is too long, a
 * negative timeout), TIMEOUT, IO (the server is gone), RENDEZVOUS (it has a
 * secret and this process has none) and NO_MEMORY.
 * Private to realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_STORE_CLIENT_H
#define LOCKSTEP_STORE_STORE_CLIENT_H

#include "realbackend/store/parcel.h"
#include "realbackend/wire/socket.h"

#define DIST__STORE_MAX_KEY 4096

/* Limits of a store; more fails as without memory. */
#define DIST__STORE_MAX_KEYS  ((size_t)1 << 20)
#define DIST__STORE_MAX_BYTES ((size_t)1 << 30)

/* Codes of replies besides enum dist_error: try again in a moment; the secret
 * was refused, and text says why. */
#define DIST__STORE_AGAIN  1
#define DIST__STORE_LOCKED 2
/* The job of this store has another id. */
#define DIST__STORE_OTHER 3

/* Roles of the two ends of a connection in proofs; see secret.h. */
#define DIST__STORE_CLIENT "client of the store"
#define DIST__STORE_SERVER "store"

struct dist__store;

/*
 * dist__store_connect connects to the store at host:port; while nobody listens
 * there it tries again, until deadline_ns, if the store is awaited. With
 * LOCKSTEP_SECRET set both ends prove that they know it. Errors: RENDEZVOUS
 * (host unknown; nobody listened in time; the store has another secret or
 * none), NO_MEMORY, IO; see message.
 */
enum dist_error dist__store_connect(const char *host, int port, bool awaited,
				    int64_t deadline_ns,
				    struct dist__store **store,
				    struct dist_message *message);

/* dist__store_adopt makes a client over fd, a connected socket that it owns
 * from then on. NULL: no memory, or no such socket; fd is closed. */
struct dist__store *dist__store_adopt(int fd);

/* dist__store_patience sets how long the server may take to answer a request
 * that need not wait; the default is 30 s. */
void dist__store_patience(struct dist__store *store, int64_t prompt_ns);

/* dist__store_free disconnects. NULL allowed. */
void dist__store_free(struct dist__store *store);

/* dist__store_is_broken returns whether every later call returns IO. */
bool dist__store_is_broken(const struct dist__store *store);

/* dist__store_local stores the address of this end of the connection, by which
 * other users of the store reach this machine. */
bool dist__store_local(const struct dist__store *store,
		       struct dist__address *address);

/*
 * dist__store_call sends request, which the caller keeps, and waits for the
 * reply until deadline_ns. On OK the caller releases *reply, whose code is the
 * server's. Errors: TIMEOUT, IO, NO_MEMORY.
 */
enum dist_error dist__store_call(struct dist__store *store,
				 const struct dist__parcel *request,
				 int64_t deadline_ns,
				 struct dist__parcel *reply);

/* dist__store_explain copies the text of a reply that is not OK to message. */
void dist__store_explain(const struct dist__parcel *reply,
			 struct dist_message *message);

/* dist__store_ask executes request; GET waits for its key. What is found is a
 * copy with a final 0, which the caller frees. Errors: any store error, and
 * nothing is found then. */
enum dist_error dist__store_ask(struct dist__store *store,
				struct dist__store_request *request);

/* dist__store_set stores len bytes under key. Errors: any store error. */
enum dist_error dist__store_set(struct dist__store *store, const char *key,
				const void *value, size_t len);

/* dist__store_get waits for key and stores a copy of its value, with a final 0,
 * which the caller frees. Errors: any store error. */
enum dist_error dist__store_get(struct dist__store *store, const char *key,
				int64_t timeout_ns, char **value, size_t *len);

/* dist__store_add adds amount to the number under key (0 if there is none) and
 * stores the sum. Errors: any store error; INVALID_ARGUMENT also if the value
 * is no number. */
enum dist_error dist__store_add(struct dist__store *store, const char *key,
				int64_t amount, int64_t *sum);

/* dist__store_arrive registers one more user of the store, and waits until
 * `number` of them have arrived. Errors: any. */
enum dist_error dist__store_arrive(struct dist__store *store, int number,
				   int64_t timeout_ns);

/* dist__store_enrol makes this process an agent in the store of agents of the
 * job called run, with its first report, and stores its ticket, 1 or more (see
 * store_service.h). Errors: any; IO (it is no store of agents); RENDEZVOUS (it
 * belongs to another job, has had too many agents, or has a secret and this
 * process has none; see message). */
enum dist_error dist__store_enrol(struct dist__store *store, const char *run,
				  const char *report, int64_t timeout_ns,
				  int *ticket, struct dist_message *message);

#endif
