/* prefix_store.c - passes everything on to the store below, under another key.
 */
#include <stdlib.h>
#include <string.h>

#include "realbackend/store/store.h"

struct prefix_store {
	struct dist_store base;
	struct dist_store *inner; /* borrowed */
	size_t len;
	char prefix[]; /* with the slash */
};

/* Room for a key with its prefix and the final 0. */
typedef char long_key[DIST_STORE_MAX_KEY + 1];

/* Writes prefix and key; returns the store below, NULL: they are too long. */
static struct dist_store *below(struct dist_store *store, const char *key,
				long_key whole)
{
	const struct prefix_store *prefixed = (struct prefix_store *)store;
	size_t len = strlen(key);

	if (prefixed->len + len > DIST_STORE_MAX_KEY)
		return NULL;
	memcpy(whole, prefixed->prefix, prefixed->len);
	memcpy(whole + prefixed->len, key, len + 1);
	return prefixed->inner;
}

static enum dist_error prefix_set(struct dist_store *store, const char *key,
				  struct dist__bytes value)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? inner->kind->set(inner, whole, value)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error prefix_add(struct dist_store *store, const char *key,
				  int64_t amount, int64_t *sum)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? inner->kind->add(inner, whole, amount, sum)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error prefix_compare_set(struct dist_store *store,
					  const char *key,
					  struct dist__bytes expected,
					  struct dist__bytes desired,
					  char **value, size_t *len)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? inner->kind->compare_set(inner, whole, expected, desired,
						value, len)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error prefix_delete_key(struct dist_store *store,
					 const char *key, bool *deleted)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? inner->kind->delete_key(inner, whole, deleted)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error prefix_num_keys(struct dist_store *store,
				       int64_t *num_keys)
{
	struct dist_store *inner = ((struct prefix_store *)store)->inner;

	return inner->kind->num_keys(inner, num_keys);
}

static enum dist_error prefix_look(struct dist_store *store, const char *key,
				   bool *there, char **value, size_t *len)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? inner->kind->look(inner, whole, there, value, len)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error prefix_wait(struct dist_store *store, const char *key,
				   int64_t timeout_ns)
{
	long_key whole;
	struct dist_store *inner = below(store, key, whole);

	return inner ? dist__store_wait_for(inner, whole, timeout_ns)
		     : DIST_ERR_INVALID_ARGUMENT;
}

static bool prefix_local_host(struct dist_store *store, char *text, size_t size)
{
	return dist__store_local_host(((struct prefix_store *)store)->inner,
				      text, size);
}

static void prefix_free(struct dist_store *store)
{
	free(store);
}

static const struct dist__store_kind prefix_kind = {
	.set = prefix_set,
	.add = prefix_add,
	.compare_set = prefix_compare_set,
	.delete_key = prefix_delete_key,
	.num_keys = prefix_num_keys,
	.look = prefix_look,
	.wait = prefix_wait,
	.local_host = prefix_local_host,
	.free = prefix_free,
};

enum dist_error dist_prefix_store_new(const char *prefix,
				      struct dist_store *inner,
				      struct dist_store **store)
{
	struct prefix_store *prefixed;
	size_t len;

	if (!prefix || !inner || !store || strlen(prefix) >= DIST_STORE_MAX_KEY)
		return DIST_ERR_INVALID_ARGUMENT;
	len = strlen(prefix);
	prefixed = malloc(sizeof *prefixed + len + 1);
	if (!prefixed)
		return DIST_ERR_NO_MEMORY;
	prefixed->base.kind = &prefix_kind;
	prefixed->base.timeout_ns = inner->timeout_ns;
	prefixed->inner = inner;
	memcpy(prefixed->prefix, prefix, len);
	prefixed->prefix[len] = '/';
	prefixed->len = len + 1;
	*store = &prefixed->base;
	return DIST_OK;
}
