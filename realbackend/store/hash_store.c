/* hash_store.c - a store in memory: a table, a lock, and a condition that every
 * change of the table signals. */
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

static enum dist_error hash_ask(struct dist_store *store,
				struct dist__store_request *request)
{
	struct hash_store *hash = (struct hash_store *)store;
	int64_t deadline_ns = dist__clock_after(request->timeout_ns);
	bool waits = request->op == DIST__STORE_WAIT, in_time = true;
	enum dist_error error;

	pthread_mutex_lock(&hash->mutex);
	for (;;) {
		error = dist__table_do(hash->table, request);
		if (error || !waits || request->there || !in_time)
			break;
		in_time = dist__condition_wait(&hash->changed, &hash->mutex,
					       deadline_ns);
	}
	if (!error && request->found.data)
		error = dist__bytes_keep(&request->found);
	if (request->stored)
		pthread_cond_broadcast(&hash->changed);
	pthread_mutex_unlock(&hash->mutex);
	return !error && waits && !request->there ? DIST_ERR_TIMEOUT : error;
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
	.waits = true, .ask = hash_ask, .free = hash_free};

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
