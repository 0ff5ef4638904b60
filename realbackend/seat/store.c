/* store.c - the store that ranks of a simulation share, for a rank in its own
 * process: a kind of store whose operations are requests. */
#include <stdlib.h>

#include "lockstep/seat.h"
#include "realbackend/seat/slot.h"
#include "realbackend/store/store.h"

static struct dist__seat_text text_of(struct dist__bytes bytes)
{
	return (struct dist__seat_text){bytes.data, bytes.len};
}

/* Fetches the value whose size the last answer gave. */
static enum dist_error fetch(struct dist__seat_slot *seat,
			     struct dist__bytes *value)
{
	size_t bytes = seat->value.len;
	unsigned char *copy = calloc(1, bytes + 1);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	seat->key = seat->value = seat->other =
		(struct dist__seat_text){NULL, 0};
	seat->address = copy;
	if (copy)
		error = dist__seat_ask(seat, DIST__SEAT_STORE_FETCH);
	if (error)
		free(copy);
	else
		*value = (struct dist__bytes){copy, bytes};
	return error;
}

/* Waits on the clock of the simulation. */
static enum dist_error store_ask(struct dist_store *store,
				 struct dist__store_request *request)
{
	static const enum dist__seat_code codes[] = {
		[DIST__STORE_SET] = DIST__SEAT_STORE_SET,
		[DIST__STORE_GET] = DIST__SEAT_STORE_LOOK,
		[DIST__STORE_ADD] = DIST__SEAT_STORE_ADD,
		[DIST__STORE_WAIT] = DIST__SEAT_STORE_WAIT,
		[DIST__STORE_CHECK] = DIST__SEAT_STORE_LOOK,
		[DIST__STORE_DELETE] = DIST__SEAT_STORE_DELETE,
		[DIST__STORE_NUM_KEYS] = DIST__SEAT_STORE_COUNT,
		[DIST__STORE_COMPARE_SET] = DIST__SEAT_STORE_COMPARE,
	};
	bool compares = request->op == DIST__STORE_COMPARE_SET;
	bool gets = request->op == DIST__STORE_GET;
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error;

	(void)store;
	seat->key = text_of(request->key);
	seat->value = text_of(request->value);
	seat->other = text_of(request->expected);
	seat->number = request->number;
	seat->time_ns = request->timeout_ns;
	error = dist__seat_ask(seat, codes[request->op]);
	if (!error) {
		request->there = seat->done;
		request->number = seat->number;
	}
	if (!error && (compares || (gets && request->there)))
		error = fetch(seat, &request->found);
	dist__seat_end();
	return error;
}

static void store_free(struct dist_store *store)
{
	free(store);
}

static const struct dist__store_kind kind = {
	.waits = true, .ask = store_ask, .free = store_free};

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
