/* store.c - the store that the ranks share: keys and values come out of the
 * memory of whoever asks, and go there. */
#include "sim/seat/store.h"

#include <stdlib.h>

#include "lockstep/store.h"
#include "sim/seat/op.h"

/* What a request has of the rank's memory: copies, each with a 0 behind. */
struct request {
	char *key, *value, *other;
};

static enum dist_error take(int pid, const struct dist__seat_text *text,
			    char **copy)
{
	if (!text->at)
		return DIST_OK;
	*copy = calloc(1, text->len + 1);
	if (!*copy)
		return DIST_ERR_NO_MEMORY;
	return dist__seat_read(pid, *copy, text->at, text->len);
}

static enum dist_error keep(struct dist__seat_slot *seat,
			    struct dist__seat_value *value, char *bytes,
			    size_t len)
{
	free(value->bytes);
	*value = (struct dist__seat_value){bytes, len};
	seat->value.len = len;
	return DIST_OK;
}

static enum dist_error compare(struct dist_store *store,
			       struct dist__seat_slot *seat,
			       const struct request *r,
			       struct dist__seat_value *value)
{
	char *now;
	size_t len;
	enum dist_error error = dist_store_compare_set(store, r->key, r->other,
						       r->value, &now, &len);

	return error ? error : keep(seat, value, now, len);
}

/* Looks whether the key is there, and what it is. */
static enum dist_error look(struct dist_store *store,
			    struct dist__seat_slot *seat,
			    const struct request *r,
			    struct dist__seat_value *value)
{
	const char *key = r->key;
	char *now;
	size_t len;
	enum dist_error error = dist_store_check(store, &key, 1, &seat->done);

	if (error || !seat->done)
		return error;
	error = dist_store_get(store, r->key, &now, &len);
	return error ? error : keep(seat, value, now, len);
}

static enum dist_error wait_for(struct dist_store *store,
				const struct dist__seat_slot *seat,
				const struct request *r)
{
	const char *key = r->key;

	return dist_store_wait(store, &key, 1, seat->time_ns);
}

static enum dist_error serve(struct dist_store *store, int stands_for,
			     struct dist__seat_slot *seat,
			     const struct request *r,
			     struct dist__seat_value *value)
{
	switch (seat->code) {
	case DIST__SEAT_STORE_SET:
		return dist_store_set(store, r->key, r->value, seat->value.len);
	case DIST__SEAT_STORE_ADD:
		return dist_store_add(store, r->key, seat->number * stands_for,
				      &seat->number);
	case DIST__SEAT_STORE_COMPARE:
		return compare(store, seat, r, value);
	case DIST__SEAT_STORE_DELETE:
		return dist_store_delete_key(store, r->key, &seat->done);
	case DIST__SEAT_STORE_COUNT:
		return dist_store_num_keys(store, &seat->number);
	case DIST__SEAT_STORE_LOOK:
		return look(store, seat, r, value);
	case DIST__SEAT_STORE_WAIT:
		return wait_for(store, seat, r);
	case DIST__SEAT_STORE_FETCH:
		return dist__seat_write(seat->pid, seat->address, value->bytes,
					value->len);
	default:
		return DIST_ERR_INVALID_ARGUMENT;
	}
}

enum dist_error dist__seat_store_serve(struct dist_store *store, int stands_for,
				       struct dist__seat_slot *seat,
				       struct dist__seat_value *value)
{
	struct request r = {NULL, NULL, NULL};
	enum dist_error error = take(seat->pid, &seat->key, &r.key);

	if (!error)
		error = take(seat->pid, &seat->value, &r.value);
	if (!error)
		error = take(seat->pid, &seat->other, &r.other);
	if (!error)
		error = serve(store, stands_for, seat, &r, value);
	free(r.key);
	free(r.value);
	free(r.other);
	return error;
}
