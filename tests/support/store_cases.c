#include "tests/support/store_cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND ((int64_t)1000000)
/* Nobody waits that long unless something is wrong. */
#define PATIENCE (60000 * MILLISECOND)

#define TEXT(x)  #x
#define WORDS(x) TEXT(x)
#define EXPECT(condition)                                                      \
	do {                                                                   \
		if (!(condition))                                              \
			return __FILE__ ":" WORDS(__LINE__) ": " #condition;   \
	} while (0)

/* Whether key holds exactly len bytes of wanted. */
static bool holds(struct dist_store *store, const char *key, const char *wanted,
		  size_t len)
{
	char *value = NULL;
	size_t got = 0;
	bool good = dist_store_get(store, key, &value, &got) == DIST_OK &&
		    got == len && memcmp(value, wanted, len) == 0 &&
		    value[len] == '\0';

	free(value);
	return good;
}

static const char *sets_and_gets(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];

	EXPECT(dist_store_set(store, "a", "x\0y", 3) == DIST_OK);
	EXPECT(holds(other, "a", "x\0y", 3));
	EXPECT(dist_store_set(other, "a", "longer than before", 18) == DIST_OK);
	EXPECT(holds(store, "a", "longer than before", 18));
	EXPECT(dist_store_set(store, "a", NULL, 0) == DIST_OK);
	EXPECT(holds(other, "a", "", 0));
	return NULL;
}

static const char *adds_decimal_text(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];
	int64_t sum = 0;

	EXPECT(dist_store_add(store, "n", 5, &sum) == DIST_OK && sum == 5);
	EXPECT(dist_store_add(other, "n", -7, &sum) == DIST_OK && sum == -2);
	EXPECT(holds(store, "n", "-2", 2));
	EXPECT(dist_store_set(store, "n", "40", 2) == DIST_OK);
	EXPECT(dist_store_add(other, "n", 2, &sum) == DIST_OK && sum == 42);
	EXPECT(dist_store_add(store, "zero", 0, &sum) == DIST_OK && sum == 0);
	EXPECT(holds(other, "zero", "0", 1));
	EXPECT(dist_store_set(store, "m", "9223372036854775807", 19) ==
	       DIST_OK);
	EXPECT(dist_store_add(other, "m", 1, &sum) == DIST_OK &&
	       sum == INT64_MIN);
	EXPECT(dist_store_set(store, "word", "x1", 2) == DIST_OK);
	sum = 77;
	EXPECT(dist_store_add(other, "word", 1, &sum) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(sum == 77 && holds(store, "word", "x1", 2));
	return NULL;
}

/* Whether compare_set answers with wanted. */
static bool swaps(struct dist_store *store, const char *expected,
		  const char *desired, const char *wanted)
{
	char *value = NULL;
	size_t len = 0;
	bool good = dist_store_compare_set(store, "k", expected, desired,
					   &value, &len) == DIST_OK &&
		    len == strlen(wanted) && strcmp(value, wanted) == 0;

	free(value);
	return good;
}

static const char *compares_and_sets(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];
	static const char *const keys[] = {"k"};
	bool there = true;

	EXPECT(swaps(store, "expected", "x", "expected"));
	EXPECT(dist_store_check(other, keys, 1, &there) == DIST_OK && !there);
	EXPECT(swaps(store, "", "first", "first"));
	EXPECT(swaps(other, "", "second", "first"));
	EXPECT(swaps(other, "wrong", "second", "first"));
	EXPECT(holds(store, "k", "first", 5));
	EXPECT(swaps(other, "first", "second", "second"));
	EXPECT(holds(store, "k", "second", 6));
	EXPECT(swaps(store, "second", "", ""));
	EXPECT(swaps(other, "", "again", "again"));
	return NULL;
}

static const char *checks_and_waits(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];
	static const char *const keys[] = {"a", "b"};
	bool there = true;

	EXPECT(dist_store_set(store, "a", "1", 1) == DIST_OK);
	EXPECT(dist_store_check(other, keys, 2, &there) == DIST_OK && !there);
	EXPECT(dist_store_wait(other, keys, 2, 20 * MILLISECOND) ==
	       DIST_ERR_TIMEOUT);
	EXPECT(dist_store_wait(other, keys, 1, PATIENCE) == DIST_OK);
	EXPECT(dist_store_set(store, "b", "", 0) == DIST_OK);
	EXPECT(dist_store_check(other, keys, 2, &there) == DIST_OK && there);
	EXPECT(dist_store_wait(other, keys, 2, DIST_TIMEOUT_OF_STORE) ==
	       DIST_OK);
	EXPECT(dist_store_wait(other, keys, 2, DIST_TIMEOUT_NEVER) == DIST_OK);
	there = false;
	EXPECT(dist_store_check(other, NULL, 0, &there) == DIST_OK && there);
	EXPECT(dist_store_wait(other, NULL, 0, PATIENCE) == DIST_OK);
	return NULL;
}

static const char *times_out(const struct store_users *users)
{
	struct dist_store *store = users->all[0];
	static const char *const keys[] = {"never"};
	char untouched, *value = &untouched;
	size_t len = 77;

	EXPECT(dist_store_set_timeout(store, 30 * MILLISECOND) == DIST_OK);
	EXPECT(dist_store_get(store, "never", &value, &len) ==
	       DIST_ERR_TIMEOUT);
	EXPECT(value == &untouched && len == 77);
	EXPECT(dist_store_wait(store, keys, 1, DIST_TIMEOUT_OF_STORE) ==
	       DIST_ERR_TIMEOUT);
	EXPECT(dist_store_set_timeout(store, PATIENCE) == DIST_OK);
	EXPECT(dist_store_set(store, "a", "1", 1) == DIST_OK);
	EXPECT(holds(store, "a", "1", 1));
	EXPECT(dist_store_set_timeout(store, 0) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(dist_store_set_timeout(store, -1) == DIST_ERR_INVALID_ARGUMENT);
	return NULL;
}

static const char *deletes_and_counts(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];
	static const char *const keys[] = {"a"};
	int64_t before = -1, n = -1;
	bool yes = false;

	EXPECT(dist_store_num_keys(store, &before) == DIST_OK);
	EXPECT(dist_store_set(store, "a", "1", 1) == DIST_OK);
	EXPECT(dist_store_add(store, "b", 1, &n) == DIST_OK);
	EXPECT(dist_store_set(other, "a", "2", 1) == DIST_OK);
	EXPECT(dist_store_num_keys(other, &n) == DIST_OK && n == before + 2);
	EXPECT(dist_store_delete_key(other, "a", &yes) == DIST_OK && yes);
	EXPECT(dist_store_check(store, keys, 1, &yes) == DIST_OK && !yes);
	EXPECT(dist_store_delete_key(store, "a", &yes) == DIST_OK && !yes);
	EXPECT(dist_store_delete_key(store, "b", NULL) == DIST_OK);
	EXPECT(dist_store_num_keys(store, &n) == DIST_OK && n == before);
	return NULL;
}

static const char *refuses_bad_arguments(const struct store_users *users)
{
	struct dist_store *store = users->all[0];
	static const char *const keys[] = {"a", NULL}, *const empty[] = {""};
	enum dist_error wrong = DIST_ERR_INVALID_ARGUMENT;
	char *value = NULL;
	int64_t n;
	bool yes;

	EXPECT(dist_store_set(NULL, "a", "1", 1) == wrong);
	EXPECT(dist_store_set(store, NULL, "1", 1) == wrong);
	EXPECT(dist_store_set(store, "", "1", 1) == wrong);
	EXPECT(dist_store_set(store, "a", NULL, 1) == wrong);
	EXPECT(dist_store_get(store, "a", NULL, NULL) == wrong);
	EXPECT(dist_store_get(NULL, "a", &value, NULL) == wrong);
	EXPECT(dist_store_add(store, "a", 1, NULL) == wrong);
	EXPECT(dist_store_add(NULL, "a", 1, &n) == wrong);
	EXPECT(dist_store_compare_set(store, "a", NULL, "", &value, NULL) ==
	       wrong);
	EXPECT(dist_store_compare_set(store, "a", "", NULL, &value, NULL) ==
	       wrong);
	EXPECT(dist_store_compare_set(store, "a", "", "", NULL, NULL) == wrong);
	EXPECT(dist_store_wait(store, keys, 2, 1) == wrong);
	EXPECT(dist_store_wait(store, keys, 1, -1) == wrong);
	EXPECT(dist_store_wait(store, NULL, 1, 1) == wrong);
	EXPECT(dist_store_check(store, empty, 1, &yes) == wrong);
	EXPECT(dist_store_check(store, keys, 1, NULL) == wrong);
	EXPECT(dist_store_delete_key(store, "", &yes) == wrong);
	EXPECT(dist_store_num_keys(store, NULL) == wrong);
	EXPECT(dist_store_num_keys(NULL, &n) == wrong);
	return NULL;
}

static const char *knows_its_limits(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[1];
	size_t most = DIST_STORE_MAX_VALUE;
	static char big[DIST_STORE_MAX_VALUE + 2];
	char key[DIST_STORE_MAX_KEY + 2], *value;
	size_t len = 0;

	memset(big, 'v', most + 1);
	big[most + 1] = '\0';
	memset(key, 'k', sizeof key);
	key[DIST_STORE_MAX_KEY + 1] = '\0';
	EXPECT(dist_store_set(store, key, "1", 1) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(dist_store_set(store, "big", big, most + 1) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(dist_store_compare_set(store, "big", "", big, &value, &len) ==
	       DIST_ERR_INVALID_ARGUMENT);
	big[most] = '\0';
	EXPECT(dist_store_compare_set(store, "big", "", big, &value, &len) ==
	       DIST_OK);
	EXPECT(len == most && strcmp(big, value) == 0);
	free(value);
	/* As long as a request can be; a prefix takes its part of the key. */
	key[DIST_STORE_MAX_KEY - 8] = '\0';
	EXPECT(dist_store_set(store, key, big, most) == DIST_OK);
	EXPECT(dist_store_compare_set(other, key, big, big, &value, &len) ==
	       DIST_OK);
	EXPECT(len == most);
	free(value);
	return NULL;
}

/* Threads return NULL, or something else when they failed. */
static void *set_after_asked(void *arg)
{
	struct dist_store *store = arg;
	const char *const keys[] = {"asked"};

	if (dist_store_wait(store, keys, 1, PATIENCE) != DIST_OK ||
	    dist_store_set(store, "answer", "42", 2) != DIST_OK)
		return arg;
	return NULL;
}

/* A thread that waits keeps nobody else from the same store. */
static const char *wakes_who_waits(const struct store_users *users)
{
	struct dist_store *store = users->all[0], *other = users->all[2];
	pthread_t thread;
	void *failed;

	EXPECT(pthread_create(&thread, NULL, set_after_asked, other) == 0);
	EXPECT(dist_store_set(store, "asked", "", 0) == DIST_OK);
	EXPECT(holds(store, "answer", "42", 2));
	EXPECT(pthread_join(thread, &failed) == 0 && !failed);
	return NULL;
}

enum { ROUNDS = 40 };

static bool add_often(struct dist_store *store)
{
	int64_t sum;

	for (int i = 0; i < ROUNDS; i++)
		if (dist_store_add(store, "sum", 1, &sum) != DIST_OK)
			return false;
	return true;
}

/* Counts on by compare_set; whose number it is stands behind it, so that no
 * two write the same. */
static bool swap_often(struct dist_store *store)
{
	char *seen = strdup(""), *now = NULL, next[64];
	int done = 0;

	while (done < ROUNDS) {
		snprintf(next, sizeof next, "%d by %p", atoi(seen) + 1,
			 (void *)&done);
		if (dist_store_compare_set(store, "count", seen, next, &now,
					   NULL) != DIST_OK)
			break;
		done += strcmp(now, next) == 0;
		free(seen);
		seen = now;
	}
	free(seen);
	return done == ROUNDS;
}

static void *count(void *arg)
{
	return add_often(arg) && swap_often(arg) ? NULL : arg;
}

static const char *loses_nothing(const struct store_users *users)
{
	pthread_t threads[2 * STORE_USERS];
	char *last = NULL;
	int64_t sum = 0;

	for (int i = 0; i < 2 * STORE_USERS; i++)
		EXPECT(pthread_create(&threads[i], NULL, count,
				      users->all[i / 2]) == 0);
	for (int i = 0; i < 2 * STORE_USERS; i++) {
		void *failed;

		EXPECT(pthread_join(threads[i], &failed) == 0 && !failed);
	}
	EXPECT(dist_store_add(users->all[0], "sum", 0, &sum) == DIST_OK);
	EXPECT(sum == 2 * STORE_USERS * ROUNDS);
	EXPECT(dist_store_get(users->all[1], "count", &last, NULL) == DIST_OK);
	sum = atoi(last);
	free(last);
	EXPECT(sum == 2 * STORE_USERS * ROUNDS);
	return NULL;
}

static const struct {
	const char *name;
	/* Returns NULL, or what went wrong. */
	const char *(*run)(const struct store_users *users);
} cases[] = {
	{"sets and gets", sets_and_gets},
	{"adds decimal text", adds_decimal_text},
	{"compares and sets", compares_and_sets},
	{"checks and waits", checks_and_waits},
	{"times out", times_out},
	{"deletes and counts", deletes_and_counts},
	{"refuses bad arguments", refuses_bad_arguments},
	{"knows its limits", knows_its_limits},
	{"wakes who waits", wakes_who_waits},
	{"loses nothing", loses_nothing},
};

/* ---- stores to try ------------------------------------------------------ */

bool store_open_hash(struct store_users *users, const char *path)
{
	(void)path;
	if (dist_hash_store_new(&users->all[0]) != DIST_OK)
		return false;
	users->all[1] = users->all[2] = users->all[0];
	return true;
}

bool store_open_file(struct store_users *users, const char *path)
{
	for (int i = 0; i < STORE_USERS; i++)
		if (dist_file_store_new(path, STORE_USERS, &users->all[i],
					NULL) != DIST_OK)
			return false;
	return true;
}

bool store_open_tcp(struct store_users *users, const char *path)
{
	int port = 0;

	(void)path;
	for (int i = 0; i < STORE_USERS; i++) {
		if (dist_tcp_store_new("127.0.0.1", port, 0, i == 0, PATIENCE,
				       &users->all[i], NULL) != DIST_OK)
			return false;
		port = dist_tcp_store_port(users->all[0]);
	}
	return true;
}

void store_close(struct store_users *users)
{
	/* The master of a TCP store goes last. */
	for (int i = STORE_USERS - 1; i >= 0; i--)
		if (i == 0 || users->all[i] != users->all[0])
			dist_store_free(users->all[i]);
}

/* Puts a prefix before the keys of inner, which has others too. */
static bool open_prefixed(struct store_users *users,
			  const struct store_users *inner)
{
	if (dist_store_set(inner->all[0], "a", "mine", 4) != DIST_OK)
		return false;
	for (int i = 0; i < STORE_USERS; i++)
		if (dist_prefix_store_new("part", inner->all[i],
					  &users->all[i]) != DIST_OK)
			return false;
	return true;
}

const char *store_try_all(store_opener *open, const char *path, bool prefixed)
{
	static char text[256];
	struct store_users below, users;
	const char *failure;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (!open(&below, path))
			return "cannot open";
		users = below;
		if (prefixed && !open_prefixed(&users, &below))
			return "cannot open with a prefix";
		failure = cases[i].run(&users);
		if (failure) {
			snprintf(text, sizeof text, "%s: %s", cases[i].name,
				 failure);
			return text;
		}
		if (prefixed)
			store_close(&users);
		store_close(&below);
	}
	return NULL;
}
