/*
 * Pages that must not be touched: who does is named to the line, who does not
 * is let alone, and what has nothing to do with it is as it was.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#if defined __OPTIMIZE__ && !defined _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2 /* as on Ubuntu: wrappers around memset */
#endif

#include <criterion/criterion.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/watch/points.h"
#include "check/watch/source.h"

#define PAGES 8

static size_t page;

static char *pages_new(void)
{
	char *memory;

	page = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	return memory;
}

static struct dist__guard *guard_new(const char *memory, size_t bytes,
				     enum dist__guard_level level)
{
	struct dist__guard *guard = dist__guard_new(memory, bytes, level);

	cr_assert_not_null(guard);
	return guard;
}

static enum dist__guard_level seen(const struct dist__guard *guard)
{
	return dist__guard_access(guard).level;
}

static void expect_seen(struct dist__access access,
			enum dist__guard_level level, const char *address,
			const char *function, int line)
{
	struct dist__source source =
		dist__source_find(access.frames, DIST__GUARD_FRAMES);

	cr_expect_eq(access.level, level);
	cr_expect_eq(access.address, address);
	cr_expect_str_eq(source.file, __FILE__);
	cr_expect_eq(source.line, line, "line %d, not %d", source.line, line);
	cr_expect_str_eq(source.function, function);
}

static void expect_access(const struct dist__guard *guard,
			  enum dist__guard_level level, const char *address,
			  const char *function, int line)
{
	expect_seen(dist__guard_access(guard), level, address, function, line);
}

static int write_here(volatile char *at)
{
	*at = 7;
	return __LINE__ - 1;
}

static int read_here(const volatile char *at, char *value)
{
	*value = *at;
	return __LINE__ - 1;
}

static int fill_here(char *at, size_t bytes)
{
	memset(at, 9, bytes);
	return __LINE__ - 1;
}

Test(guard, a_write_is_named_and_goes_on)
{
	char *memory = pages_new();
	struct dist__guard *guard =
		guard_new(memory, PAGES * page, DIST__GUARD_ALL);
	int line = write_here(memory + page + 1);

	(void)write_here(memory); /* the first counts */
	cr_expect_eq(memory[page + 1], 7);
	expect_access(guard, DIST__GUARD_WRITES, memory + page + 1,
		      "write_here", line);
	dist__guard_free(guard);
}

Test(guard, a_read_is_named_until_something_is_written)
{
	char *memory = pages_new(), value;
	struct dist__guard *guard;
	int line;

	memory[2 * page] = 5;
	guard = guard_new(memory, PAGES * page, DIST__GUARD_ALL);
	line = read_here(memory + 2 * page, &value);
	cr_expect_eq(value, 5);
	expect_access(guard, DIST__GUARD_ALL, memory + 2 * page, "read_here",
		      line);
	line = write_here(memory + page);
	expect_access(guard, DIST__GUARD_WRITES, memory + page, "write_here",
		      line);
	dist__guard_free(guard);
}

Test(guard, the_caller_of_the_c_library_is_named)
{
	char *memory = pages_new();
	struct dist__guard *guard =
		guard_new(memory, PAGES * page, DIST__GUARD_WRITES);
	int line = fill_here(memory, PAGES * page);
	struct dist__access access = dist__guard_access(guard);

	expect_access(guard, DIST__GUARD_WRITES, access.address, "fill_here",
		      line);
	cr_expect_eq(memory[PAGES * page - 1], 9);
	dist__guard_free(guard);
}

Test(guard, what_may_be_read_may_be_read)
{
	char *memory = pages_new(), value;
	struct dist__guard *guard =
		guard_new(memory, PAGES * page, DIST__GUARD_WRITES);

	(void)read_here(memory + page, &value);
	cr_expect_eq(seen(guard), DIST__GUARD_OPEN);
	dist__guard_free(guard);
}

/* Their bytes are on the same pages, and the system must be able to read them
 * for a call. */
Test(guard, neighbours_are_let_alone)
{
	char *memory = pages_new();
	char *begin = memory + page + 100, *end = memory + 4 * page - 100;
	struct dist__guard *guard =
		guard_new(begin, (size_t)(end - begin), DIST__GUARD_ALL);
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	(void)write_here(begin - 1);
	(void)write_here(end);
	cr_expect_eq(write(ends[1], memory + page, 100), 100);
	cr_expect_eq(read(ends[0], end, 100), 100);
	cr_expect_eq(seen(guard), DIST__GUARD_OPEN);
	(void)write_here(memory + 2 * page);
	cr_expect_eq(seen(guard), DIST__GUARD_WRITES);
	dist__guard_free(guard);
}

Test(guard, only_whole_plain_pages_off_the_stack_are_guarded)
{
	char *memory = pages_new(), stack[PAGES * 4096];

	cr_expect_null(
		dist__guard_new(memory + 1, 2 * page - 2, DIST__GUARD_ALL));
	cr_expect_null(dist__guard_new(stack, sizeof stack, DIST__GUARD_ALL));
	cr_assert_eq(mprotect(memory + page, page, PROT_READ), 0);
	cr_expect_null(
		dist__guard_new(memory, PAGES * page, DIST__GUARD_WRITES));
	cr_assert_eq(munmap(memory + page, page), 0);
	cr_expect_null(
		dist__guard_new(memory, PAGES * page, DIST__GUARD_WRITES));
}

Test(guard, guards_may_overlap)
{
	char *memory = pages_new(), value;
	struct dist__guard *first =
		guard_new(memory, 4 * page, DIST__GUARD_WRITES);
	struct dist__guard *second =
		guard_new(memory + 2 * page, 4 * page, DIST__GUARD_ALL);

	(void)read_here(memory, &value);
	dist__guard_free(first);
	(void)write_here(memory + page);
	cr_expect_eq(seen(second), DIST__GUARD_OPEN);
	(void)read_here(memory + 3 * page, &value);
	cr_expect_eq(seen(second), DIST__GUARD_ALL);
	dist__guard_free(second);
}

Test(guard, may_be_lifted_for_a_while)
{
	char *memory = pages_new();
	struct dist__guard *guard =
		guard_new(memory, PAGES * page, DIST__GUARD_ALL);

	dist__guard_lift(memory + page, 1, true);
	(void)write_here(memory + page);
	dist__guard_lift(memory + page, 1, false);
	cr_expect_eq(seen(guard), DIST__GUARD_OPEN);
	(void)write_here(memory + page);
	cr_expect_eq(seen(guard), DIST__GUARD_WRITES);
	dist__guard_free(guard);
}

static int status_of(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(guard, a_forked_child_has_none)
{
	char *memory = pages_new();
	struct dist__guard *guard =
		guard_new(memory, PAGES * page, DIST__GUARD_ALL);
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)write_here(memory);
		_exit(write(ends[1], memory, page) != (ssize_t)page);
	}
	cr_expect_eq(status_of(pid), 0);
	cr_expect_eq(seen(guard), DIST__GUARD_OPEN);
	dist__guard_free(guard);
}

/* ---- watchpoints, where there are any ------------------------------------ */

#define FLOATS 64

static struct dist__points *points_new(const void *memory, size_t bytes,
				       enum dist__guard_level level)
{
	struct dist__points *points =
		dist__points_new(memory, bytes, sizeof(float), level);

	if (!points)
		cr_skip_test("the system lends no debug registers");
	return points;
}

Test(guard, a_write_to_an_end_of_a_stack_buffer_is_named)
{
	_Alignas(64) float x[FLOATS] = {0};
	char *begin = (char *)x, *end = begin + sizeof x;
	struct dist__points *points =
		points_new(x, sizeof x, DIST__GUARD_WRITES);
	char value;
	int line;

	(void)read_here(begin, &value);
	(void)write_here(begin + sizeof *x);
	(void)write_here(end - sizeof *x - 1);
	cr_expect_eq(dist__points_access(points).level, DIST__GUARD_OPEN);
	line = write_here(end - 1);
	expect_seen(dist__points_access(points), DIST__GUARD_WRITES,
		    end - sizeof *x, "write_here", line);
	dist__points_free(points);
}

Test(guard, a_read_of_a_stack_buffer_is_told_from_a_write)
{
	_Alignas(64) float x[FLOATS] = {0};
	struct dist__points *points = points_new(x, sizeof x, DIST__GUARD_ALL);
	char value;
	int line = read_here((char *)x, &value);

	expect_seen(dist__points_access(points), DIST__GUARD_ALL, (char *)x,
		    "read_here", line);
	line = write_here((char *)x);
	expect_seen(dist__points_access(points), DIST__GUARD_WRITES, (char *)x,
		    "write_here", line);
	dist__points_free(points);
}

/* A vector instruction may read more than it needs. */
Test(guard, reads_of_a_line_of_others_too_are_let_be)
{
	_Alignas(64) float x[FLOATS] = {0};
	char *begin = (char *)(x + 1), value;
	struct dist__points *points =
		points_new(begin, sizeof x - sizeof *x, DIST__GUARD_ALL);

	for (size_t i = 0; i < 60; i++)
		(void)read_here(begin + i, &value);
	cr_expect_eq(dist__points_access(points).level, DIST__GUARD_OPEN);
	(void)read_here(begin + 60, &value);
	cr_expect_eq(dist__points_access(points).level, DIST__GUARD_ALL);
	dist__points_free(points);
}

Test(guard, points_may_be_lifted_and_a_forked_child_has_none)
{
	float x[FLOATS] = {0};
	struct dist__points *points =
		points_new(x, sizeof x, DIST__GUARD_WRITES);
	pid_t pid;

	dist__points_lift(x, 1, true);
	(void)write_here((char *)x);
	dist__points_lift(x, 1, false);
	pid = fork();
	if (pid == 0) {
		(void)write_here((char *)x);
		_exit(0);
	}
	cr_expect_eq(status_of(pid), 0);
	cr_expect_eq(dist__points_access(points).level, DIST__GUARD_OPEN);
	(void)write_here((char *)x);
	cr_expect_eq(dist__points_access(points).level, DIST__GUARD_WRITES);
	dist__points_free(points);
}

/* What there are too many of is not watched, and what is given back is lent
 * again. Neighbours in one word are told apart. */
Test(guard, points_are_few)
{
	float x[16] = {0};
	struct dist__points *points[16];
	size_t most = 0;

	for (int round = 0; round < 2; round++) {
		size_t num = 0;

		for (size_t i = 0; i < 16; i++) {
			points[i] = dist__points_new(x + i, sizeof x[i],
						     sizeof x[i],
						     DIST__GUARD_WRITES);
			num += points[i] != NULL;
		}
		(void)write_here((char *)(x + 1));
		cr_expect_eq(dist__points_access(points[0]).level,
			     DIST__GUARD_OPEN);
		cr_expect_eq(dist__points_access(points[1]).level,
			     points[1] ? DIST__GUARD_WRITES : DIST__GUARD_OPEN);
		for (size_t i = 0; i < 16; i++)
			dist__points_free(points[i]);
		cr_expect(round == 0 || num == most);
		most = num;
	}
	cr_expect_lt(most, 16);
}

/* ---- crashes --------------------------------------------------------------
 */

static void crash(void (*how)(char *memory))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char *memory = pages_new();

		signal(SIGSEGV, SIG_DFL);
		(void)mprotect(memory, page, PROT_READ);
		(void)guard_new(memory + page, page, DIST__GUARD_ALL);
		how(memory);
		_exit(0);
	}
	status = status_of(pid);
	cr_expect(WIFSIGNALED(status));
	cr_expect_eq(WTERMSIG(status), SIGSEGV);
}

static void write_protected(char *memory)
{
	(void)write_here(memory);
}

static void write_nothing(char *memory)
{
	(void)munmap(memory, page);
	(void)write_here(memory);
}

static void raise_it(char *memory)
{
	(void)memory;
	(void)raise(SIGSEGV);
}

static void write_guarded_first(char *memory)
{
	(void)write_here(memory + page);
	(void)write_here(memory);
}

Test(guard, a_crash_stays_one)
{
	crash(write_protected);
	crash(write_nothing);
	crash(raise_it);
	crash(write_guarded_first);
}

static sigjmp_buf after;

static void jump(int number)
{
	siglongjmp(after, number);
}

Test(guard, a_handler_that_was_there_is_asked_and_comes_back)
{
	struct sigaction own = {.sa_handler = jump}, now;
	char *memory = pages_new();
	struct dist__guard *guard;

	cr_assert_eq(sigaction(SIGSEGV, &own, NULL), 0);
	guard = guard_new(memory + page, page, DIST__GUARD_ALL);
	cr_assert_eq(mprotect(memory, page, PROT_READ), 0);
	if (sigsetjmp(after, 1) == 0) {
		(void)write_here(memory);
		cr_expect_fail("it was written");
	}
	(void)write_here(memory + page);
	cr_expect_eq(seen(guard), DIST__GUARD_WRITES);
	dist__guard_free(guard);
	cr_assert_eq(sigaction(SIGSEGV, NULL, &now), 0);
	cr_expect_eq(now.sa_handler, jump);
}
