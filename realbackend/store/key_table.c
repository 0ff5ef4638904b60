#define _GNU_SOURCE /* tdestroy */
#include "realbackend/store/key_table.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stored {
	struct dist__bytes key;
	size_t value_len;
	unsigned char *value; /* owned */
	unsigned char text[]; /* of the key */
};

struct dist__table {
	void *root;          /* of the tree of entries: search.h */
	size_t count, bytes; /* of keys and values */
	size_t most_keys, most_bytes;
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

static void entry_free(void *node)
{
	struct stored *entry = node;

	free(entry->value);
	free(entry);
}

void dist__table_free(struct dist__table *table)
{
	if (table)
		tdestroy(table->root, entry_free);
	free(table);
}

/* Of keys; an entry begins with its own. */
static int compare(const void *a, const void *b)
{
	const struct dist__bytes *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->len ? memcmp(x->data, y->data, x->len) : 0;
}

static struct stored *find(const struct dist__table *table,
			   struct dist__bytes key)
{
	struct stored *const *node = tfind(&key, &table->root, compare);

	return node ? *node : NULL;
}

static struct stored *insert(struct dist__table *table, struct dist__bytes key)
{
	struct stored *entry = calloc(1, sizeof *entry + key.len);

	if (!entry)
		return NULL;
	memcpy(entry->text, key.data, key.len);
	entry->key = (struct dist__bytes){entry->text, key.len};
	if (!tsearch(entry, &table->root, compare)) {
		free(entry);
		return NULL;
	}
	table->count++;
	table->bytes += key.len;
	return entry;
}

/* Whether there is room for value under key, which entry has now; NULL: it is
 * new. What becomes no longer always has. */
static bool fits(const struct dist__table *table, const struct stored *entry,
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
	struct stored *entry = find(table, key);
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
	const struct stored *entry = find(table, key);

	if (!entry)
		return false;
	value->data = entry->value;
	value->len = entry->value_len;
	return true;
}

bool dist__table_delete(struct dist__table *table, struct dist__bytes key)
{
	struct stored *entry = find(table, key);

	if (!entry)
		return false;
	(void)tdelete(entry, &table->root, compare);
	table->bytes -= entry->key.len + entry->value_len;
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
		change->sets = there ? compare(&value, &request->expected) == 0
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
