/* store.c - the store that the ranks of a simulation share, where a rank is a
 * process of its own: a kind of store whose calls are requests. */
#include <stdlib.h>
#include <string.h>

#include "lockstep/seat.h"
#include "realbackend/seat/slot.h"
#include "realbackend/store/store.h"

static struct dist__seat_text text_of(struct dist__bytes bytes)
{
	const void *at = bytes.data;

	return (struct dist__seat_text){at ? at : "", bytes.len};
}

/* Begins a request about key. */
static struct dist__seat_slot *begin(const char *key)
{
	struct dist__seat_slot *seat = dist__seat_begin();

	seat->key = (struct dist__seat_text){key, key ? strlen(key) : 0};
	seat->value = seat->other = (struct dist__seat_text){NULL, 0};
	return seat;
}

static enum dist_error end(enum dist_error error)
{
	dist__seat_end();
	return error;
}

/* Fetches the value whose size the last answer gave. */
static enum dist_error fetch(struct dist__seat_slot *seat, char **value,
			     size_t *len)
{
	size_t bytes = seat->value.len;
	char *copy = calloc(1, bytes + 1);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	seat->key = seat->value = (struct dist__seat_text){NULL, 0};
	seat->address = copy;
	if (copy)
		error = dist__seat_ask(seat, DIST__SEAT_STORE_FETCH);
	if (error) {
		free(copy);
		return error;
	}
	*value = copy;
	if (len)
		*len = bytes;
	return DIST_OK;
}

static enum dist_error store_set(struct dist_store *store, const char *key,
				 struct dist__bytes value)
{
	struct dist__seat_slot *seat = begin(key);

	(void)store;
	seat->value = text_of(value);
	return end(dist__seat_ask(seat, DIST__SEAT_STORE_SET));
}

static enum dist_error store_add(struct dist_store *store, const char *key,
				 int64_t amount, int64_t *sum)
{
	struct dist__seat_slot *seat = begin(key);
	enum dist_error error;

	(void)store;
	seat->number = amount;
	error = dist__seat_ask(seat, DIST__SEAT_STORE_ADD);
	if (!error)
		*sum = seat->number;
	return end(error);
}

static enum dist_error store_compare_set(struct dist_store *store,
					 const char *key,
					 struct dist__bytes expected,
					 struct dist__bytes desired,
					 char **value, size_t *len)
{
	struct dist__seat_slot *seat = begin(key);
	enum dist_error error;

	(void)store;
	seat->value = text_of(desired);
	seat->other = text_of(expected);
	error = dist__seat_ask(seat, DIST__SEAT_STORE_COMPARE);
	if (!error)
		seat->other = (struct dist__seat_text){NULL, 0};
	return end(error ? error : fetch(seat, value, len));
}

static enum dist_error store_delete_key(struct dist_store *store,
					const char *key, bool *deleted)
{
	struct dist__seat_slot *seat = begin(key);
	enum dist_error error = dist__seat_ask(seat, DIST__SEAT_STORE_DELETE);

	(void)store;
	if (!error)
		*deleted = seat->done;
	return end(error);
}

static enum dist_error store_num_keys(struct dist_store *store,
				      int64_t *num_keys)
{
	struct dist__seat_slot *seat = begin(NULL);
	enum dist_error error = dist__seat_ask(seat, DIST__SEAT_STORE_COUNT);

	(void)store;
	if (!error)
		*num_keys = seat->number;
	return end(error);
}

static enum dist_error store_look(struct dist_store *store, const char *key,
				  bool *there, char **value, size_t *len)
{
	struct dist__seat_slot *seat = begin(key);
	enum dist_error error = dist__seat_ask(seat, DIST__SEAT_STORE_LOOK);

	(void)store;
	if (!error)
		*there = seat->done;
	if (!error && *there && value)
		error = fetch(seat, value, len);
	return end(error);
}

/* On the clock of the simulation. */
static enum dist_error store_wait(struct dist_store *store, const char *key,
				  int64_t timeout_ns)
{
	struct dist__seat_slot *seat = begin(key);

	(void)store;
	seat->time_ns = timeout_ns;
	return end(dist__seat_ask(seat, DIST__SEAT_STORE_WAIT));
}

static void store_free(struct dist_store *store)
{
	free(store);
}

static const struct dist__store_kind kind = {
	.set = store_set,
	.add = store_add,
	.compare_set = store_compare_set,
	.delete_key = store_delete_key,
	.num_keys = store_num_keys,
	.look = store_look,
	.wait = store_wait,
	.free = store_free,
};

enum dist_error dist_seat_store_new(struct dist_store **store)
{
	struct dist_store *fresh;
	enum dist_error error;

	if (!store)
		return DIST_ERR_INVALID_ARGUMENT;
	error = dist__seat_open(NULL);
	if (error)
		return DIST_ERR_UNAVAILABLE;
	fresh = calloc(1, sizeof *fresh);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->kind = &kind;
	fresh->timeout_ns = DIST_STORE_TIMEOUT_DEFAULT;
	*store = fresh;
	return DIST_OK;
}
