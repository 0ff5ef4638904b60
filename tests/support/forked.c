#include "tests/support/forked.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void collect(int from, struct forked *forked)
{
	size_t len = 0;
	char rest[512];
	ssize_t got;

	do {
		bool full = len == sizeof forked->text - 1;

		got = full ? read(from, rest, sizeof rest)
			   : read(from, forked->text + len,
				  sizeof forked->text - 1 - len);
		if (got > 0 && !full)
			len += (size_t)got;
	} while (got > 0);
	forked->text[len] = '\0';
}

void fork_run(int (*launch)(const void *job), const void *job,
	      struct forked *forked)
{
	const struct rlimit limit = {60, 60};
	int ends[2], status = 0;
	pid_t child;

	*forked = (struct forked){.status = -1};
	if (pipe(ends))
		return;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CPU, &limit);
		close(ends[0]);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[1]);
		status = launch(job);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	if (child > 0) {
		collect(ends[0], forked);
		waitpid(child, &status, 0);
		forked->status = WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status);
	}
	close(ends[0]);
}
