/* What a terminal shows while something long is under way. */
#include "base/progress.h"

#include <pty.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

static void rest(unsigned ms)
{
	struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

static void work(unsigned first_ms, unsigned second_ms)
{
	struct dist__progress progress;

	dist__progress_begin(&progress, "kneading", 4, 0);
	rest(first_ms);
	dist__progress_step(&progress, 3, "baking");
	rest(second_ms);
	dist__progress_end(&progress);
	_exit(0);
}

/* Stores what a terminal is sent while a child works so long. */
static void watch(unsigned first_ms, unsigned second_ms, char *seen,
		  size_t size)
{
	size_t used = 0;
	int terminal;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);
	ssize_t n;

	cr_assert_geq(child, 0);
	if (child == 0)
		work(first_ms, second_ms);
	while ((n = read(terminal, seen + used, size - 1 - used)) > 0)
		used += (size_t)n;
	seen[used] = '\0';
	waitpid(child, NULL, 0);
	close(terminal);
}

Test(progress, begins_after_two_seconds_and_is_cleared)
{
	char seen[4096];

	watch(100, 2300, seen, sizeof seen);
	cr_expect_neq(strstr(seen, "\r[##################......] baking, 2 s, "
				   "about 1 s left\033[K\r"),
		      NULL, "%s", seen);
	cr_expect_null(strstr(seen, "kneading"));
	cr_assert_geq(strlen(seen), 4);
	cr_expect_str_eq(seen + strlen(seen) - 4, "\r\033[K");
}

Test(progress, is_silent_about_what_is_short)
{
	char seen[4096];

	watch(50, 50, seen, sizeof seen);
	cr_expect_str_eq(seen, "");
}
