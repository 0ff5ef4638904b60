/* The launcher: what it tells its children, what it says about their ends, and
 * that nothing is left of them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/launch/launcher.h"
#include "realbackend/wire/socket.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"
#include "tests/support/captured.h"

#define SECOND ((int64_t)1000000000)

/* What the children of a test write, in shared memory. */
struct page {
	atomic_int pids[16]; /* of ranks; from 8 on of their children */
	atomic_int ready;
	atomic_int go;
};

static struct page *page;

static void map_page(void)
{
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(page, MAP_FAILED);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

TestSuite(launcher, .init = map_page);

static int rank_of_mine(void)
{
	return atoi(getenv("RANK"));
}

static int run(int nproc, int (*start)(void *))
{
	struct dist__job_spec spec = {.nproc = nproc, .start = start};

	return dist__job_run(&spec);
}

/* Runs a job with what it says on stderr (or stdout) going to text. */
static int run_captured(const struct dist__job_spec *spec, int fd, char *text,
			size_t size)
{
	struct captured captured = capture_begin(fd);
	int status = dist__job_run(spec);

	capture_end(&captured, text, size);
	return status;
}

static void wait_until(atomic_int *value, int wanted)
{
	struct timespec tick = {0, 1000000};

	while (atomic_load(value) < wanted)
		nanosleep(&tick, NULL);
}

/* ---- good ends ---------------------------------------------------------- */

static int check_environment(void *arg)
{
	static const char *const names[] = {"RANK",
					    "LOCAL_RANK",
					    "WORLD_SIZE",
					    "LOCAL_WORLD_SIZE",
					    "GROUP_RANK",
					    "GROUP_WORLD_SIZE",
					    "ROLE_RANK",
					    "ROLE_WORLD_SIZE",
					    "ROLE_NAME",
					    "MASTER_ADDR",
					    "MASTER_PORT",
					    "LOCKSTEP_STORE_PORT",
					    "TORCHELASTIC_USE_AGENT_STORE",
					    "TORCHELASTIC_RESTART_COUNT",
					    "LOCKSTEP_BACKEND",
					    "TORCHELASTIC_MAX_RESTARTS",
					    "LOCKSTEP_BOARD_FD",
					    "TORCHELASTIC_RUN_ID"};

	(void)arg;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!getenv(names[i]))
			return 10 + (int)i;
	if (strcmp(getenv("WORLD_SIZE"), "3") != 0 ||
	    strcmp(getenv("LOCKSTEP_TIMEOUT"), "2.500000000") != 0 ||
	    strcmp(getenv("LOCKSTEP_ALGORITHM"), "ring") != 0)
		return 1;
	if (!getenv("LOCKSTEP_STORE_FD") != (rank_of_mine() != 0))
		return 2;
	atomic_fetch_add(&page->ready, 1 << (8 * rank_of_mine()));
	return 0;
}

Test(launcher, tells_each_rank_its_place)
{
	struct dist__job_spec spec = {.nproc = 3,
				      .timeout_ns = 5 * SECOND / 2,
				      .algorithm = "ring",
				      .start = check_environment};

	cr_assert_eq(dist__job_run(&spec), DIST_EXIT_OK);
	cr_assert_eq(atomic_load(&page->ready), 0x010101);
}

static int print_lines(void *arg)
{
	(void)arg;
	printf("one of %d\ntw", rank_of_mine());
	fflush(stdout);
	printf("o of %d\nno end", rank_of_mine());
	return 0;
}

Test(launcher, prefixes_whole_lines)
{
	struct dist__job_spec spec = {
		.nproc = 3, .output.prefix = true, .start = print_lines};
	char text[4096], line[64];

	cr_assert_eq(run_captured(&spec, STDOUT_FILENO, text, sizeof text),
		     DIST_EXIT_OK);
	for (int rank = 0; rank < 3; rank++) {
		snprintf(line, sizeof line, "[%d]: one of %d\n", rank, rank);
		cr_assert_not_null(strstr(text, line), "%s", text);
		snprintf(line, sizeof line, "[%d]: two of %d\n", rank, rank);
		cr_assert_not_null(strstr(text, line), "%s", text);
		snprintf(line, sizeof line, "[%d]: no end\n", rank);
		cr_assert_not_null(strstr(text, line), "%s", text);
	}
}

/* Writes more than pipes and line buffers hold, in one line. */
static int print_much(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200000; i++)
		putchar('x');
	return 0;
}

Test(launcher, passes_on_long_lines)
{
	struct dist__job_spec spec = {
		.nproc = 1, .output.prefix = true, .start = print_much};
	char *text = malloc(400000);
	size_t count = 0;

	cr_assert_eq(run_captured(&spec, STDOUT_FILENO, text, 400000),
		     DIST_EXIT_OK);
	for (const char *c = text; *c; c++)
		count += *c == 'x';
	cr_assert_eq(count, 200000);
	free(text);
}

/* ---- bad ends ----------------------------------------------------------- */

/* A rank that clings to life, and so does its child. */
static void cling(void)
{
	int rank = rank_of_mine();
	pid_t pid;

	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	atomic_store(&page->pids[rank], getpid());
	pid = fork();
	alarm(60); /* but not longer than a test that goes wrong */
	if (pid == 0)
		atomic_store(&page->pids[8 + rank], getpid());
	atomic_fetch_add(&page->ready, 1);
	for (;;)
		pause();
}

static bool all_gone(void)
{
	for (int i = 0; i < 16; i++) {
		int pid = atomic_load(&page->pids[i]);

		if (pid && kill(pid, 0) == 0)
			return false;
	}
	return true;
}

/* The dead stay zombies until somebody reaps them: we, if they are orphans. */
static bool all_soon_gone(void)
{
	struct timespec tick = {0, 1000000};

	for (int i = 0; i < 10000 && !all_gone(); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nanosleep(&tick, NULL);
	}
	return all_gone();
}

static int one_kills_itself(void *arg)
{
	(void)arg;
	if (rank_of_mine() != 2)
		cling();
	wait_until(&page->ready, 6);
	raise(SIGKILL);
	return 0;
}

Test(launcher, kills_the_rest_and_names_the_first)
{
	struct dist__job_spec spec = {.nproc = 4, .start = one_kills_itself};
	int64_t start_ns = dist__clock_ns();
	char text[4096];

	cr_assert_eq(run_captured(&spec, STDERR_FILENO, text, sizeof text),
		     DIST_EXIT_RANK_LOST);
	/* A second of mercy; far less than a test's whole limit. */
	cr_assert_lt(dist__clock_ns() - start_ns, 20 * SECOND);
	cr_assert_not_null(
		strstr(text, "rank 2 was killed by signal 9 (Killed)"), "%s",
		text);
	cr_assert(all_soon_gone());
}

static int linger(void *arg)
{
	(void)arg;
	atomic_store(&page->pids[rank_of_mine()], getpid());
	alarm(60);
	while (pause() < 0)
		;
	return 0;
}

/* Ends the job while it starts its third rank. */
static void end_at_third(void)
{
	static int forks;

	if (++forks == 3)
		raise(SIGTERM);
}

Test(launcher, starts_no_more_ranks_when_it_is_to_end)
{
	char text[4096];
	struct dist__job_spec spec = {.nproc = 8, .start = linger};

	cr_assert_eq(pthread_atfork(end_at_third, NULL, NULL), 0);
	cr_assert_eq(run_captured(&spec, STDERR_FILENO, text, sizeof text),
		     128 + SIGTERM);
	for (int rank = 3; rank < 8; rank++)
		cr_assert_eq(atomic_load(&page->pids[rank]), 0, "rank %d",
			     rank);
	cr_assert(all_soon_gone());
}

static int one_fails(void *arg)
{
	(void)arg;
	if (rank_of_mine() != 1) {
		signal(SIGTERM, SIG_DFL);
		for (;;)
			pause();
	}
	return 3;
}

Test(launcher, reports_a_status)
{
	struct dist__job_spec spec = {.nproc = 3, .start = one_fails};
	char text[4096];

	cr_assert_eq(run_captured(&spec, STDERR_FILENO, text, sizeof text),
		     DIST_EXIT_FAILED);
	cr_assert_not_null(strstr(text, "rank 1 exited with status 3"), "%s",
			   text);
}

static int wait_for_the_lost(void *arg)
{
	struct dist_group *group;
	enum dist_error error;
	float x = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 7;
	if (dist_get_rank(group) == 1)
		raise(SIGABRT);
	error = dist_recv(group, dist_tensor(&x, 1, DIST_FLOAT32), 1, 0);
	(void)dist_destroy_process_group(group);
	return error == DIST_ERR_PEER_LOST ? 1 : 8;
}

Test(launcher, finds_the_rank_that_the_others_lost)
{
	struct dist__job_spec spec = {.nproc = 4, .start = wait_for_the_lost};
	char text[4096];

	cr_assert_eq(run_captured(&spec, STDERR_FILENO, text, sizeof text),
		     DIST_EXIT_RANK_LOST);
	cr_assert_not_null(strstr(text, "rank 1 was killed by signal 6"), "%s",
			   text);
}

static int never_come(void *arg)
{
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	(void)arg;
	if (rank_of_mine() == 1)
		return 0;
	return !tcp_join(&r, SECOND / 5, &error, &message) &&
			       error == DIST_ERR_RENDEZVOUS
		       ? 1
		       : 0;
}

Test(launcher, tells_a_failed_rendezvous)
{
	cr_assert_eq(run(2, never_come), DIST_EXIT_RENDEZVOUS);
}

static int do_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* A store of the program's own beside ours. */
static int listen_at_master_port(void *arg)
{
	int port = atoi(getenv("MASTER_PORT")), fd = -1, *wanted = arg;
	struct dist_message message;
	struct dist_group *group;

	if (*wanted && port != *wanted)
		return 3;
	if (rank_of_mine() == 0 &&
	    dist__socket_listen("0.0.0.0", port, &fd, &message) != DIST_OK)
		return 4;
	if (dist_init_process_group(NULL, &group))
		return 5;
	return dist_barrier(group, NULL) ||
	       dist_destroy_process_group(group) != DIST_OK;
}

Test(launcher, leaves_the_master_port_to_the_program)
{
	int wanted = 0, fd;
	struct dist__job_spec spec = {
		.nproc = 2, .start = listen_at_master_port, .arg = &wanted};
	struct dist_message message;

	cr_assert_eq(dist__job_run(&spec), DIST_EXIT_OK);
	okay(dist__socket_reserve("localhost", 0, &fd, &message));
	spec.master_port = wanted = dist__socket_port(fd);
	cr_assert_eq(dist__job_run(&spec), DIST_EXIT_OK);
	close(fd);
}

Test(launcher, refuses_a_port_that_is_taken)
{
	struct dist__job_spec spec = {.nproc = 2, .start = do_nothing};
	struct tcp_world other;
	char text[4096], wanted[128];

	cr_assert(tcp_world_open(&other));
	spec.master_port = other.port;
	cr_assert_eq(run_captured(&spec, STDERR_FILENO, text, sizeof text),
		     DIST_EXIT_RENDEZVOUS);
	snprintf(wanted, sizeof wanted,
		 "rendezvous: port 127.0.0.1:%d is taken", other.port);
	cr_assert_not_null(strstr(text, wanted), "%s", text);
	cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1, "one line");
	tcp_world_close(&other);
}

/* ---- the launcher's own end --------------------------------------------- */

static int cling_on(void *arg)
{
	(void)arg;
	cling();
	return 0;
}

static pid_t launch_apart(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(run(3, cling_on));
	wait_until(&page->ready, 6);
	return pid;
}

Test(launcher, ends_the_ranks_when_terminated)
{
	pid_t launcher = launch_apart();

	kill(launcher, SIGTERM);
	cr_assert_eq(tcp_status(launcher), 128 + SIGTERM);
	cr_assert(all_soon_gone());
}

/* Whether an interrupt waits for the process; another would be one with it. */
static bool is_pending(pid_t pid)
{
	unsigned long long pending = 0;
	char line[256];
	FILE *file;

	snprintf(line, sizeof line, "/proc/%ld/status", (long)pid);
	file = fopen(line, "r");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "ShdPnd:", 7) == 0)
			pending = strtoull(line + 7, NULL, 16);
	if (file)
		fclose(file);
	return pending >> (SIGINT - 1) & 1;
}

Test(launcher, ends_the_ranks_when_interrupted_twice)
{
	pid_t launcher = launch_apart();
	struct timespec tick = {0, 1000000};

	kill(launcher, SIGINT);
	while (is_pending(launcher))
		nanosleep(&tick, NULL);
	kill(launcher, SIGINT);
	cr_assert_eq(tcp_status(launcher), 128 + SIGINT);
	cr_assert(all_soon_gone());
}

static int stay(void *arg)
{
	(void)arg;
	atomic_store(&page->pids[rank_of_mine()], getpid());
	atomic_fetch_add(&page->ready, 1);
	alarm(60);
	pause();
	return 0;
}

Test(launcher, leaves_no_rank_when_killed)
{
	pid_t launcher = fork();

	if (launcher == 0)
		_exit(run(3, stay));
	wait_until(&page->ready, 3);
	kill(launcher, SIGKILL);
	cr_assert_eq(tcp_status(launcher), 128 + SIGKILL);
	cr_assert(all_soon_gone());
}
