/*
 * store.h - what a kind of store is made of: realbackend/store/store.c checks
 * arguments and waits, a kind does one thing to one key at a time.
 */
#ifndef LOCKSTEP_STORE_STORE_H
#define LOCKSTEP_STORE_STORE_H

#include "realbackend/store/parcel.h"
#include "lockstep/store.h"

struct dist_store {
	const struct dist__store_kind *kind;
	int64_t timeout_ns;
};

/* Called from any thread, several at once; a kind guards itself. Keys and
 * values have lengths that are legal. */
struct dist__store_kind {
	bool waits; /* ask() takes WAIT, and waits in real time */

	/* Does what request says; GET does not wait. What is found is a copy,
	 * with a 0 behind it, for the caller to free. Errors: any store error,
	 * and nothing is found then; TIMEOUT of WAIT: the key did not come. */
	enum dist_error (*ask)(struct dist_store *store,
			       struct dist__store_request *request);

	/* Writes the numeric host by which other users of the store reach this
	 * machine. NULL, or false: the store does not know. */
	bool (*local_host)(struct dist_store *store, char *text, size_t size);

	/* Frees all of it. */
	void (*free)(struct dist_store *store);
};

/* dist__store_local_host is the slot local_host, false where it is NULL. */
bool dist__store_local_host(struct dist_store *store, char *text, size_t size);

/* dist__store_wait_for waits until key, which is legal, is there. Errors: any
 * store error; TIMEOUT when it does not come; DEADLOCK. */
enum dist_error dist__store_wait_for(struct dist_store *store,
				     struct dist__bytes key,
				     int64_t timeout_ns);

/* dist__store_get_within is dist_store_get() with a timeout of its own, which
 * may be 0: does not wait. */
enum dist_error dist__store_get_within(struct dist_store *store,
				       const char *key, int64_t timeout_ns,
				       char **value, size_t *len);

/* What a rank of a simulation, or somebody without a better way, does between
 * two looks. */
struct dist__patience {
	int64_t left_ns, waited_ns;
};

/*
 * dist__patience_pause lets a little time pass, more each time, of which
 * patience->left_ns is the rest: in a simulation simulated time. Errors:
 * TIMEOUT (nothing was left), DEADLOCK (the simulation has ended, or a year of
 * it has passed).
 */
enum dist_error dist__patience_pause(struct dist__patience *patience);

/* dist__file_store_open is dist_file_store_new(), waiting until timeout_ns have
 * passed while the file still belongs to a job that is alive. */
enum dist_error dist__file_store_open(const char *path, int world_size,
				      int64_t timeout_ns,
				      struct dist_store **store,
				      struct dist_message *message);

#endif
