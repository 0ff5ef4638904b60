/* The store: its operations, its waits, and who may not disturb it. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/store/key_table.h"
#include "realbackend/store/roster.h"
#include "realbackend/store/store_client.h"
#include "realbackend/store/store_server.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

static struct dist__store_server *server;
static int port;

static struct dist__store *client(void)
{
	struct dist_message message;
	struct dist__store *store = NULL;

	okay_or(dist__store_connect("127.0.0.1", port, true,
				    dist__clock_after(10 * SECOND), &store,
				    &message),
		message);
	return store;
}

static void serve(void)
{
	struct dist_message message;
	int listener;

	okay(dist__socket_listen("127.0.0.1", 0, &listener, &message));
	port = dist__socket_port(listener);
	okay(dist__store_server_start(listener, &server));
}

static void stop(void)
{
	dist__store_server_stop(server);
	cr_assert_not(leaks_found());
}

TestSuite(store, .init = serve, .fini = stop);

Test(table, holds_no_more_than_its_bounds)
{
	struct dist__table *table = dist__table_new();
	struct dist__bytes a = dist__bytes_text("a"), b = dist__bytes_text("b");
	struct dist__bytes c = dist__bytes_text("c");
	struct dist__store_request add = {.op = DIST__STORE_ADD,
					  .key = c,
					  .number = 1},
				   swap = {.op = DIST__STORE_COMPARE_SET,
					   .key = c,
					   .value = a},
				   count = {.op = DIST__STORE_NUM_KEYS};

	dist__table_limit(table, 2, 16);
	cr_assert(dist__table_set(table, a, dist__bytes_text("0123456789")));
	cr_assert(dist__table_set(table, b, dist__bytes_text("0123")));
	cr_assert_not(dist__table_set(table, b, dist__bytes_text("01234")));
	cr_assert_not(dist__table_set(table, c, dist__bytes_text("")));
	cr_assert_eq(dist__table_do(table, &add), DIST_ERR_NO_MEMORY);
	cr_assert_eq(dist__table_do(table, &swap), DIST_ERR_NO_MEMORY);
	cr_assert(dist__table_set(table, a, dist__bytes_text("012345678")));
	cr_assert(dist__table_set(table, b, dist__bytes_text("01234")));
	cr_assert(dist__table_delete(table, a));
	cr_assert(dist__table_set(table, c, dist__bytes_text("012345678")));
	cr_assert_not(
		dist__table_set(table, c, dist__bytes_text("0123456789")));
	okay(dist__table_do(table, &count));
	cr_assert_eq(count.number, 2);
	dist__table_free(table);
}

Test(table, text_of_others_is_fit_for_a_terminal)
{
	char text[64];

	dist__bytes_copy(dist__bytes_text("a\033[2J\n\tb\x7f\xc2\x9b"
					  "1m \xc3\xa9 \xc2"),
			 text, sizeof text);
	cr_assert_str_eq(text, "a?[2J??b???1m \xc3\xa9 \xc2");
}

/* Asks for what has a number, or none, for an answer. */
static enum dist_error ask(struct dist__store *store, enum dist__store_op op,
			   const char *key, int64_t timeout_ns, int64_t *number)
{
	struct dist__store_request request = {.op = op,
					      .key = dist__bytes_text(key),
					      .timeout_ns = timeout_ns};
	enum dist_error error = dist__store_ask(store, &request);

	if (number)
		*number = request.number;
	return error;
}

Test(store, sets_gets_and_deletes)
{
	struct dist__store *store = client();
	char *value = NULL;
	size_t len = 0;
	int64_t n = -1, was = 0;

	okay(dist__store_set(store, "a", "x\0y", 3));
	okay(dist__store_set(store, "b", "", 0));
	okay(dist__store_set(store, "a", "xyz", 3));
	okay(dist__store_get(store, "a", SECOND, &value, &len));
	cr_assert_str_eq(value, "xyz");
	cr_assert_eq(len, 3);
	free(value);
	okay(dist__store_get(store, "b", SECOND, &value, &len));
	cr_assert_eq(len, 0);
	free(value);
	okay(ask(store, DIST__STORE_NUM_KEYS, "", 0, &n));
	cr_assert_eq(n, 2);
	okay(ask(store, DIST__STORE_DELETE, "a", 0, &was));
	cr_assert_eq(was, 1);
	okay(ask(store, DIST__STORE_DELETE, "a", 0, &was));
	cr_assert_eq(was, 0);
	okay(ask(store, DIST__STORE_NUM_KEYS, "", 0, &n));
	cr_assert_eq(n, 1);
	dist__store_free(store);
}

Test(store, adds)
{
	struct dist__store *store = client();
	int64_t sum = 0;
	char *value;
	size_t len;

	okay(dist__store_add(store, "n", 5, &sum));
	cr_assert_eq(sum, 5);
	okay(dist__store_add(store, "n", -7, &sum));
	cr_assert_eq(sum, -2);
	okay(dist__store_get(store, "n", SECOND, &value, &len));
	cr_assert_str_eq(value, "-2", "a number is its decimal text");
	free(value);
	okay(dist__store_set(store, "word", "x", 1));
	cr_assert_eq(dist__store_add(store, "word", 1, &sum),
		     DIST_ERR_INVALID_ARGUMENT);
	dist__store_free(store);
}

Test(store, checks_without_waiting)
{
	struct dist__store *store = client();
	int64_t there = 1;

	okay(dist__store_set(store, "a", "1", 1));
	okay(ask(store, DIST__STORE_CHECK, "b", 0, &there));
	cr_assert_eq(there, 0);
	okay(ask(store, DIST__STORE_CHECK, "a", 0, &there));
	cr_assert_eq(there, 1);
	dist__store_free(store);
}

Test(store, says_when_a_wait_is_late)
{
	struct dist__store *store = client();
	char *value;
	size_t len;

	cr_assert_eq(ask(store, DIST__STORE_WAIT, "never", SECOND / 50, NULL),
		     DIST_ERR_TIMEOUT);
	cr_assert_eq(dist__store_get(store, "never", 0, &value, &len),
		     DIST_ERR_TIMEOUT);
	cr_assert_eq(dist__store_set(store, "a", "1", 1), DIST_OK,
		     "the connection goes on");
	dist__store_free(store);
}

static void *set_both(void *arg)
{
	struct dist__store *store = client();

	(void)arg;
	okay(dist__store_set(store, "a", "1", 1));
	okay(dist__store_set(store, "b", "2", 1));
	dist__store_free(store);
	return NULL;
}

Test(store, wakes_who_waits)
{
	struct dist__store *store = client();
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, set_both, NULL), 0);
	okay(ask(store, DIST__STORE_WAIT, "b", 20 * SECOND, NULL));
	pthread_join(thread, NULL);
	dist__store_free(store);
}

Test(store, refuses_what_is_too_long)
{
	struct dist__store *store = client();
	size_t len = (size_t)2 << 20;
	char *big = malloc(len + 1);

	memset(big, 'k', len);
	big[len] = '\0';
	cr_assert_eq(dist__store_set(store, "big", big, len),
		     DIST_ERR_INVALID_ARGUMENT, "value");
	big[DIST__STORE_MAX_KEY + 1] = '\0';
	cr_assert_eq(dist__store_set(store, big, "x", 1),
		     DIST_ERR_INVALID_ARGUMENT, "key");
	big[DIST__STORE_MAX_KEY] = '\0';
	okay(dist__store_set(store, big, "x", 1));
	dist__store_free(store);
	free(big);
}

/* Reads until the far end hangs up; false: it said something. */
static bool is_hung_up_on(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	close(fd);
	return n <= 0;
}

Test(store, drops_garbage)
{
	static const char *const garbage[] = {
		"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02",
		/* our magic, then a length beyond all bounds */
		"LSS1\1\0\0\0"
		"\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff",
		/* our magic, an operation that is none */
		"LSS1\x77\0\0\0"
		"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		/* strings that do not add up */
		"LSS1\1\0\0\0"
		"\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\xff\0\0\0"};
	static const size_t lens[] = {18, 4, 24, 24, 28};
	struct dist__store *store;

	for (size_t i = 0; i < 5; i++) {
		int fd = tcp_dial(port);

		cr_assert_geq(fd, 0);
		cr_assert_eq(send(fd, garbage[i], lens[i], MSG_NOSIGNAL),
			     (ssize_t)lens[i]);
		cr_assert(is_hung_up_on(fd), "garbage %zu", i);
	}
	store = client();
	okay(dist__store_set(store, "a", "1", 1));
	dist__store_free(store);
}

Test(store, serves_others_beside_half_open_ones)
{
	enum { IDLERS = 300 };
	int fds[IDLERS];
	struct dist__store *store;

	for (int i = 0; i < IDLERS; i++) {
		fds[i] = tcp_dial(port);
		cr_assert_geq(fds[i], 0);
		/* Some say nothing, some stop within a header or a string. */
		if (i % 3 == 1)
			cr_assert_eq(send(fds[i], "LSS1\1", 5, MSG_NOSIGNAL),
				     5);
		if (i % 3 == 2)
			cr_assert_eq(send(fds[i],
					  "LSS1\1\0\0\0\0\0\0\0\0\0\0\0"
					  "\2\0\0\0\0\0\x0f\0abc",
					  27, MSG_NOSIGNAL),
				     27);
	}
	store = client();
	okay(dist__store_set(store, "a", "1", 1));
	dist__store_free(store);
	for (int i = 0; i < IDLERS; i++)
		close(fds[i]);
}

Test(store, does_not_wait_for_who_does_not_read)
{
	struct dist__store *store = client();
	size_t len = (size_t)1000 << 10;
	char *big = calloc(1, len), request[64];
	struct dist__parcel parcel;
	int fds[8];

	okay(dist__store_set(store, "big", big, len));
	dist__parcel_init(&parcel, DIST__STORE_GET, SECOND);
	dist__parcel_add_text(&parcel, "big");
	cr_assert_leq(parcel.len, sizeof request);
	for (int i = 0; i < 8; i++) {
		fds[i] = tcp_dial(port);
		cr_assert_eq(
			send(fds[i], parcel.data, parcel.len, MSG_NOSIGNAL),
			(ssize_t)parcel.len);
	}
	dist__parcel_release(&parcel);
	for (int i = 0; i < 20; i++)
		okay(dist__store_set(store, "a", "1", 1));
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	dist__store_free(store);
	free(big);
}

Test(store, hangs_up_when_it_stops)
{
	struct dist__store *store = client();

	okay(dist__store_set(store, "a", "1", 1));
	dist__store_server_stop(server);
	server = NULL;
	cr_assert_eq(dist__store_set(store, "a", "1", 1), DIST_ERR_IO);
	dist__store_free(store);
}

/* ---- the roster, without sockets ---------------------------------------- */

Test(roster, lists_all_once_all_came)
{
	struct dist__roster roster;
	struct dist__parcel parcel;
	struct dist__bytes string = {NULL, 0};
	char address[DIST__ADDRESS_TEXT];
	size_t offset = 0;

	dist__roster_init(&roster);
	cr_assert_eq(dist__roster_join(&roster, 1, 2, "h 1"),
		     DIST__ROSTER_WAIT);
	cr_assert_eq(dist__roster_join(&roster, 0, 2, "h 0"),
		     DIST__ROSTER_COMPLETE);
	dist__roster_write(&roster, "token", &parcel);
	okay(dist__parcel_code(&parcel));
	cr_assert_eq(dist__parcel_count(&parcel), 3);
	dist__parcel_release(&parcel);
	cr_assert_eq(dist__roster_join(&roster, 1, 2, "h 9"),
		     DIST__ROSTER_REFUSED, "still there");
	dist__roster_leave(&roster, 1);
	cr_assert_eq(dist__roster_join(&roster, 1, 2, "h 9"),
		     DIST__ROSTER_AGAIN, "the next job");
	dist__roster_write(&roster, "token", &parcel);
	(void)dist__parcel_next(&parcel, &offset, &string);
	(void)dist__parcel_next(&parcel, &offset, &string);
	(void)dist__parcel_next(&parcel, &offset, &string);
	dist__bytes_copy(string, address, sizeof address);
	cr_assert_str_eq(address, "h 1", "who is told late is told all");
	dist__parcel_release(&parcel);
	dist__roster_release(&roster);
}

Test(roster, names_who_is_missing)
{
	struct dist__roster roster;

	dist__roster_init(&roster);
	(void)dist__roster_join(&roster, 0, 4, "h 0");
	(void)dist__roster_join(&roster, 1, 4, "h 1");
	(void)dist__roster_join(&roster, 3, 4, "h 3");
	dist__roster_late(&roster);
	cr_assert_str_eq(roster.failure.text, "3 of 4 ranks came; missing: 2");
	cr_assert_eq(roster.failure.count, 1);
	cr_assert_eq(roster.failure.ranks[0], 2);
	cr_assert_eq(dist__roster_join(&roster, 2, 4, "h 2"),
		     DIST__ROSTER_FAILED);
	dist__roster_release(&roster);
}

Test(roster, passes_on_whom_its_failure_turns_on)
{
	struct check_rendezvous_failure heard = {.count = 0};
	struct dist__roster roster;
	struct dist__parcel parcel;

	dist__roster_init(&roster);
	(void)dist__roster_join(&roster, 1, 4, "h 1");
	dist__roster_crowded(&roster);
	cr_assert_not_null(strstr(roster.failure.text, "no more files"));
	dist__roster_write(&roster, "token", &parcel);
	dist__roster_heed(&parcel, &heard);
	cr_assert_eq(heard.count, 3);
	cr_assert_eq(heard.ranks[0], 0);
	cr_assert_eq(heard.ranks[2], 3);
	dist__parcel_release(&parcel);
	dist__roster_release(&roster);
}

Test(roster, cuts_a_long_list)
{
	struct dist__roster roster;

	dist__roster_init(&roster);
	(void)dist__roster_join(&roster, 0, 1000, "h 0");
	dist__roster_late(&roster);
	cr_assert_not_null(strstr(roster.failure.text, "missing: 1, 2, 3"));
	cr_assert_not_null(strstr(roster.failure.text, ", ..."));
	dist__roster_release(&roster);
}

Test(roster, sees_disagreement)
{
	struct dist__roster roster;

	dist__roster_init(&roster);
	(void)dist__roster_join(&roster, 0, 4, "h 0");
	cr_assert_eq(dist__roster_join(&roster, 1, 8, "h 1"),
		     DIST__ROSTER_FAILED);
	cr_assert_str_eq(roster.failure.text,
			 "rank 1 says the world size is 8, rank 0 says it is "
			 "4");
	dist__roster_release(&roster);
	(void)dist__roster_join(&roster, 2, 4, "h 2");
	cr_assert_eq(dist__roster_join(&roster, 2, 4, "h 5"),
		     DIST__ROSTER_FAILED);
	cr_assert_str_eq(roster.failure.text,
			 "two ranks call themselves rank 2: "
			 "one at h 2, one at h 5");
	dist__roster_release(&roster);
	cr_assert_eq(dist__roster_join(&roster, 4, 4, "h 4"),
		     DIST__ROSTER_FAILED);
	dist__roster_release(&roster);
}
