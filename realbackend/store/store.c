#include "realbackend/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/record.h"
#include "core/backend.h"
#include "base/clock.h"
#include "base/hash.h"

/* Between two looks: an eighth of the time waited so far, within these. A
 * simulation has no upper bound, so that a long wait takes few looks. */
#define SHORTEST_PAUSE_NS           ((int64_t)100 * 1000)
#define LONGEST_PAUSE_NS            ((int64_t)20 * 1000000)
#define SHORTEST_SIMULATED_PAUSE_NS ((int64_t)1000)
/* Nobody waits longer in a simulation. */
#define YEAR_NS ((int64_t)365 * 86400 * 1000000000)

/* ---- waiting ------------------------------------------------------------ */

static int64_t clamp(int64_t ns, int64_t least, int64_t most)
{
	if (ns < least)
		ns = least;
	return ns < most ? ns : most;
}

enum dist_error dist__patience_pause(struct dist__patience *patience)
{
	const struct dist__world *here = dist__world_here();
	int64_t pause_ns = patience->waited_ns / 8;
	struct timespec time;

	if (patience->left_ns <= 0)
		return DIST_ERR_TIMEOUT;
	if (here && patience->waited_ns > YEAR_NS)
		return DIST_ERR_DEADLOCK;
	if (here)
		pause_ns = clamp(pause_ns, SHORTEST_SIMULATED_PAUSE_NS,
				 patience->left_ns);
	else
		pause_ns = clamp(
			clamp(pause_ns, SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS), 0,
			patience->left_ns);
	patience->waited_ns += pause_ns;
	if (patience->left_ns != DIST_TIMEOUT_NEVER)
		patience->left_ns -= pause_ns;
	if (here)
		return here->pause(pause_ns);
	/* Interrupted: the caller looks a little early. */
	time = dist__clock_timespec(pause_ns);
	(void)nanosleep(&time, NULL);
	return DIST_OK;
}

static uint64_t hash_of(struct dist__bytes key)
{
	return dist__hash_bytes(DIST__HASH_BEGIN, key.data, key.len);
}

/* To add 0 is to ask, though it may make a number that is 0. */
static bool asks(const struct dist__store_request *request)
{
	return request->op == DIST__STORE_ADD && request->number == 0;
}

static bool stores(const struct dist__store_request *request)
{
	return request->op == DIST__STORE_SET ||
	       request->op == DIST__STORE_ADD ||
	       request->op == DIST__STORE_COMPARE_SET;
}

enum dist_error dist__store_do(struct dist_store *store,
			       struct dist__store_request *request)
{
	const struct dist__world *here = dist__world_here();
	bool asked = asks(request);
	enum dist_error error = store->kind->ask(store, request);

	if (here && !error && stores(request) && !(asked && request->number))
		here->has_stored(hash_of(request->key));
	return error;
}

enum dist_error dist__store_wait_for(struct dist_store *store,
				     struct dist__bytes key, int64_t timeout_ns)
{
	const struct dist__world *here = dist__world_here();
	struct dist__patience patience = {.left_ns = timeout_ns};
	struct dist__store_request request = {
		.op = DIST__STORE_WAIT, .key = key, .timeout_ns = timeout_ns};
	enum dist_error error;

	/* A rank that slept for real would stop all others of a simulation. */
	if (store->kind->waits && !here)
		return store->kind->ask(store, &request);
	request.op = DIST__STORE_CHECK;
	for (;;) {
		error = store->kind->ask(store, &request);
		if (error || request.there)
			return error;
		error = here ? here->await_key(
				       hash_of(key), timeout_ns,
				       timeout_ns < DIST_STORE_TIMEOUT_DEFAULT)
			     : dist__patience_pause(&patience);
		if (error)
			return error;
	}
}

/* Stores what was found; where nobody asks for its length, len is NULL. */
static void give(const struct dist__store_request *request, char **value,
		 size_t *len)
{
	*value = (char *)request->found.data;
	if (len)
		*len = request->found.len;
}

bool dist__store_local_host(struct dist_store *store, char *text, size_t size)
{
	return store->kind->local_host &&
	       store->kind->local_host(store, text, size);
}

/* ---- what the rank's records say of it ---------------------------------- */

/* The line of the call that comes next. */
static _Thread_local struct check_site noted;

struct dist_store *dist_store_at(struct dist_store *store, const char *file,
				 int line)
{
	check_site_set(&noted, file, line);
	return store;
}

static struct check_site take_site(void)
{
	const struct check_site site = noted;

	noted = (struct check_site){.line = 0};
	return site;
}

/* A wait as the program called it. */
struct call {
	const char *op;
	int64_t timeout_ns;
	bool polls; /* it does not wait itself, but cannot go on */
	struct check_site site;
};

/* Waits for key, for what is left of the call's time. A rank that is a process
 * has recorded it before the simulation, which it asks, waits. */
static enum dist_error await(struct dist_store *store, const char *key,
			     int64_t left_ns, const struct call *call)
{
	const struct dist__bytes bytes = dist__bytes_text(key);
	struct check_slot *slot = dist__records_own();
	uint32_t number = 0, before = slot ? slot->state : 0;
	enum dist_error error;

	if (slot && slot->state != CHECK_RANK_WAITING)
		number = check_await_key(slot, call->op, key, call->timeout_ns,
					 store->users, &call->site);
	error = call->polls ? dist__world_here()->await_key(hash_of(bytes),
							    left_ns, false)
			    : dist__store_wait_for(store, bytes, left_ns);
	if (number)
		check_await_key_end(slot, number, (int32_t)error);
	/* Who has left the job is as it was. */
	if (number && slot->state == CHECK_RANK_RUNNING)
		slot->state = before;
	return error;
}

/* What comes of asking for key and hearing nothing new: time passes for a rank
 * of a simulation, or nobody could ever answer it. Who has asked in vain for
 * long waits, so that there is an end. A real rank records it. */
static enum dist_error hear_nothing(struct dist_store *store, const char *key,
				    struct call *call)
{
	const struct dist__world *here = dist__world_here();
	struct check_slot *slot = here ? NULL : dist__records_own();
	enum dist_error error =
		here ? here->ask_again(hash_of(dist__bytes_text(key)))
		     : DIST_OK;

	if (slot)
		check_poll(slot, key, dist__clock_ns(), &call->site);
	if (error != DIST_ERR_TIMEOUT)
		return error;
	call->polls = true;
	call->timeout_ns = DIST_TIMEOUT_NEVER;
	return await(store, key, DIST_TIMEOUT_NEVER, call);
}

/* Gets the value of key; call: NULL where the program made none. */
static enum dist_error get(struct dist_store *store, const char *key,
			   int64_t timeout_ns, const struct call *call,
			   char **value, size_t *len)
{
	struct dist__store_request request = {.op = DIST__STORE_GET,
					      .key = dist__bytes_text(key)};
	enum dist_error error;

	for (;;) {
		error = store->kind->ask(store, &request);
		if (!error && request.there)
			give(&request, value, len);
		if (error || request.there)
			return error;
		/* Deleted between the wait and the look: it waits anew. */
		error = call ? await(store, key, timeout_ns, call)
			     : dist__store_wait_for(store, request.key,
						    timeout_ns);
		if (error)
			return error;
	}
}

enum dist_error dist__store_get_within(struct dist_store *store,
				       const char *key, int64_t timeout_ns,
				       char **value, size_t *len)
{
	return get(store, key, timeout_ns, NULL, value, len);
}

/* Executes a request that stores. */
static enum dist_error put(struct dist_store *store, const char *key,
			   struct dist__store_request *request)
{
	struct call call = {.op = "store_add", .site = take_site()};
	struct check_slot *slot = dist__records_own();
	bool asked = asks(request);
	enum dist_error error;

	request->key = dist__bytes_text(key);
	error = dist__store_do(store, request);
	if (!error && asked)
		return hear_nothing(store, key, &call);
	if (slot && !error)
		check_store(slot, key, &call.site);
	return error;
}

/* ---- the public calls --------------------------------------------------- */

static bool is_key(const char *key)
{
	return key && *key && strlen(key) <= DIST_STORE_MAX_KEY;
}

void dist_store_free(struct dist_store *store)
{
	if (store)
		store->kind->free(store);
}

enum dist_error dist_store_set_timeout(struct dist_store *store,
				       int64_t timeout_ns)
{
	if (!store || timeout_ns <= 0)
		return DIST_ERR_INVALID_ARGUMENT;
	store->timeout_ns = timeout_ns;
	return DIST_OK;
}

enum dist_error(dist_store_set)(struct dist_store *store, const char *key,
				const void *value, size_t len)
{
	struct dist__store_request request = {.op = DIST__STORE_SET,
					      .value = {value, len}};

	if (!store || !is_key(key) || (len && !value) ||
	    len > DIST_STORE_MAX_VALUE)
		return DIST_ERR_INVALID_ARGUMENT;
	return put(store, key, &request);
}

enum dist_error(dist_store_get)(struct dist_store *store, const char *key,
				char **value, size_t *len)
{
	struct call call = {.op = "store_get", .site = take_site()};

	if (!store || !is_key(key) || !value)
		return DIST_ERR_INVALID_ARGUMENT;
	call.timeout_ns = store->timeout_ns;
	return get(store, key, store->timeout_ns, &call, value, len);
}

enum dist_error(dist_store_add)(struct dist_store *store, const char *key,
				int64_t amount, int64_t *sum)
{
	struct dist__store_request request = {.op = DIST__STORE_ADD,
					      .number = amount};
	enum dist_error error;

	if (!store || !is_key(key) || !sum)
		return DIST_ERR_INVALID_ARGUMENT;
	error = put(store, key, &request);
	if (!error)
		*sum = request.number;
	return error;
}

enum dist_error(dist_store_compare_set)(struct dist_store *store,
					const char *key, const char *expected,
					const char *desired, char **value,
					size_t *len)
{
	struct dist__store_request request = {.op = DIST__STORE_COMPARE_SET};
	enum dist_error error;

	if (!store || !is_key(key) || !expected || !desired || !value ||
	    strlen(expected) > DIST_STORE_MAX_VALUE ||
	    strlen(desired) > DIST_STORE_MAX_VALUE)
		return DIST_ERR_INVALID_ARGUMENT;
	request.expected = dist__bytes_text(expected);
	request.value = dist__bytes_text(desired);
	error = put(store, key, &request);
	if (!error)
		give(&request, value, len);
	return error;
}

static bool are_keys(const char *const *keys, size_t num_keys)
{
	if (num_keys && !keys)
		return false;
	for (size_t i = 0; i < num_keys; i++)
		if (!is_key(keys[i]))
			return false;
	return true;
}

enum dist_error(dist_store_wait)(struct dist_store *store,
				 const char *const *keys, size_t num_keys,
				 int64_t timeout_ns)
{
	struct call call = {.op = "store_wait", .site = take_site()};
	int64_t deadline_ns, left_ns;
	enum dist_error error = DIST_OK;

	if (!store || timeout_ns < 0 || !are_keys(keys, num_keys))
		return DIST_ERR_INVALID_ARGUMENT;
	if (timeout_ns == DIST_TIMEOUT_OF_STORE)
		timeout_ns = store->timeout_ns;
	call.timeout_ns = timeout_ns;
	deadline_ns = dist__clock_after(timeout_ns);
	for (size_t i = 0; i < num_keys && !error; i++) {
		left_ns =
			deadline_ns == DIST_TIMEOUT_NEVER || dist__world_here()
				? timeout_ns
				: deadline_ns - dist__clock_ns();
		error = await(store, keys[i], left_ns > 0 ? left_ns : 0, &call);
	}
	return error;
}

enum dist_error(dist_store_check)(struct dist_store *store,
				  const char *const *keys, size_t num_keys,
				  bool *there)
{
	struct call call = {.op = "store_check", .site = take_site()};
	struct dist__store_request request = {.op = DIST__STORE_CHECK,
					      .there = true};
	enum dist_error error = DIST_OK;

	if (!store || !there || !are_keys(keys, num_keys))
		return DIST_ERR_INVALID_ARGUMENT;
	for (size_t i = 0; i < num_keys && request.there && !error; i++) {
		request.key = dist__bytes_text(keys[i]);
		error = store->kind->ask(store, &request);
		if (!error && !request.there)
			error = hear_nothing(store, keys[i], &call);
	}
	if (!error)
		*there = request.there;
	return error;
}

enum dist_error dist_store_delete_key(struct dist_store *store, const char *key,
				      bool *deleted)
{
	struct dist__store_request request = {.op = DIST__STORE_DELETE};
	enum dist_error error;

	if (!store || !is_key(key))
		return DIST_ERR_INVALID_ARGUMENT;
	request.key = dist__bytes_text(key);
	error = store->kind->ask(store, &request);
	if (!error && deleted)
		*deleted = request.there;
	return error;
}

enum dist_error dist_store_num_keys(struct dist_store *store, int64_t *num_keys)
{
	struct dist__store_request request = {.op = DIST__STORE_NUM_KEYS};
	enum dist_error error;

	if (!store || !num_keys)
		return DIST_ERR_INVALID_ARGUMENT;
	error = store->kind->ask(store, &request);
	if (!error)
		*num_keys = request.number;
	return error;
}
