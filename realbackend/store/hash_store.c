/* hash_store.c - a store in memory: a table, a lock, and a condition that every
 * change of the table signals. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/wait.h"
#include "realbackend/store/store.h"
#include "realbackend/store/key_table.h"

struct hash_store {
	struct dist_store base;
	struct dist__table *table;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* waits by CLOCK_MONOTONIC */
};

static struct hash_store *enter(struct dist_store *store)
{
	struct hash_store *hash = (struct hash_store *)store;

	pthread_mutex_lock(&hash->mutex);
	return hash;
}

static void leave(struct hash_store *hash)
{
	pthread_mutex_unlock(&hash->mutex);
}

static void leave_changed(struct hash_store *hash)
{
	pthread_cond_broadcast(&hash->changed);
	leave(hash);
}

static enum dist_error hash_set(struct dist_store *store, const char *key,
				struct dist__bytes value)
{
	struct hash_store *hash = enter(store);
	bool good = dist__table_set(hash->table, dist__bytes_text(key), value);

	leave_changed(hash);
	return good ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error hash_add(struct dist_store *store, const char *key,
				int64_t amount, int64_t *sum)
{
	struct hash_store *hash = enter(store);
	enum dist_error error = dist__table_add(
		hash->table, dist__bytes_text(key), amount, sum);

	leave_changed(hash);
	return error;
}

static enum dist_error hash_compare_set(struct dist_store *store,
					const char *key,
					struct dist__bytes expected,
					struct dist__bytes desired,
					char **value, size_t *len)
{
	struct hash_store *hash = enter(store);
	struct dist__bytes now;
	enum dist_error error = dist__table_compare_set(
		hash->table, dist__bytes_text(key), expected, desired, &now);

	if (!error)
		error = dist__bytes_duplicate(now, value, len);
	leave_changed(hash);
	return error;
}

static enum dist_error hash_delete_key(struct dist_store *store,
				       const char *key, bool *deleted)
{
	struct hash_store *hash = enter(store);

	*deleted = dist__table_delete(hash->table, dist__bytes_text(key));
	leave(hash);
	return DIST_OK;
}

static enum dist_error hash_num_keys(struct dist_store *store,
				     int64_t *num_keys)
{
	struct hash_store *hash = enter(store);

	*num_keys = (int64_t)dist__table_count(hash->table);
	leave(hash);
	return DIST_OK;
}

static enum dist_error hash_look(struct dist_store *store, const char *key,
				 bool *there, char **value, size_t *len)
{
	struct hash_store *hash = enter(store);
	struct dist__bytes found;
	enum dist_error error = DIST_OK;

	*there = dist__table_get(hash->table, dist__bytes_text(key), &found);
	if (*there && value)
		error = dist__bytes_duplicate(found, value, len);
	leave(hash);
	return error;
}

static enum dist_error hash_wait(struct dist_store *store, const char *key,
				 int64_t timeout_ns)
{
	int64_t deadline_ns = dist__clock_after(timeout_ns);
	struct hash_store *hash = enter(store);
	struct dist__bytes found;
	bool there, in_time = true;

	for (;;) {
		there = dist__table_get(hash->table, dist__bytes_text(key),
					&found);
		if (there || !in_time)
			break;
		in_time = dist__condition_wait(&hash->changed, &hash->mutex,
					       deadline_ns);
	}
	leave(hash);
	return there ? DIST_OK : DIST_ERR_TIMEOUT;
}

static void hash_free(struct dist_store *store)
{
	struct hash_store *hash = (struct hash_store *)store;

	pthread_cond_destroy(&hash->changed);
	pthread_mutex_destroy(&hash->mutex);
	dist__table_free(hash->table);
	free(hash);
}

static const struct dist__store_kind hash_kind = {
	.set = hash_set,
	.add = hash_add,
	.compare_set = hash_compare_set,
	.delete_key = hash_delete_key,
	.num_keys = hash_num_keys,
	.look = hash_look,
	.wait = hash_wait,
	.local_host = NULL,
	.free = hash_free,
};

enum dist_error dist_hash_store_new(struct dist_store **store)
{
	struct hash_store *hash;

	if (!store)
		return DIST_ERR_INVALID_ARGUMENT;
	hash = calloc(1, sizeof *hash);
	if (hash)
		hash->table = dist__table_new();
	if (!hash || !hash->table) {
		free(hash);
		return DIST_ERR_NO_MEMORY;
	}
	dist__condition_init(&hash->changed);
	pthread_mutex_init(&hash->mutex, NULL);
	hash->base.kind = &hash_kind;
	hash->base.timeout_ns = DIST_STORE_TIMEOUT_DEFAULT;
	*store = &hash->base;
	return DIST_OK;
}
