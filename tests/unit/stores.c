/* Every kind of store, and a prefix over each, held to the one table of
 * cases; then what each has of its own. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/store/file_log.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/store_cases.h"

#define SECOND ((int64_t)1000000000)

static char folder[] = "/tmp/lockstep-stores-XXXXXX";
static char path[64];

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/store", folder);
}

static void remove_folder(void)
{
	unlink(path);
	cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
	cr_assert_not(leaks_found());
}

TestSuite(stores, .init = make_folder, .fini = remove_folder);

/* ---- the table ---------------------------------------------------------- */

static void try_all(store_opener *open)
{
	const char *failure = store_try_all(open, path, false);

	cr_assert_null(failure, "%s", failure);
	failure = store_try_all(open, path, true);
	cr_assert_null(failure, "under a prefix: %s", failure);
}

Test(stores, hash_does_all)
{
	try_all(store_open_hash);
}

Test(stores, file_does_all)
{
	try_all(store_open_file);
}

Test(stores, tcp_does_all)
{
	try_all(store_open_tcp);
}

/* ---- processes ---------------------------------------------------------- */

enum { PROCESSES = 6, STEPS = 30 };

/* One of several processes: all add, then each reads what the next one set. */
static int take_part(struct dist_store *store, int number)
{
	char key[24], *value = NULL;
	int64_t sum;

	for (int i = 0; i < STEPS; i++)
		if (dist_store_add(store, "sum", number, &sum) != DIST_OK)
			return 1;
	snprintf(key, sizeof key, "from %d", number);
	if (dist_store_set(store, key, key, strlen(key)) != DIST_OK)
		return 2;
	snprintf(key, sizeof key, "from %d", (number + 1) % PROCESSES);
	if (dist_store_get(store, key, &value, NULL) != DIST_OK ||
	    strcmp(value, key) != 0)
		return 3;
	free(value);
	/* The master of a TCP store leaves last. */
	if (dist_store_add(store, "done", 1, &sum) != DIST_OK)
		return 4;
	while (number == 0 && sum < PROCESSES)
		if (dist_store_add(store, "done", 0, &sum) != DIST_OK)
			return 5;
	if (number == 0 && (dist_store_add(store, "sum", 0, &sum) != DIST_OK ||
			    sum != STEPS * PROCESSES * (PROCESSES - 1) / 2))
		return 6;
	dist_store_free(store);
	return 0;
}

static void run_processes(struct dist_store *(*open_one)(int number, int fd))
{
	pid_t pids[PROCESSES];
	int pipes[2], status;

	cr_assert_eq(pipe(pipes), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			alarm(60);
			_exit(take_part(open_one(i, pipes[i > 0 ? 0 : 1]), i));
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
		cr_assert_eq(status, 0, "process %d", i);
	}
	close(pipes[0]);
	close(pipes[1]);
}

static struct dist_store *open_file_one(int number, int fd)
{
	struct dist_message message;
	struct dist_store *store;

	(void)number;
	(void)fd;
	if (dist_file_store_new(path, PROCESSES, &store, &message)) {
		fprintf(stderr, "%s\n", message.text);
		_exit(99);
	}
	return store;
}

Test(stores, file_is_shared_by_processes)
{
	run_processes(open_file_one);
	cr_assert_neq(access(path, F_OK), 0, "the last one removes the file");
}

/* The master tells its port through the pipe, once for each of the others. */
static struct dist_store *open_tcp_one(int number, int fd)
{
	struct dist_message message;
	struct dist_store *store;
	int port = 0;

	if (number > 0 && read(fd, &port, sizeof port) != sizeof port)
		_exit(98);
	if (dist_tcp_store_new("127.0.0.1", port, 0, number == 0, 20 * SECOND,
			       &store, &message)) {
		fprintf(stderr, "%s\n", message.text);
		_exit(99);
	}
	port = dist_tcp_store_port(store);
	for (int i = 1; number == 0 && i < PROCESSES; i++)
		if (write(fd, &port, sizeof port) != sizeof port)
			_exit(98);
	return store;
}

Test(stores, tcp_is_shared_by_processes)
{
	run_processes(open_tcp_one);
}

/* ---- prefixes ----------------------------------------------------------- */

Test(stores, prefixes_part_the_keys)
{
	struct dist_store *store, *left, *right, *deep;
	char *value, *prefix = malloc(DIST_STORE_MAX_KEY + 1);
	int64_t n;

	okay(dist_hash_store_new(&store));
	okay(dist_prefix_store_new("left", store, &left));
	okay(dist_prefix_store_new("right", store, &right));
	okay(dist_prefix_store_new("deep", left, &deep));
	okay(dist_store_set(left, "k", "l", 1));
	okay(dist_store_set(right, "k", "r", 1));
	okay(dist_store_set(deep, "k", "d", 1));
	okay(dist_store_get(store, "left/k", &value, NULL));
	cr_assert_str_eq(value, "l");
	free(value);
	okay(dist_store_get(store, "left/deep/k", &value, NULL));
	cr_assert_str_eq(value, "d");
	free(value);
	okay(dist_store_num_keys(right, &n));
	cr_assert_eq(n, 3, "of the whole store below");
	memset(prefix, 'p', DIST_STORE_MAX_KEY);
	prefix[DIST_STORE_MAX_KEY] = '\0';
	cr_assert_eq(dist_prefix_store_new(prefix, store, &right),
		     DIST_ERR_INVALID_ARGUMENT);
	free(prefix);
	dist_store_free(deep);
	dist_store_free(right);
	dist_store_free(left);
	dist_store_free(store);
	dist_store_free(NULL);
}

/* ---- files -------------------------------------------------------------- */

static void refuses(int world_size, enum dist_error wanted, const char *text)
{
	struct dist_message message;
	struct dist_store *store = NULL;

	cr_assert_eq(dist_file_store_new(path, world_size, &store, &message),
		     wanted, "%s", message.text);
	cr_assert_null(store);
	cr_assert_not_null(strstr(message.text, text), "%s", message.text);
}

Test(stores, file_of_a_dead_job_is_refused)
{
	struct dist_store *store;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(dist_file_store_new(path, 3, &store, NULL));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	refuses(3, DIST_ERR_RENDEZVOUS, "was left behind by an earlier job");
	cr_assert_eq(access(path, F_OK), 0, "it is not ours to delete");
}

Test(stores, file_with_too_many_users_is_refused)
{
	struct dist_store *a, *b;

	okay(dist_file_store_new(path, 2, &a, NULL));
	okay(dist_file_store_new(path, 2, &b, NULL));
	refuses(2, DIST_ERR_RENDEZVOUS, "2 processes opened it already");
	dist_store_free(a);
	refuses(2, DIST_ERR_RENDEZVOUS, "2 processes opened it already");
	dist_store_free(b);
	cr_assert_neq(access(path, F_OK), 0);
}

Test(stores, file_stays_without_a_world_size)
{
	struct dist_store *store;
	char *value;

	okay(dist_file_store_new(path, 0, &store, NULL));
	okay(dist_store_set(store, "k", "v", 1));
	dist_store_free(store);
	okay(dist_file_store_new(path, 0, &store, NULL));
	okay(dist_store_get(store, "k", &value, NULL));
	cr_assert_str_eq(value, "v");
	free(value);
	dist_store_free(store);
}

static void write_file(const char *data, size_t len, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* A writer that was killed leaves half a record: it counts for nothing. */
Test(stores, file_survives_half_a_record)
{
	static const char half[] = "LSS1\1\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0"
				   "\x10\0\0\0\1\0\0\0k";
	struct dist_store *store;
	char *value;

	for (size_t len = 1; len < sizeof half; len++) {
		okay(dist_file_store_new(path, 0, &store, NULL));
		okay(dist_store_set(store, "k", "v", 1));
		write_file(half, len, O_APPEND);
		okay(dist_store_set(store, "l", "w", 1));
		dist_store_free(store);
		okay(dist_file_store_new(path, 0, &store, NULL));
		okay(dist_store_get(store, "l", &value, NULL));
		cr_assert_str_eq(value, "w");
		free(value);
		dist_store_free(store);
	}
}

/* What is no store is refused, and left as it is. */
Test(stores, file_of_another_kind_is_refused)
{
	static const char *const contents[] = {
		"x", "my thesis, chapter 1: the quick brown fox\n",
		/* a record of a kind that there is not */
		"LSS1\x63\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		/* one longer than any */
		"LSS1\1\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\xff\xff\xff\xff"};
	static const size_t lens[] = {1, 42, 24, 24};
	char read_back[64];
	int fd;

	for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
		write_file(contents[i], lens[i], O_TRUNC);
		refuses(1, DIST_ERR_INVALID_ARGUMENT, "not a store");
		fd = open(path, O_RDONLY);
		cr_assert_eq(read(fd, read_back, sizeof read_back),
			     (ssize_t)lens[i]);
		cr_assert_eq(memcmp(read_back, contents[i], lens[i]), 0);
		close(fd);
	}
}

Test(stores, file_that_cannot_be_is_refused)
{
	struct dist_message message;
	struct dist_store *store;

	cr_assert_eq(dist_file_store_new("/no/such/folder/store", 1, &store,
					 &message),
		     DIST_ERR_IO);
	cr_assert_not_null(strstr(message.text, "/no/such/folder/store"));
	cr_assert_eq(dist_file_store_new(folder, 1, &store, &message),
		     DIST_ERR_IO);
	cr_assert_eq(dist_file_store_new("", 1, &store, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_assert_eq(dist_file_store_new(path, -1, &store, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}

/* ---- TCP ---------------------------------------------------------------- */

static void refuses_tcp(const char *host, int port, bool is_master,
			enum dist_error wanted, const char *text)
{
	struct dist_message message;
	struct dist_store *store = NULL;

	cr_assert_eq(dist_tcp_store_new(host, port, 0, is_master, SECOND / 5,
					&store, &message),
		     wanted, "%s", message.text);
	cr_assert_null(store);
	cr_assert_not_null(strstr(message.text, text), "%s", message.text);
}

Test(stores, tcp_says_what_is_wrong)
{
	struct dist_message message;
	struct dist_store *store;
	int port;

	cr_assert_eq(dist_tcp_store_new("127.0.0.1", 0, 2, true, SECOND / 5,
					&store, &message),
		     DIST_ERR_TIMEOUT, "a master alone");
	cr_assert_not_null(strstr(message.text, "not all of 2 users came"));
	okay_or(dist_tcp_store_new("127.0.0.1", 0, 1, true, 0, &store,
				   &message),
		message);
	port = dist_tcp_store_port(store);
	refuses_tcp("127.0.0.1", port, true, DIST_ERR_RENDEZVOUS, "is taken");
	dist_store_free(store);
	refuses_tcp("127.0.0.1", port, false, DIST_ERR_RENDEZVOUS, "no store");
	refuses_tcp("no.such.host.invalid", 1, false, DIST_ERR_RENDEZVOUS,
		    "no.such.host.invalid");
	refuses_tcp("127.0.0.1", 65536, false, DIST_ERR_INVALID_ARGUMENT,
		    "port 65536");
	refuses_tcp(NULL, 1, false, DIST_ERR_INVALID_ARGUMENT, "host");
	cr_assert_eq(dist_tcp_store_port(NULL), -1);
}

Test(stores, tcp_ends_with_its_master)
{
	struct store_users users;
	int64_t n;

	cr_assert(store_open_tcp(&users, path));
	okay(dist_store_set_timeout(users.all[1], SECOND / 5));
	dist_store_free(users.all[0]);
	cr_assert_eq(dist_store_add(users.all[1], "n", 1, &n), DIST_ERR_IO);
	cr_assert_eq(dist_store_add(users.all[1], "n", 1, &n), DIST_ERR_IO);
	dist_store_free(users.all[1]);
	dist_store_free(users.all[2]);
}
