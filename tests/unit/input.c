/* What a user gives as input: files, pipes, and neither. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "coll/profile.h"
#include "base/tsv_table.h"
#include "tests/support/okay.h"

static char folder[] = "/tmp/lockstep-input-XXXXXX";
static char path[64];

static void make_path(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/input", folder);
}

static void remove_path(void)
{
	unlink(path);
	rmdir(folder);
}

TestSuite(input, .init = make_path, .fini = remove_path);

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

/* A process that opens the pipe after delay_ms and, as
 * much later, says text. */
static pid_t start_writer(long delay_ms, const char *text)
{
	const struct timespec delay = {.tv_nsec = delay_ms * 1000000};
	pid_t pid = fork();
	int fd;

	if (pid != 0)
		return pid;
	nanosleep(&delay, NULL);
	fd = open(path, O_WRONLY);
	nanosleep(&delay, NULL);
	_exit(write(fd, text, strlen(text)) < 0);
}

static void expect_read(const char *text)
{
	size_t len;
	char *got;

	cr_assert_eq(dist__input_read(path, &got, &len), DIST_OK, "%s",
		     strerror(errno));
	cr_expect_str_eq(got, text);
	cr_expect_eq(len, strlen(text));
	free(got);
}

Test(input, a_file_and_an_empty_one)
{
	write_file("abc\n");
	expect_read("abc\n");
	write_file("");
	expect_read("");
}

Test(input, a_pipe_that_somebody_writes_to)
{
	pid_t writer;

	cr_assert_eq(mkfifo(path, 0600), 0);
	writer = start_writer(200, "late");
	expect_read("late");
	waitpid(writer, NULL, 0);
}

Test(input, a_pipe_that_nobody_writes_to_is_refused)
{
	size_t len;
	char *text;

	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(dist__input_read(path, &text, &len), DIST_ERR_IO);
	cr_expect_eq(errno, ENODATA);
	cr_expect_null(dist__input_open(path));
}

/* As <(...) of a shell makes it: its writer has gone, its text is there. */
Test(input, a_pipe_by_its_descriptor)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "abc", 3), 3);
	close(ends[1]);
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	expect_read("abc");
}

Test(input, odd_bytes_are_found)
{
	cr_expect_eq(dist__input_odd("a\tb\r\n\xc3\xa9", 7), 7);
	cr_expect_eq(dist__input_odd("ab\xff", 3), 2);
	cr_expect_eq(dist__input_odd("a\0b", 3), 1);
	cr_expect_eq(dist__input_odd("\xc3", 1), 0);
	cr_expect_eq(dist__input_odd("\033[2J", 4), 0);
	cr_expect_eq(dist__input_odd("\xed\xa0\x80", 3), 0);
}

Test(input, a_byte_that_is_no_text_is_refused_with_its_line)
{
	struct dist_message message;
	struct tsv_table tsv;

	write_file("# title: t\n# source: s\na\tb\n1\t\xff\n");
	refused_with(dist__tsv_load(&tsv, path, &message), message,
		     "input:4: expected text in UTF-8");
}

/* libyaml alone took more than 10 s for it. */
Test(input, yaml_that_is_nested_deep_is_refused_at_once)
{
	enum { DEPTH = 100000 };
	char *text = malloc(DEPTH + 1);
	struct dist__profile profile;
	struct dist_message message;
	clock_t begun = clock();

	cr_assert_not_null(text);
	memset(text, '[', DEPTH);
	text[DEPTH] = '\0';
	write_file(text);
	free(text);
	dist__profile_init(&profile);
	refused_with(dist__profile_load(&profile, path, &message), message,
		     "input:1: expected at most 32 lists");
	cr_expect_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 5.0);
	dist__profile_release(&profile);
}
