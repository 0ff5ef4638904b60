#include "cli/child.h"

#include <errno.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "lockstep/dist.h"

static bool is_child;

bool child_is_one(void)
{
	return is_child;
}

int child_start(struct child *child, int (*work)(void *arg, int pipe),
		void *arg)
{
	int ends[2], status;

	/* What is still in our buffers must not be written twice. */
	fflush(NULL);
	if (pipe(ends)) {
		fprintf(stderr, "lockstep: no pipe: %s\n", strerror(errno));
		return -1;
	}
	child->id = fork();
	if (child->id == 0) {
		is_child = true;
		close(ends[0]);
		/* Nobody is left to hear of it when the parent is killed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		status = work(arg, ends[1]);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	child->pipe = ends[0];
	if (child->id > 0)
		return 0;
	fprintf(stderr, "lockstep: no process: %s\n", strerror(errno));
	close(ends[0]);
	return -1;
}

int child_finish(struct child *child, void *data, size_t size, size_t *got)
{
	int status;

	*got = dist__read_rest(child->pipe, data, size);
	close(child->pipe);
	while (waitpid(child->id, &status, 0) < 0)
		if (errno != EINTR)
			return DIST_EXIT_INTERNAL;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "lockstep: a child process was ended by signal %d\n",
		WTERMSIG(status));
	return DIST_EXIT_INTERNAL;
}

int child_result(struct child *child, void *data, size_t size)
{
	size_t got;
	int status = child_finish(child, data, size, &got);

	if (status != DIST_EXIT_OK || got == size)
		return status;
	fprintf(stderr, "lockstep: a child process ended without an answer\n");
	return DIST_EXIT_INTERNAL;
}
