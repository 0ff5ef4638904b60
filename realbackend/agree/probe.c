/* probe.c - looks for a library in a child process. */
#include "realbackend/agree/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

void dist__probe_apart(void (*probe)(void *answer), void *answer, size_t bytes)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		return;
	child = fork();
	if (child == 0) {
		probe(answer);
		_exit(write(ends[1], answer, bytes) != (ssize_t)bytes);
	}
	close(ends[1]);
	if (child > 0) {
		/* Reads the answer of a child that probes; a child that said
		 * nothing died. */
		void *heard = malloc(bytes);
		size_t n =
			heard ? dist__read_all(ends[0], heard, bytes, -1) : 0;

		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		if (heard && n == bytes)
			memcpy(answer, heard, bytes);
		free(heard);
	}
	close(ends[0]);
}
