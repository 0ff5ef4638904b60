/*
 * store.h - key-value stores that the processes of a job share: ranks find each
 * other through one, and a program may keep small values in one.
 *
 * Names and rules are those of torch.distributed's stores:
 *
 *	dist_tcp_store_new	served by one process, reached over TCP
 *	dist_file_store_new	a file that all processes can open
 *	dist_hash_store_new	memory of this process
 *	dist_prefix_store_new	a part of another store
 *
 * All behave alike. A key is a string of 1 to DIST_STORE_MAX_KEY bytes, a value
 * up to DIST_STORE_MAX_VALUE bytes of any kind. A store may be used by several
 * threads at once, and belongs to the process that made it: not to its
 * children by fork.
 *
 * A call waits at most for the timeout of the store: five minutes, or as set by
 * dist_store_set_timeout(). In a simulation it waits in simulated time, and is
 * DIST_ERR_DEADLOCK as soon as no rank can set the key, unless it was given
 *less than those five minutes.
 *
 * The caller frees, with free(), values that a call stores through a char **;
 * they have a 0 behind their last byte. A call that fails stores nothing.
 *
 * "Any store error" below stands for: DIST_ERR_INVALID_ARGUMENT (a NULL
 * pointer, a key or value too long or too short, a negative timeout),
 * DIST_ERR_NO_MEMORY, DIST_ERR_TIMEOUT (the server did not answer), DIST_ERR_IO
 * (the server has gone, the file cannot be read or written).
 */
#ifndef LOCKSTEP_STORE_H
#define LOCKSTEP_STORE_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DIST_STORE_MAX_KEY   4096
#define DIST_STORE_MAX_VALUE ((size_t)512 << 10)

/* What torch gives a store: 5 minutes. */
#define DIST_STORE_TIMEOUT_DEFAULT ((int64_t)300 * 1000000000)
/* The timeout of the store applies. */
#define DIST_TIMEOUT_OF_STORE ((int64_t)0)

/* ---- making and freeing ----------------------------------------------- */

/*
 * dist_tcp_store_new makes a store that one process, the master, serves at
 * host:port. The others connect to it, and try until it is there. With port 0
 * the master chooses a free one: dist_tcp_store_port(). The master waits until
 * world_size processes use the store, itself included; 0: it waits for none.
 * timeout_ns becomes the timeout of the store and covers this call;
 * DIST_TIMEOUT_OF_STORE: the default. Where LOCKSTEP_SECRET is set, all users
 * must have the same. The store ends when the master frees it, so it frees
 * last. It holds at most 2^20 keys and 1 GiB of keys and values; beyond that
 * calls return DIST_ERR_NO_MEMORY.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (a NULL pointer, a port outside 0 to 65535,
 * a negative number, a LOCKSTEP_SECRET that is empty), DIST_ERR_RENDEZVOUS
 * (host unknown, port in use, nobody listens there, another secret),
 * DIST_ERR_TIMEOUT (not all users came), DIST_ERR_NO_MEMORY, DIST_ERR_IO;
 * *message, unless NULL, says which.
 */
DIST_MUST_CHECK enum dist_error
dist_tcp_store_new(const char *host, int port, int world_size, bool is_master,
		   int64_t timeout_ns, struct dist_store **store,
		   struct dist_message *message);

/* dist_tcp_store_port returns the port of a TCP store; -1 for another store or
 * NULL. */
int dist_tcp_store_port(const struct dist_store *store);

/*
 * dist_file_store_new makes a store in the file at path, and creates the file
 * if it is missing; every process of the job opens the same one. With
 * world_size > 0 that many processes open it, once each, and the last one to
 * free its store removes the file; with 0 the file stays.
 *
 * A file of an earlier job is refused: when more than world_size processes open
 * it, or when a process of this machine that opened it has ended without
 * freeing its store. flock() locks the file for each operation. If a process is
 * killed in an operation, the next one undoes what it wrote. A call that waits
 * reads the file again and again, in the end every 20 ms.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (a NULL pointer, a negative world size, a
 * file that is no store), DIST_ERR_RENDEZVOUS (an earlier job's),
 * DIST_ERR_NO_MEMORY, DIST_ERR_IO; *message, unless NULL, says which.
 */
DIST_MUST_CHECK enum dist_error
dist_file_store_new(const char *path, int world_size, struct dist_store **store,
		    struct dist_message *message);

/* dist_hash_store_new makes a store in memory, for the threads of one process
 * or the ranks of a simulation. Errors: DIST_ERR_INVALID_ARGUMENT (NULL),
 * DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error dist_hash_store_new(struct dist_store **store);

/* dist_prefix_store_new makes a store of the keys of inner that begin with
 * prefix and "/": it puts both before every key. inner is borrowed until the
 * new store is freed, and is not freed with it; its timeout is taken over once.
 * Errors: DIST_ERR_INVALID_ARGUMENT (a NULL pointer, a prefix of
 * DIST_STORE_MAX_KEY bytes or more), DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
dist_prefix_store_new(const char *prefix, struct dist_store *inner,
		      struct dist_store **store);

/* dist_store_free frees a store, which no thread uses any more. NULL is
 * allowed.
 */
void dist_store_free(struct dist_store *store);

/* dist_store_set_timeout sets how long calls on this store wait from now on:
 * DIST_TIMEOUT_NEVER or a positive number. Not while another thread uses the
 * store. Errors: DIST_ERR_INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error dist_store_set_timeout(struct dist_store *store,
						       int64_t timeout_ns);

/* ---- using ------------------------------------------------------------ */

/* dist_store_set stores len bytes under key, replacing an older value. Errors:
 * any store error. */
DIST_MUST_CHECK enum dist_error dist_store_set(struct dist_store *store,
					       const char *key,
					       const void *value, size_t len);

/* dist_store_get waits until key is there and stores its value and length; len
 * may be NULL. Errors: any store error; DIST_ERR_TIMEOUT also when the key does
 * not come; DIST_ERR_DEADLOCK. */
DIST_MUST_CHECK enum dist_error dist_store_get(struct dist_store *store,
					       const char *key, char **value,
					       size_t *len);

/* dist_store_add adds amount to the number under key, which is 0 when the key
 * is missing, and stores the sum through sum and, as decimal text, under key.
 * Sums wrap around. To add 0 is to ask, as dist_store_check() is. Errors: any
 * store error; DIST_ERR_INVALID_ARGUMENT also if the value is no decimal
 * number. */
DIST_MUST_CHECK enum dist_error dist_store_add(struct dist_store *store,
					       const char *key, int64_t amount,
					       int64_t *sum);

/*
 * dist_store_compare_set stores desired under key if the value there is
 * expected, or if the key is missing and expected is empty. *value and *len are
 * the value afterwards; where the key is missing and expected is not empty they
 * are expected, and nothing is stored. len may be NULL.
 * Errors: any store error.
 */
DIST_MUST_CHECK enum dist_error
dist_store_compare_set(struct dist_store *store, const char *key,
		       const char *expected, const char *desired, char **value,
		       size_t *len);

/* dist_store_wait waits until each of num_keys keys has been there.
 * timeout_ns: DIST_TIMEOUT_OF_STORE, DIST_TIMEOUT_NEVER or a positive number,
 * for all together, in a simulation for each. Errors: as dist_store_get. */
DIST_MUST_CHECK enum dist_error dist_store_wait(struct dist_store *store,
						const char *const *keys,
						size_t num_keys,
						int64_t timeout_ns);

/* dist_store_check stores in *there whether all num_keys keys are there,
 * without waiting. In a simulation a little time passes if it is asked for a
 * missing key again, so that a loop around it cannot stop the clock; asked in
 * vain for five minutes, it waits. Errors: any store error; DIST_ERR_DEADLOCK.
 */
DIST_MUST_CHECK enum dist_error dist_store_check(struct dist_store *store,
						 const char *const *keys,
						 size_t num_keys, bool *there);

/* dist_store_delete_key deletes key; *deleted, unless deleted is NULL, is
 * whether it was there. Errors: any store error. */
DIST_MUST_CHECK enum dist_error
dist_store_delete_key(struct dist_store *store, const char *key, bool *deleted);

/* dist_store_num_keys counts the keys that were stored and not deleted; for a
 * prefix store, the keys of the whole store under it. (torch's TCP and file
 * stores count one key of their own, too.) Errors: any store error. */
DIST_MUST_CHECK enum dist_error dist_store_num_keys(struct dist_store *store,
						    int64_t *num_keys);

/* ---- stores of other libraries ---------------------------------------- */

struct dist_group;

/*
 * dist_await_key is for a library over this one whose ranks have a store of its
 * own (those above need it not): it records that this rank waits, at most
 * timeout_ns, until a rank has stored something under key, at the line that
 * dist_at() noted, so that a verdict names the wait. dist_await_key_end records
 * that it has ended, well or with error; dist_has_stored that this rank stored
 * something.
 */
void dist_await_key(struct dist_group *group, const char *key,
		    int64_t timeout_ns);
void dist_await_key_end(struct dist_group *group, enum dist_error error);
void dist_has_stored(struct dist_group *group, const char *key);

/* ---- source lines ---------------------------------------------------- */

/* dist_store_at notes the line of the caller's next call on a store, by which a
 * verdict names it, and returns store; file is copied. The macros below put it
 * before every call that stores or may wait. */
struct dist_store *dist_store_at(struct dist_store *store, const char *file,
				 int line);

#define DIST_STORE_HERE(store) dist_store_at((store), __FILE__, __LINE__)
#define dist_store_set(store, ...)                                             \
	(dist_store_set)(DIST_STORE_HERE(store), __VA_ARGS__)
#define dist_store_get(store, ...)                                             \
	(dist_store_get)(DIST_STORE_HERE(store), __VA_ARGS__)
#define dist_store_add(store, ...)                                             \
	(dist_store_add)(DIST_STORE_HERE(store), __VA_ARGS__)
#define dist_store_compare_set(store, ...)                                     \
	(dist_store_compare_set)(DIST_STORE_HERE(store), __VA_ARGS__)
#define dist_store_check(store, ...)                                           \
	(dist_store_check)(DIST_STORE_HERE(store), __VA_ARGS__)
#define dist_store_wait(store, ...)                                            \
	(dist_store_wait)(DIST_STORE_HERE(store), __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
