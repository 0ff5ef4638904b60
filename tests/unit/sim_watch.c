/*
 * Simulated ranks that end the process that all of them share, or let it go on
 * for ever: every kind at every point gets its verdict, and every report.
 */
#define _GNU_SOURCE /* mkdtemp, readlink */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "sim/platform/platform.h"
#include "sim/watcher.h"
#include "tests/support/misbehave.h"

#define AT_ONCE 6
#define MS      INT64_C(1000000)
#define SOURCE  "tests/support/misbehave.c"

static const char *const kinds[] = {"exit0", "exit3",   "return",  "segv",
				    "abort", "fpe",     "kill",    "overflow",
				    "frame", "endless", "exit256", "stop"};
static const char *const points[] = {"init", "call", "wait", "group", "end"};

#define KINDS  (sizeof kinds / sizeof *kinds)
#define POINTS (sizeof points / sizeof *points)
#define CASES  (KINDS * POINTS * TURNS)

/* Who it is, and where. */
static const struct {
	int rank;
	bool is_program; /* else it is built in */
} turns[] = {{0, false}, {1, false}, {2, false}, {0, true}, {2, true}};
#define TURNS (sizeof turns / sizeof *turns)

struct attempt {
	const char *kind, *point;
	int rank;
	bool is_program;
};

static struct attempt attempt_of(size_t number)
{
	return (struct attempt){
		.kind = kinds[number % KINDS],
		.point = points[number / KINDS % POINTS],
		.rank = turns[number / KINDS / POINTS].rank,
		.is_program = turns[number / KINDS / POINTS].is_program,
	};
}

static char folder[] = "/tmp/lockstep-watch-XXXXXX";

static void name_file(char path[128], size_t number, const char *what)
{
	snprintf(path, 128, "%s/%zu.%s", folder, number, what);
}

static bool is_one_of(const char *word, const char *list)
{
	const char *at = strstr(list, word);

	return at && (at == list || at[-1] == ' ') &&
	       (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

/* ---- one case ----------------------------------------------------------- */

static int start(void *arg)
{
	const struct attempt *attempt = arg;
	char program[4096], rank[8];
	ssize_t len;

	if (!attempt->is_program)
		return misbehave(attempt->kind, attempt->point, attempt->rank);
	len = readlink("/proc/self/exe", program, sizeof program - 32);
	program[len < 0 ? 0 : len] = '\0';
	strcpy(strrchr(program, '/') + 1, "cli/misbehave");
	snprintf(rank, sizeof rank, "%d", attempt->rank);
	execl(program, program, attempt->kind, attempt->point, rank, NULL);
	return DIST_EXIT_INTERNAL;
}

static void __attribute__((noreturn)) run(size_t number)
{
	static const char *const files[][2] = {{"LOCKSTEP_JSON", "json"},
					       {"LOCKSTEP_JUNIT", "junit"},
					       {"LOCKSTEP_SARIF", "sarif"}};
	struct attempt attempt = attempt_of(number);
	int64_t patience_ns;
	char path[128];
	int error;

	name_file(path, number, "err");
	error = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	dup2(error, STDERR_FILENO);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		name_file(path, number, files[i][1]);
		setenv(files[i][0], path, 1);
	}
	alarm(60);
	/* What ends by itself has time to, however busy the machine is. */
	patience_ns =
		is_one_of(attempt.kind, "endless stop") ? 300 * MS : 50000 * MS;
	_exit(dist__sim_watch_run(start, &attempt, patience_ns));
}

/* ---- what is expected --------------------------------------------------- */

static int status_of(const struct attempt *attempt)
{
	bool ends = strcmp(attempt->point, "end") == 0;

	if (is_one_of(attempt->kind, "endless stop"))
		return DIST_EXIT_TIMEOUT;
	if (is_one_of(attempt->kind, "exit0 exit256 return"))
		return ends ? DIST_EXIT_OK : DIST_EXIT_DEADLOCK;
	if (strcmp(attempt->kind, "exit3") == 0 && ends)
		return DIST_EXIT_FAILED;
	return DIST_EXIT_RANK_LOST;
}

/* The line that says so; 0: there is none. */
static int find_line(const struct attempt *attempt)
{
	bool in_call = strcmp(attempt->kind, "segv") == 0 &&
		       strcmp(attempt->point, "group") == 0;
	char line[256], text[64];
	int number = 0, found = 0;
	FILE *file;

	if (!is_one_of(attempt->kind, "segv abort fpe overflow frame"))
		return 0;
	snprintf(text, sizeof text, "bad: %s%s */", attempt->kind,
		 in_call ? " in a call" : "");
	file = fopen(SOURCE, "r");
	cr_assert(file);
	while (!found && fgets(line, sizeof line, file)) {
		number++;
		if (strstr(line, text))
			found = number;
	}
	fclose(file);
	cr_assert(found, "no line \"%s\"", text);
	return found;
}

static void check_json(const struct attempt *attempt, const char *what,
		       json_t *json, int status)
{
	json_t *culprits = json_object_get(json, "culprits");
	json_t *sites = json_object_get(json, "sites");
	json_t *first = json_array_get(sites, 0);
	int line = find_line(attempt), told;

	cr_expect_eq(json_integer_value(json_object_get(json, "exit_status")),
		     status, "%s", what);
	cr_expect_str_eq(json_string_value(json_object_get(json, "world")),
			 "sim", "%s", what);
	if (status == 0)
		return;
	cr_expect(json_array_size(culprits) == 1 &&
			  json_integer_value(json_array_get(culprits, 0)) ==
				  attempt->rank,
		  "%s: culprits %s", what, json_dumps(culprits, 0));
	told = (int)json_integer_value(json_object_get(first, "line"));
	/* Instructions of a call of several lines stand at any of them; gcc may
	 * probe the stack where a function begins. */
	if (line)
		cr_expect(told <= line && told >= line - 4,
			  "%s: line %d, not %d", what, told, line);
	if (strcmp(attempt->kind, "endless") == 0)
		cr_expect_str_eq(
			json_string_value(json_object_get(first, "function")),
			"err", "%s", what);
}

static bool has(const char *path, const char *text)
{
	char line[1024];
	bool found = false;
	FILE *file = fopen(path, "r");

	while (file && !found && fgets(line, sizeof line, file))
		found = strstr(line, text);
	if (file)
		fclose(file);
	return found;
}

static void check(size_t number, int status)
{
	struct attempt attempt = attempt_of(number);
	int expected = status_of(&attempt);
	json_t *json, *sarif;
	char path[128], what[256];

	snprintf(what, sizeof what, "%s, %s, rank %d, %s", attempt.kind,
		 attempt.point, attempt.rank,
		 attempt.is_program ? "a program" : "built in");
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == expected,
		  "%s: status 0x%x, not %d", what, (unsigned)status, expected);
	name_file(path, number, "json");
	json = json_load_file(path, 0, NULL);
	cr_expect(json, "%s: no JSON", what);
	if (json)
		check_json(&attempt, what, json, expected);
	json_decref(json);
	name_file(path, number, "sarif");
	sarif = json_load_file(path, 0, NULL);
	cr_expect(sarif, "%s: no SARIF", what);
	json_decref(sarif);
	name_file(path, number, "junit");
	cr_expect(has(path, "</testsuites>"), "%s: no JUnit", what);
	name_file(path, number, "err");
	if (is_one_of(attempt.kind, "overflow frame"))
		cr_expect(has(path, "--stack-size"), "%s: no advice", what);
}

/* ---- all ---------------------------------------------------------------- */

static void begin(void)
{
	cr_assert(mkdtemp(folder));
	setenv("LOCKSTEP_BACKEND", "sim", 1);
	setenv("LOCKSTEP_PLATFORM", "star-8", 1);
	setenv("WORLD_SIZE", "3", 1);
	unsetenv("RANK");
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	cr_expect_eq(system(command), 0);
}

/* Waits for one of the children, and looks what it has come to. */
static void await_one(pid_t children[CASES])
{
	int status;
	pid_t pid = wait(&status);

	for (size_t i = 0; i < CASES; i++)
		if (children[i] == pid)
			check(i, status);
}

Test(sim_watch, every_way_to_misbehave_gets_its_verdict, .init = begin,
     .fini = end)
{
	static pid_t children[CASES];
	size_t running = 0;

	/* Under sanitizers nobody but these has a say in signals. */
	if (!dist__platform_can_copy())
		cr_skip_test("ranks are threads");
	for (size_t i = 0; i < CASES; i++) {
		if (running == AT_ONCE) {
			await_one(children);
			running--;
		}
		children[i] = fork();
		if (children[i] == 0)
			run(i);
		running++;
	}
	while (running-- > 0)
		await_one(children);
}
