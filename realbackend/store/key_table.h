/* key_table.h - the keys and values of a store, and what can be done to one of
 * them in one step. Not guarded: a store has its own lock. */
#ifndef LOCKSTEP_STORE_KEY_TABLE_H
#define LOCKSTEP_STORE_KEY_TABLE_H

#include "realbackend/store/parcel.h"
#include "lockstep/dist.h"

struct dist__table;

/* dist__table_new makes an empty table; NULL: no memory. */
struct dist__table *dist__table_new(void);

/* dist__table_limit bounds what the table may hold from now on: keys, and bytes
 * of keys and values together. Where a key is new or a value longer than the
 * bounds allow, there is no memory for it. */
void dist__table_limit(struct dist__table *table, size_t keys, size_t bytes);

/* dist__table_free frees it; NULL allowed. */
void dist__table_free(struct dist__table *table);

/* dist__table_set stores copies; false: no memory, nothing changed. */
bool dist__table_set(struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes value);

/* dist__table_get finds a value, which the table owns; false: there is none. */
bool dist__table_get(const struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes *value);

/* dist__table_delete returns whether there was such a key. */
bool dist__table_delete(struct dist__table *table, struct dist__bytes key);

/* What a request makes of its key: a value is set, or the key deleted, or
 * neither. */
struct dist__table_change {
	bool sets, deletes;
	struct dist__bytes value; /* of the request, or in text */
	char text[24];
};

/*
 * dist__table_plan answers request, as far as the table knows, and says in
 * *change, which stays where it is, what is to be done to the table for it.
 * What is found is the table's or the request's. Compare-and-set answers as
 * torch's stores do: what is there afterwards, or expected when nothing is; it
 * sets where the value is expected, or where none is and expected is empty. A
 * sum wraps around. Errors: INVALID_ARGUMENT (ADD to what is no decimal
 * number).
 */
enum dist_error dist__table_plan(const struct dist__table *table,
				 struct dist__store_request *request,
				 struct dist__table_change *change);

/* dist__table_do answers request and changes the table. Errors:
 * INVALID_ARGUMENT, NO_MEMORY; nothing changed then. */
enum dist_error dist__table_do(struct dist__table *table,
			       struct dist__store_request *request);

#endif
