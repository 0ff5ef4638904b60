/* Strangers at the stores of a job that has no secret: what launchers tell each
 * other is theirs alone, and the job goes its way. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/launch/launcher.h"
#include "realbackend/store/store_client.h"
#include "tests/support/okay.h"
#include "tests/support/stranger.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)
#define RUN    "job-of-two"

/* What the ranks of a job and its strangers share. */
struct page {
	atomic_int started; /* ranks */
	atomic_int over;    /* no stranger comes any more */
};

static struct page *page;

static void map_page(void)
{
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(page, MAP_FAILED);
}

TestSuite(agents, .init = map_page);

/* How many strangers come: $STRANGERS, or so many. */
static int crowd(int usual)
{
	const char *text = getenv("STRANGERS");

	return text && *text ? atoi(text) : usual;
}

static bool soon(const atomic_int *number, int wanted)
{
	int64_t until_ns = dist__clock_after(60 * SECOND);

	while (atomic_load(number) < wanted) {
		if (dist__clock_ns() > until_ns)
			return false;
		poll(NULL, 0, 2);
	}
	return true;
}

/* A rank that ends when the strangers have gone: the last one badly. */
static int outlast(void *arg)
{
	int rank = atoi(getenv("RANK"));

	(void)arg;
	atomic_fetch_add(&page->started, 1);
	if (!soon(&page->over, 1))
		return 99;
	return rank == 3 ? 7 : 0;
}

/* One of two launchers, of two ranks each, in a process of its own. */
static pid_t launch(int node, int port, const char *error)
{
	struct dist__job_spec spec = {.nproc = 2,
				      .start = outlast,
				      .nodes = {.min_nodes = 2,
						.max_nodes = 2,
						.node_rank = node,
						.run_id = RUN,
						.endpoint_host = "127.0.0.1",
						.endpoint_port = port,
						.join_ns = 30 * SECOND,
						.last_call_ns = SECOND,
						.keep_alive_ns = 5 * SECOND}};
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen(error, "w", stderr))
			_exit(98);
		_exit(dist__job_run(&spec));
	}
	return pid;
}

/* Whether the file has a byte that a terminal would obey. */
static bool has_controls(const char *path)
{
	FILE *file = fopen(path, "r");
	bool found = !file;
	int c;

	while (file && !found && (c = fgetc(file)) != EOF)
		found = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
	if (file)
		fclose(file);
	return found;
}

/* Runs a job of two launchers with strangers at their store, who know the id of
 * the job or not, and expects of both the end that the ranks give it. */
static void endure(const char *run, int strangers)
{
	char error[2][32] = {"/tmp/lockstep-XXXXXX", "/tmp/lockstep-XXXXXX"};
	uint64_t state = 18;
	int port, kept = tcp_port_keep(&port), answers = 0;
	pid_t pids[2];

	cr_assert_geq(kept, 0);
	atomic_store(&page->started, 0);
	atomic_store(&page->over, 0);
	for (int node = 0; node < 2; node++) {
		int fd = mkstemp(error[node]);

		cr_assert_geq(fd, 0);
		close(fd);
		pids[node] = launch(node, port, error[node]);
	}
	cr_assert(soon(&page->started, 4), "the ranks did not start");
	for (int i = 0; i < strangers; i++)
		answers += stranger_talk(&state, port, run);
	cr_expect_eq(kill(pids[0], 0), 0);
	atomic_store(&page->over, 1);
	for (int node = 0; node < 2; node++) {
		cr_expect_eq(tcp_status(pids[node]), DIST_EXIT_FAILED,
			     "node %d", node);
		cr_expect_not(has_controls(error[node]), "%s", error[node]);
		unlink(error[node]);
	}
	cr_expect_eq(atomic_load(&page->started), 4, "the job began anew");
	cr_expect_gt(answers, 0);
	close(kept);
}

Test(agents, are_not_moved_by_strangers)
{
	endure(NULL, crowd(300));
}

/* Who knows the id of the job is let in, and speaks for nobody else. */
Test(agents, are_not_moved_by_who_knows_the_job)
{
	endure(RUN, crowd(300));
}

/* ---- one after the other ------------------------------------------------ */

struct attack {
	enum dist__store_op op;
	const char *strings[3];
};

/* What a follower would end well by, a leader wait for for ever, a launcher
 * fall over, or a store swell of. */
static const struct attack attacks[] = {
	{DIST__STORE_SET, {"orders", "2 0 0 "}},
	{DIST__STORE_SET, {"orders", "1 7 0 127.0.0.1 1 1 1 1 r"}},
	{DIST__STORE_DELETE, {"orders"}},
	{DIST__STORE_COMPARE_SET, {"orders", "", "2 0 0 "}},
	{DIST__STORE_ADD, {"arrivals", "2000000000"}},
	{DIST__STORE_SET, {"arrivals", "x"}},
	{DIST__STORE_SET, {"1/report", "9 4 0 0 1 1 1 r h 0 0 0 "}},
	{DIST__STORE_SET, {"1/report", "9 2 0 0 2 1 1 r h 0 0 0 "}},
	{DIST__STORE_SET, {"1/report", "9 3 0 0 2 1 1 r h 3 99999999 1 x"}},
	{DIST__STORE_SET, {"looks", "x"}},
	{DIST__STORE_ADD, {"looks", "1000000000"}},
	{DIST__STORE_SET, {"anything", "at all"}},
	{DIST__STORE_GET, {"orders"}},
	{DIST__STORE_NUM_KEYS, {NULL}},
	{DIST__STORE_WAIT, {"anything"}},
	{DIST__STORE_ENROL, {"another job", "9 0 0 -1 1 1 1 r h 0 0 0 "}},
};

/* Whether the store at port answers this with anything but a refusal. */
static bool is_obeyed(int port, const struct attack *attack)
{
	struct dist__parcel request, reply;
	struct dist__store *store;
	struct dist_message message;
	bool obeyed;

	okay_or(dist__store_connect("127.0.0.1", port, true,
				    dist__clock_after(20 * SECOND), &store,
				    &message),
		message);
	dist__parcel_init(&request, attack->op, SECOND);
	for (int i = 0; i < 3 && attack->strings[i]; i++)
		dist__parcel_add_text(&request, attack->strings[i]);
	obeyed = dist__store_call(store, &request, dist__clock_after(SECOND),
				  &reply) == DIST_OK &&
		 dist__parcel_code(&reply) == DIST_OK;
	dist__parcel_release(&reply);
	dist__parcel_release(&request);
	dist__store_free(store);
	return obeyed;
}

Test(agents, obey_no_stranger)
{
	char error[] = "/tmp/lockstep-XXXXXX";
	int port, kept = tcp_port_keep(&port), fd = mkstemp(error);
	pid_t pids[2];

	cr_assert(kept >= 0 && fd >= 0);
	for (int node = 0; node < 2; node++)
		pids[node] = launch(node, port, error);
	cr_assert(soon(&page->started, 4), "the ranks did not start");
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		cr_expect_not(
			is_obeyed(port, &attacks[i]), "%s %s",
			attacks[i].strings[0] ? attacks[i].strings[0] : "",
			attacks[i].strings[1] ? attacks[i].strings[1] : "");
	atomic_store(&page->over, 1);
	for (int node = 0; node < 2; node++)
		cr_expect_eq(tcp_status(pids[node]), DIST_EXIT_FAILED,
			     "node %d", node);
	close(fd);
	close(kept);
	unlink(error);
}
