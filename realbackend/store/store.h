/*
 * store.h - the kinds of stores: realbackend/store/store.c checks arguments and
 * waits, a kind does one operation on one key at a time.
 */
#ifndef LOCKSTEP_STORE_STORE_H
#define LOCKSTEP_STORE_STORE_H

#include "realbackend/store/parcel.h"
#include "lockstep/store.h"

struct dist_store {
	const struct dist__store_kind *kind;
	int64_t timeout_ns;
	int users; /* processes that use it, itself included; 0: unknown */
};

/* Called from any thread, concurrently; a kind does its own locking. Lengths of
 * keys and values are legal. */
struct dist__store_kind {
	bool waits; /* ask() accepts WAIT, and waits in real time */

	/* Executes request; GET does not wait. What is found is a copy with a
	 * final 0, which the caller frees. Errors: any store error, and nothing
	 * is found then; TIMEOUT of WAIT: the key did not come. */
	enum dist_error (*ask)(struct dist_store *store,
			       struct dist__store_request *request);

	/* Writes the numeric host by which other users of the store reach this
	 * machine. NULL, or false: not known. */
	bool (*local_host)(struct dist_store *store, char *text, size_t size);

	/* Frees all of it. */
	void (*free)(struct dist_store *store);
};

/* dist__store_local_host calls local_host; false if that is NULL. */
bool dist__store_local_host(struct dist_store *store, char *text, size_t size);

/* dist__store_do calls ask(), and wakes the ranks of a simulation that wait for
 * what it stores. */
enum dist_error dist__store_do(struct dist_store *store,
			       struct dist__store_request *request);

/* dist__store_wait_for waits until key, which is legal, exists. Errors: any
 * store error; TIMEOUT: it does not come; DEADLOCK. */
enum dist_error dist__store_wait_for(struct dist_store *store,
				     struct dist__bytes key,
				     int64_t timeout_ns);

/* dist__store_get_within is dist_store_get() with its own timeout; 0: does not
 * wait. */
enum dist_error dist__store_get_within(struct dist_store *store,
				       const char *key, int64_t timeout_ns,
				       char **value, size_t *len);

/* The state of a wait by polling, of a rank of a simulation for a store that is
 * not served yet, or for one that cannot wait. */
struct dist__patience {
	int64_t left_ns, waited_ns;
};

/*
 * dist__patience_pause sleeps for a short time, longer each time, and takes it
 * from patience->left_ns; in a simulation this is simulated time. Errors:
 * TIMEOUT (nothing was left), DEADLOCK (the simulation has ended, or a year of
 * it has passed).
 */
enum dist_error dist__patience_pause(struct dist__patience *patience);

/* dist__file_store_open is dist_file_store_new(); while the file belongs to a
 * running job it waits, at most timeout_ns. */
enum dist_error dist__file_store_open(const char *path, int world_size,
				      int64_t timeout_ns,
				      struct dist_store **store,
				      struct dist_message *message);

#endif
