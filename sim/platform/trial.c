/*
 * trial.c - loads a platform in a child process first.
 *
 * SimGrid 3.32 answers some faults of a platform file by an exception, others
 * by abort(), by exit() or by a crash. The child takes the blow. It answers
 * through one pipe, which is also its standard error: a last line that begins
 * with ANSWER, or, when SimGrid ended it, SimGrid's own words.
 */
#include "sim/platform/state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/printable.h"
#include "sim/engine/shim.h"

#define ANSWER "\001"
#define LINE   "\002" /* then the line being read, from the abort */
#define GOOD   'y'
#define BAD    'n'

/* Where SimGrid is in the file; only a child sets and reads it. */
static const int *line_at;

/* SimGrid aborts: says at which line. Standard error is the pipe. */
static void on_abort(int number)
{
	char text[16];
	size_t at = sizeof text;
	int line = *line_at;

	do
		text[--at] = (char)('0' + line % 10);
	while ((line /= 10) > 0 && at > 1);
	text[--at] = LINE[0];
	if (write(STDERR_FILENO, text + at, sizeof text - at) < 0)
		_exit(1);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void __attribute__((noreturn))
run_child(const char *path, int ranks,
	  const struct dist__link_overrides *overrides, int fd)
{
	struct rlimit no_core = {0, 0};
	struct dist__platform *platform = NULL;
	struct dist__trial found;
	struct dist_message message = {""};
	char text[sizeof message.text + 16];
	enum dist_error error;
	int len;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	line_at = dist__engine_line();
	(void)signal(SIGABRT, on_abort);
	(void)dup2(fd, STDERR_FILENO);
	(void)dup2(fd, STDOUT_FILENO);
	error = dist__platform_load(path, NULL, ranks, overrides, &platform,
				    &message);
	if (error) {
		len = snprintf(text, sizeof text, ANSWER "%c%s", BAD,
			       message.text);
	} else {
		dist__platform_summarize(platform, &found);
		len = snprintf(text, sizeof text, ANSWER "%c%d %d %s", GOOD,
			       found.hosts, found.ranks, found.gpu);
	}
	(void)dist__write_all(fd, text, (size_t)len, -1);
	_exit(0);
}

/* Makes one line of the text with which SimGrid left: those after the first
 * "CRITICAL] " if there are, or how the child ended. */
static void explain(const char *path, const char *text, int status,
		    struct dist_message *message)
{
	const char *mark = strstr(text, "CRITICAL] ");
	const char *start = mark ? mark + strlen("CRITICAL] ") : text;
	const char *line = strstr(text, LINE);
	int len = (int)strcspn(start, "\n\r" LINE);

	if (mark && len > 0)
		snprintf(message->text, sizeof message->text, "%s:%d: %.*s",
			 path, line ? atoi(line + 1) : 1, len, start);
	else if (WIFSIGNALED(status))
		snprintf(message->text, sizeof message->text,
			 "%s: not a usable platform: SimGrid crashes on it "
			 "(signal %d)%s",
			 path, WTERMSIG(status), dist__engine_crash());
	else
		snprintf(message->text, sizeof message->text,
			 "%s: not a usable platform: SimGrid gives up on it "
			 "(%.*s)",
			 path, len, start);
	/* SimGrid's text quotes the file. */
	dist__printable(message->text);
}

static enum dist_error judge(const char *path, const char *text, int status,
			     struct dist__trial *found,
			     struct dist_message *message)
{
	const char *mark = strstr(text, ANSWER);

	found->gpu[0] = '\0';
	if (mark && mark[1] == GOOD &&
	    sscanf(mark + 2, "%d %d %63[^\n]", &found->hosts, &found->ranks,
		   found->gpu) >= 2)
		return DIST_OK;
	if (mark && mark[1] == BAD)
		snprintf(message->text, sizeof message->text, "%s", mark + 2);
	else
		explain(path, text, status, message);
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist__platform_try(const char *path, int ranks,
				   const struct dist__link_overrides *overrides,
				   struct dist__trial *found,
				   struct dist_message *message)
{
	char text[4096];
	int ends[2], status = 0;
	pid_t child;

	if (pipe(ends))
		goto no_child;
	child = fork();
	if (child < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		goto no_child;
	}
	if (child == 0) {
		(void)close(ends[0]);
		run_child(path, ranks, overrides, ends[1]);
	}
	(void)close(ends[1]);
	text[dist__read_rest(ends[0], text, sizeof text - 1)] = '\0';
	(void)close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return judge(path, text, status, found, message);
no_child:
	snprintf(message->text, sizeof message->text,
		 "cannot start a process to read %.256s: %s", path,
		 strerror(errno));
	return DIST_ERR_IO;
}
