/* key_table.h - the keys and values of a store, and atomic operations on them.
 * No lock: a store has its own. */
#ifndef LOCKSTEP_STORE_KEY_TABLE_H
#define LOCKSTEP_STORE_KEY_TABLE_H

#include "realbackend/store/parcel.h"
#include "lockstep/dist.h"

struct dist__table;

/* dist__table_new makes an empty table; NULL: no memory. */
struct dist__table *dist__table_new(void);

/* dist__table_limit sets the maximum of keys, and of bytes of keys and values
 * together. A new key or longer value beyond these fails as without memory. */
void dist__table_limit(struct dist__table *table, size_t keys, size_t bytes);

/* dist__table_free frees it; NULL allowed. */
void dist__table_free(struct dist__table *table);

/* dist__table_set stores copies; false: no memory, nothing changed. */
bool dist__table_set(struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes value);

/* dist__table_get finds a value, which the table owns; false: there is none. */
bool dist__table_get(const struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes *value);

/* dist__table_delete returns whether the key existed. */
bool dist__table_delete(struct dist__table *table, struct dist__bytes key);

/* The change that a request makes to its key: set a value, delete the key, or
 * nothing. */
struct dist__table_change {
	bool sets, deletes;
	struct dist__bytes value; /* of the request, or in text */
	char text[24];
};

/*
 * dist__table_plan answers request from the table, and stores in *change, which
 * must not move, what dist__table_do() has to change. What is found belongs to
 * the table or the request. Compare-and-set answers as torch's stores do: the
 * value afterwards, or `expected` if there is none. It sets if the value is
 * `expected`, or if there is none and `expected` is empty. A sum wraps around.
 * Errors: INVALID_ARGUMENT (ADD to a value that is no decimal number).
 */
enum dist_error dist__table_plan(const struct dist__table *table,
				 struct dist__store_request *request,
				 struct dist__table_change *change);

/* dist__table_do answers request and changes the table. Errors:
 * INVALID_ARGUMENT, NO_MEMORY; then nothing has changed. */
enum dist_error dist__table_do(struct dist__table *table,
			       struct dist__store_request *request);

#endif
