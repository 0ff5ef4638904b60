/* store_cases.h - what every store must do, as one table of cases. */
#ifndef LOCKSTEP_TESTS_SUPPORT_STORE_CASES_H
#define LOCKSTEP_TESTS_SUPPORT_STORE_CASES_H

#include "lockstep/store.h"

/* One store as several users have it, or as one and the same object. */
enum { STORE_USERS = 3 };
struct store_users {
	struct dist_store *all[STORE_USERS];
};

/* A store_opener opens an empty store, with its file, if it has one, at path.
 * false: it could not. */
typedef bool store_opener(struct store_users *users, const char *path);
store_opener store_open_hash, store_open_file, store_open_tcp;
void store_close(struct store_users *users);

/* store_try_all runs every case over a store of its own, or over a prefix of
 * it. Returns NULL, or which case failed and how. */
const char *store_try_all(store_opener *open, const char *path, bool prefixed);

#endif
