/* prefix_store.c - passes all operations to the store below, with longer keys.
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

static enum dist_error prefix_ask(struct dist_store *store,
				  struct dist__store_request *request)
{
	const struct prefix_store *prefixed = (struct prefix_store *)store;
	struct dist_store *inner = prefixed->inner;
	struct dist__bytes key = request->key;
	unsigned char whole[DIST_STORE_MAX_KEY];
	enum dist_error error;

	if (prefixed->len + key.len > sizeof whole)
		return DIST_ERR_INVALID_ARGUMENT;
	memcpy(whole, prefixed->prefix, prefixed->len);
	if (key.len)
		memcpy(whole + prefixed->len, key.data, key.len);
	request->key = (struct dist__bytes){whole, prefixed->len + key.len};
	error = request->op == DIST__STORE_WAIT
			? dist__store_wait_for(inner, request->key,
					       request->timeout_ns)
			: dist__store_do(inner, request);
	request->key = key;
	return error;
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
	.waits = true,
	.ask = prefix_ask,
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
	prefixed->base.users = inner->users;
	prefixed->inner = inner;
	memcpy(prefixed->prefix, prefix, len);
	prefixed->prefix[len] = '/';
	prefixed->len = len + 1;
	*store = &prefixed->base;
	return DIST_OK;
}
