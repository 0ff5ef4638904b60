/* table.h - the store's keys and values. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_TABLE_H
#define LOCKSTEP_TCP_TABLE_H

#include "realbackend/tcp/parcel.h"

struct dist__table;

/* dist__table_new makes an empty table; NULL: no memory. */
struct dist__table *dist__table_new(void);

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

/* dist__table_count returns the number of keys. */
size_t dist__table_count(const struct dist__table *table);

#endif
