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

/* dist__table_sum stores the number under key (none: 0) plus amount, wrapping
 * around. Errors: INVALID_ARGUMENT (the value is no decimal number). */
enum dist_error dist__table_sum(const struct dist__table *table,
				struct dist__bytes key, int64_t amount,
				int64_t *sum);

/* dist__table_add stores that sum under key too, as decimal text. Errors:
 * INVALID_ARGUMENT, NO_MEMORY; nothing changed then. */
enum dist_error dist__table_add(struct dist__table *table,
				struct dist__bytes key, int64_t amount,
				int64_t *sum);

/*
 * dist__table_swaps returns whether compare_set is to store desired: the value
 * there is expected, or there is none and expected is empty. *now is what
 * torch's stores answer: the value afterwards, or expected when there is none;
 * owned by the table or the caller's.
 */
bool dist__table_swaps(const struct dist__table *table, struct dist__bytes key,
		       struct dist__bytes expected, struct dist__bytes desired,
		       struct dist__bytes *now);

/* dist__table_compare_set stores desired if it is to be stored. Errors:
 * NO_MEMORY; nothing changed then. */
enum dist_error dist__table_compare_set(struct dist__table *table,
					struct dist__bytes key,
					struct dist__bytes expected,
					struct dist__bytes desired,
					struct dist__bytes *now);

/* dist__table_count returns the number of keys. */
size_t dist__table_count(const struct dist__table *table);

#endif
