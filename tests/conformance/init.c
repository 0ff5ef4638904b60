/* One program joins its job by any init method, in every world. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/store.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_world.h"

#define PLATFORM "tests/support/star16.xml"
#define SECOND   ((int64_t)1000000000)

enum { WORLD = 4, TIMES = 2 };

static char folder[] = "/tmp/lockstep-init-XXXXXX";
static char path[64], file_url[96], tcp_url[64];
static int port, kept; /* and the socket that keeps it for us */

static void make_places(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/store", folder);
	snprintf(file_url, sizeof file_url, "file://%s", path);
	kept = tcp_port_keep(&port);
	cr_assert_geq(kept, 0);
	snprintf(tcp_url, sizeof tcp_url, "tcp://127.0.0.1:%d", port);
}

static void remove_places(void)
{
	close(kept);
	cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

TestSuite(init, .init = make_places, .fini = remove_places);

/* ---- the program -------------------------------------------------------- */

struct plan {
	const char *init_method;
	bool in_query;  /* rank and world size stand in the URL */
	bool in_fields; /* or in the options */
	struct dist_store *(*open_store)(int rank);
};

/* Joins, sums up ones, leaves. */
static int join_once(const struct dist_init_options *options)
{
	struct dist_group *group = NULL;
	float sum = 1;
	int failed;

	if (dist_is_initialized(group) ||
	    dist_init_process_group(options, &group))
		return 1;
	failed = !dist_is_initialized(group) ||
		 dist_get_world_size(group) != WORLD ||
		 dist_set_timeout(group, 20 * SECOND) != DIST_OK ||
		 dist_all_reduce(group, dist_tensor(&sum, 1, DIST_FLOAT32),
				 DIST_SUM, NULL) != DIST_OK ||
		 sum != WORLD;
	return dist_destroy_process_group(group) || failed;
}

static int own_rank(void)
{
	struct dist_group *group;
	int rank;

	if (dist_init_process_group(NULL, &group))
		return -1;
	rank = dist_get_rank(group);
	return dist_destroy_process_group(group) ? -1 : rank;
}

/* The master of a TCP store leaves last. */
static int leave_store(struct dist_store *store, int rank)
{
	static const char *const keys[] = {"all left"};
	int64_t left = 0;
	int failed = 0;

	if (!store)
		return 0;
	failed |= dist_store_add(store, "left", 1, &left) != DIST_OK;
	if (left == WORLD)
		failed |= dist_store_set(store, keys[0], "", 0) != DIST_OK;
	else if (rank == 0)
		failed |=
			dist_store_wait(store, keys, 1, 60 * SECOND) != DIST_OK;
	dist_store_free(store);
	return failed;
}

static int rank_main(void *arg)
{
	const struct plan *plan = arg;
	struct dist_message message = {""};
	struct dist_init_options options = {.init_method = plan->init_method,
					    .timeout_ns = 60 * SECOND,
					    .message = &message};
	int rank = own_rank(), failed = rank < 0;
	struct dist_store *store = NULL, *part = NULL;
	char url[160];

	if (plan->in_query) {
		snprintf(url, sizeof url, "%s?rank=%d&world_size=%d",
			 plan->init_method, rank, WORLD);
		options.init_method = url;
	}
	if (plan->in_fields) {
		options.rank = rank;
		options.world_size = WORLD;
	}
	if (plan->open_store) {
		store = plan->open_store(rank);
		if (!store || dist_prefix_store_new("job", store, &part))
			return 1;
		options.store = part;
	}
	for (int i = 0; i < TIMES && !failed; i++)
		failed = join_once(&options);
	if (message.text[0])
		fprintf(stderr, "rank %d: %s\n", rank, message.text);
	dist_store_free(part);
	return leave_store(store, rank) || failed;
}

/* ---- the stores --------------------------------------------------------- */

static struct dist_store *open_tcp(int rank)
{
	struct dist_store *store = NULL;

	(void)!dist_tcp_store_new("127.0.0.1", port, 0, rank == 0, 60 * SECOND,
				  &store, NULL);
	return store;
}

static struct dist_store *open_file(int rank)
{
	struct dist_store *store = NULL;

	(void)rank;
	(void)!dist_file_store_new(path, WORLD, &store, NULL);
	return store;
}

/* For ranks of one process. */
static struct dist_store *hash;

static struct dist_store *open_hash(int rank)
{
	struct dist_store *part = NULL;

	(void)rank;
	(void)!dist_prefix_store_new("of all", hash, &part);
	return part;
}

/* ---- the worlds --------------------------------------------------------- */

/* Launches in a process of its own: there is one simulation in each. */
static int launch(const char *backend, int world_size, int (*program)(void *),
		  void *arg)
{
	struct dist_launch_options options = {.backend = backend,
					      .platform = PLATFORM,
					      .world_size = world_size};
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(100);
		_exit(dist_launch(&options, program, arg));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int join_on(const char *backend, struct plan plan)
{
	return launch(backend, WORLD, rank_main, &plan);
}

static void join_everywhere(struct plan plan)
{
	cr_assert_eq(join_on("sim", plan), DIST_EXIT_OK);
	cr_assert_eq(join_on("tcp", plan), DIST_EXIT_OK);
}

Test(init, by_environment)
{
	join_everywhere((struct plan){.init_method = NULL});
	join_everywhere((struct plan){.init_method = "env://"});
	join_everywhere(
		(struct plan){.init_method = "env://", .in_query = true});
	join_everywhere((struct plan){.in_fields = true});
}

Test(init, by_address)
{
	join_everywhere((struct plan){.init_method = tcp_url});
	join_everywhere(
		(struct plan){.init_method = tcp_url, .in_query = true});
	join_everywhere(
		(struct plan){.init_method = tcp_url, .in_fields = true});
}

Test(init, by_file)
{
	join_everywhere((struct plan){.init_method = file_url});
	join_everywhere(
		(struct plan){.init_method = file_url, .in_query = true});
	join_everywhere(
		(struct plan){.init_method = file_url, .in_fields = true});
	cr_assert_neq(access(path, F_OK), 0, "the last rank removes the file");
}

Test(init, by_store)
{
	join_everywhere(
		(struct plan){.in_fields = true, .open_store = open_tcp});
	join_everywhere(
		(struct plan){.in_fields = true, .open_store = open_file});
}

/* Ranks that share a process share memory; while one waits for a key the
 * others go on. */
Test(init, by_memory)
{
	okay(dist_hash_store_new(&hash));
	cr_assert_eq(join_on("sim", (struct plan){.in_fields = true,
						  .open_store = open_hash}),
		     DIST_EXIT_OK);
	dist_store_free(hash);
}

/* ---- what is refused, alike in every world ------------------------------ */

struct refusal {
	struct dist_init_options options;
	const char *text;
};

static int expect_refusals(void *arg)
{
	static const struct refusal refusals[] = {
		{{.init_method = "http://x"}, "unknown init method"},
		{{.init_method = "env:/"}, "unknown init method"},
		{{.init_method = "tcp://"}, "tcp://host:port"},
		{{.init_method = "tcp://host"}, "tcp://host:port"},
		{{.init_method = "tcp://host:"}, "tcp://host:port"},
		{{.init_method = "tcp://:29500"}, "tcp://host:port"},
		{{.init_method = "tcp://host:0"}, "port from 1 to 65535"},
		{{.init_method = "tcp://host:65536"}, "port from 1 to 65535"},
		{{.init_method = "tcp://host:29500/"}, "tcp://host:port"},
		{{.init_method = "tcp://a/b:29500"}, "tcp://host:port"},
		{{.init_method = "tcp://::1:29500"}, "tcp://[ipv6]:port"},
		{{.init_method = "file://"}, "file:///path"},
		{{.init_method = "file://x/y"}, "file:///path"},
		{{.init_method = "file:///tmp/"}, "file:///path"},
		{{.init_method = "env://?rank=0"}, "both rank and world_size"},
		{{.init_method = "env://?rank=x&world_size=4"}, "?rank=R"},
		{{.init_method = "env://?rank=-1&world_size=4"}, "?rank=R"},
		{{.init_method = "env://?speed=9"}, "?rank=R"},
		{{.init_method = "env://?rank=4&world_size=4"},
		 "rank 4 is outside a world of 4"},
		{{.init_method = "env://?rank=0&world_size=0"},
		 "outside a world of 0"},
		{{.rank = 4, .world_size = 4}, "rank 4 is outside"},
		{{.rank = -1, .world_size = 4}, "rank -1 is outside"},
		{{.timeout_ns = -1}, "timeout_ns is -1"},
		{{.backend = "gloo"}, "backend \"gloo\""},
	};
	int wrong = 0;

	(void)arg;
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		struct dist_init_options options = refusals[i].options;
		struct dist_message message = {""};
		struct dist_group *group = NULL;

		options.message = &message;
		if (dist_init_process_group(&options, &group) ==
			    DIST_ERR_INVALID_ARGUMENT &&
		    strstr(message.text, refusals[i].text) && !group)
			continue;
		fprintf(stderr, "%zu: not refused as /%s/, but \"%s\"\n", i,
			refusals[i].text, message.text);
		wrong++;
	}
	return wrong;
}

static int expect_store_refusals(void *arg)
{
	struct dist_store *store = arg;
	struct dist_message message = {""};
	struct dist_group *group = NULL;
	struct dist_init_options options = {.store = store,
					    .message = &message};

	if (dist_init_process_group(&options, &group) !=
		    DIST_ERR_INVALID_ARGUMENT ||
	    !strstr(message.text, "without a world size"))
		return 1;
	options.init_method = "env://";
	options.world_size = 1;
	return dist_init_process_group(&options, &group) !=
		       DIST_ERR_INVALID_ARGUMENT ||
	       !strstr(message.text, "and a store: expected one");
}

Test(init, refuses_bad_options_in_simulation)
{
	cr_assert_eq(launch("sim", 2, expect_refusals, NULL), DIST_EXIT_OK);
}

Test(init, refuses_bad_options_over_tcp)
{
	cr_assert_eq(launch("tcp", 2, expect_refusals, NULL), DIST_EXIT_OK);
}

Test(init, refuses_half_a_store)
{
	struct dist_store *store;

	okay(dist_hash_store_new(&store));
	cr_assert_eq(launch("sim", 2, expect_store_refusals, store),
		     DIST_EXIT_OK);
	cr_assert_eq(launch("tcp", 2, expect_store_refusals, store),
		     DIST_EXIT_OK);
	dist_store_free(store);
}

/* ---- back ends and timeouts --------------------------------------------- */

static int ask_around(void *arg)
{
	const char *name = arg;
	char shouted[8] = "";
	struct dist_init_options options = {.backend = shouted};
	struct dist_group *group;
	int failed;

	for (size_t i = 0; name[i]; i++)
		shouted[i] = (char)toupper((unsigned char)name[i]);
	if (dist_init_process_group(&options, &group))
		return 1;
	failed = strcmp(dist_get_backend(group), name) != 0 ||
		 !dist_is_backend_available(shouted) || !dist_is_available() ||
		 dist_is_backend_available("no such back end") ||
		 dist_set_timeout(group, 0) != DIST_ERR_INVALID_ARGUMENT ||
		 dist_set_timeout(group, -1) != DIST_ERR_INVALID_ARGUMENT ||
		 dist_set_timeout(NULL, 1) != DIST_ERR_INVALID_ARGUMENT ||
		 dist_set_timeout(group, DIST_TIMEOUT_NEVER) != DIST_OK ||
		 dist_barrier(group, NULL) != DIST_OK;
	return dist_destroy_process_group(group) || failed;
}

Test(init, takes_the_name_of_a_back_end_in_any_case)
{
	char sim[] = "sim", tcp[] = "tcp";

	cr_assert_eq(launch("Sim", 2, ask_around, sim), DIST_EXIT_OK);
	cr_assert_eq(launch("TCP", 2, ask_around, tcp), DIST_EXIT_OK);
	cr_assert_not(dist_is_backend_available(NULL));
	cr_assert_not(dist_is_initialized(NULL));
}

/* Rank 0 alone waits: its group's timeout, set late, is what ends that. */
static int wait_in_vain(void *arg)
{
	struct dist_init_options options = {.timeout_ns = 3600 * SECOND};
	struct dist_group *group;
	enum dist_error error = DIST_ERR_TIMEOUT;
	float x = 0;

	(void)arg;
	if (dist_init_process_group(&options, &group) ||
	    dist_set_timeout(group, SECOND / 5))
		return 1;
	if (dist_get_rank(group) == 0)
		error = dist_recv(group, dist_tensor(&x, 1, DIST_FLOAT32), 1,
				  0);
	else
		(void)dist_compute(group, 2 * SECOND, NULL);
	(void)dist_destroy_process_group(group);
	return error != DIST_ERR_TIMEOUT;
}

Test(init, sets_the_timeout_of_a_group)
{
	cr_assert_eq(launch("sim", 2, wait_in_vain, NULL), DIST_EXIT_OK);
	cr_assert_eq(launch("tcp", 2, wait_in_vain, NULL), DIST_EXIT_OK);
}

/* ---- waiting in a simulation -------------------------------------------- */

/* Nobody sets the key: simulated time passes, real time hardly does, until the
 * wait has no end. */
static int wait_for_nothing(void *arg)
{
	static const char *const keys[] = {"never"};
	struct dist_store *store = arg;
	struct dist_group *group;
	int64_t start_ns, waited_ns;
	int failed;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	failed = dist_store_wait(store, keys, 1, 200 * SECOND) !=
		 DIST_ERR_TIMEOUT;
	waited_ns = dist_now_ns(group) - start_ns;
	failed |= waited_ns < 199 * SECOND || waited_ns > 201 * SECOND;
	if (failed)
		return 1;
	failed |= dist_store_wait(store, keys, 1, DIST_TIMEOUT_NEVER) !=
		  DIST_ERR_DEADLOCK;
	return dist_destroy_process_group(group) || failed;
}

/* Rank 0 waits when it has left the job, and its message is left behind. */
static int wait_afterwards(void *arg)
{
	static const char *const keys[] = {"there"};
	struct dist_store *store = arg;
	struct dist_group *group;
	struct dist_work *work = NULL;
	float x = 0;

	if (dist_init_process_group(NULL, &group) ||
	    dist_barrier(group, NULL) ||
	    (dist_get_rank(group) == 1 &&
	     (dist_isend(group, dist_tensor(&x, 1, DIST_FLOAT32), 0, 0,
			 &work) ||
	      dist_work_wait(work, DIST_TIMEOUT_OF_GROUP))))
		return 1;
	if (dist_get_rank(group) == 1)
		dist_work_free(work);
	return dist_destroy_process_group(group) ||
	       dist_store_set(store, keys[0], "", 0) ||
	       dist_store_wait(store, keys, 1, DIST_TIMEOUT_OF_STORE);
}

Test(init, who_has_left_may_wait_for_a_key)
{
	struct dist_store *store;

	okay(dist_hash_store_new(&store));
	setenv("LOCKSTEP_P2P", "buffered", 1);
	cr_assert_eq(launch("sim", 2, wait_afterwards, store), DIST_EXIT_LEFT);
	dist_store_free(store);
}

Test(init, waits_by_the_simulated_clock)
{
	struct dist_store *store;

	okay(dist_hash_store_new(&store));
	cr_assert_eq(launch("sim", 2, wait_for_nothing, store),
		     DIST_EXIT_DEADLOCK);
	dist_store_free(store);
}
