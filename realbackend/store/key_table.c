#include "realbackend/store/key_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chains grow with the number of keys; a store of one job has few. */
#define BUCKETS 1024

struct entry {
	struct entry *next;
	size_t key_len, value_len;
	unsigned char *value; /* owned */
	unsigned char key[];
};

struct dist__table {
	size_t count, bytes; /* of keys and values */
	size_t most_keys, most_bytes;
	struct entry *buckets[BUCKETS];
};

struct dist__table *dist__table_new(void)
{
	struct dist__table *table = calloc(1, sizeof *table);

	if (table)
		dist__table_limit(table, SIZE_MAX, SIZE_MAX);
	return table;
}

void dist__table_limit(struct dist__table *table, size_t keys, size_t bytes)
{
	table->most_keys = keys;
	table->most_bytes = bytes;
}

static void entry_free(struct entry *entry)
{
	free(entry->value);
	free(entry);
}

void dist__table_free(struct dist__table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (table->buckets[i]) {
			struct entry *entry = table->buckets[i];

			table->buckets[i] = entry->next;
			entry_free(entry);
		}
	free(table);
}

static size_t bucket_of(struct dist__bytes key)
{
	/* FNV-1a: draft-eastlake-fnv. */
	uint32_t hash = UINT32_C(2166136261);

	for (size_t i = 0; i < key.len; i++)
		hash = (hash ^ key.data[i]) * UINT32_C(16777619);
	return hash % BUCKETS;
}

static bool same(struct dist__bytes a, struct dist__bytes b)
{
	return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

static struct entry *find(const struct dist__table *table,
			  struct dist__bytes key)
{
	struct entry *entry = table->buckets[bucket_of(key)];

	while (entry &&
	       !same((struct dist__bytes){entry->key, entry->key_len}, key))
		entry = entry->next;
	return entry;
}

static struct entry *insert(struct dist__table *table, struct dist__bytes key)
{
	struct entry *entry = calloc(1, sizeof *entry + key.len);
	size_t bucket = bucket_of(key);

	if (!entry)
		return NULL;
	entry->key_len = key.len;
	memcpy(entry->key, key.data, key.len);
	entry->next = table->buckets[bucket];
	table->buckets[bucket] = entry;
	table->count++;
	table->bytes += key.len;
	return entry;
}

/* Whether there is room for value under key, which entry has now; NULL: it is
 * new. What becomes no longer always has. */
static bool fits(const struct dist__table *table, const struct entry *entry,
		 struct dist__bytes key, struct dist__bytes value)
{
	size_t before = entry ? entry->value_len : 0;
	size_t more = entry ? 0 : key.len;

	if (!entry && table->count >= table->most_keys)
		return false;
	if (value.len > before)
		more += value.len - before;
	return more == 0 || (table->bytes <= table->most_bytes &&
			     more <= table->most_bytes - table->bytes);
}

bool dist__table_set(struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes value)
{
	struct entry *entry = find(table, key);
	unsigned char *copy;

	if (!fits(table, entry, key, value))
		return false;
	copy = malloc(value.len ? value.len : 1);
	if (copy && !entry)
		entry = insert(table, key);
	if (!copy || !entry) {
		free(copy);
		return false;
	}
	if (value.len)
		memcpy(copy, value.data, value.len);
	free(entry->value);
	table->bytes += value.len - entry->value_len;
	entry->value = copy;
	entry->value_len = value.len;
	return true;
}

bool dist__table_get(const struct dist__table *table, struct dist__bytes key,
		     struct dist__bytes *value)
{
	const struct entry *entry = find(table, key);

	if (!entry)
		return false;
	value->data = entry->value;
	value->len = entry->value_len;
	return true;
}

bool dist__table_delete(struct dist__table *table, struct dist__bytes key)
{
	struct entry *entry = find(table, key);
	struct entry **link = &table->buckets[bucket_of(key)];

	if (!entry)
		return false;
	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	table->bytes -= entry->key_len + entry->value_len;
	entry_free(entry);
	table->count--;
	return true;
}

enum dist_error dist__table_plan(const struct dist__table *table,
				 struct dist__store_request *request,
				 struct dist__table_change *change)
{
	struct dist__bytes value = request->expected;
	int64_t number = 0;
	bool there = dist__table_get(table, request->key, &value);

	*change = (struct dist__table_change){.value = request->value};
	request->there = there;
	switch (request->op) {
	case DIST__STORE_SET:
		change->sets = true;
		break;
	case DIST__STORE_ADD:
		if (there && !dist__bytes_number(value, &number))
			return DIST_ERR_INVALID_ARGUMENT;
		number =
			(int64_t)((uint64_t)number + (uint64_t)request->number);
		snprintf(change->text, sizeof change->text, "%lld",
			 (long long)number);
		request->number = number;
		change->value = dist__bytes_text(change->text);
		change->sets = true;
		break;
	case DIST__STORE_COMPARE_SET:
		change->sets = there ? same(value, request->expected)
				     : request->expected.len == 0;
		request->found = change->sets ? request->value : value;
		break;
	case DIST__STORE_NUM_KEYS:
		request->number = (int64_t)table->count;
		break;
	default:
		request->number = there;
		change->deletes = there && request->op == DIST__STORE_DELETE;
		if (there && request->op == DIST__STORE_GET)
			request->found = value;
	}
	return DIST_OK;
}

enum dist_error dist__table_do(struct dist__table *table,
			       struct dist__store_request *request)
{
	struct dist__table_change change;
	enum dist_error error = dist__table_plan(table, request, &change);

	if (error)
		return error;
	if (change.sets && !dist__table_set(table, request->key, change.value))
		return DIST_ERR_NO_MEMORY;
	request->stored = change.sets;
	if (change.deletes)
		(void)dist__table_delete(table, request->key);
	return DIST_OK;
}
