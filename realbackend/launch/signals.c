#define _GNU_SOURCE /* pipe2 */
#include "realbackend/launch/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

/* A handler has no argument of ours; -1: nothing is caught. */
static volatile sig_atomic_t pipe_end = -1;

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int error = errno;
	ssize_t n;

	/* A full pipe holds news enough: they are looked at as a whole. */
	n = write((int)pipe_end, &byte, 1);
	(void)n;
	errno = error;
}

/* Whether a signal that is handled like this may be caught. */
static bool is_free(int number, const struct sigaction *now)
{
	if (number == SIGCHLD)
		return true;
	return number == SIGUSR1 ? now->sa_handler == SIG_DFL
				 : now->sa_handler != SIG_IGN;
}

bool dist__signals_catch(struct dist__signals *signals, const int *numbers,
			 int count)
{
	struct sigaction action;
	int ends[2];

	if (pipe_end >= 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	signals->fd = ends[0];
	signals->write_fd = ends[1];
	signals->count = count;
	pipe_end = ends[1];
	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigfillset(&action.sa_mask);
	for (int i = 0; i < count; i++) {
		signals->numbers[i] = numbers[i];
		sigaction(numbers[i], NULL, &signals->before[i]);
		if (is_free(numbers[i], &signals->before[i]))
			sigaction(numbers[i], &action, NULL);
	}
	return true;
}

void dist__signals_restore(struct dist__signals *signals)
{
	struct sigaction now;

	for (int i = 0; i < signals->count; i++) {
		sigaction(signals->numbers[i], NULL, &now);
		if (now.sa_handler == on_signal)
			sigaction(signals->numbers[i], &signals->before[i],
				  NULL);
	}
	pipe_end = -1;
	close(signals->fd);
	close(signals->write_fd);
}

int dist__signals_next(const struct dist__signals *signals)
{
	unsigned char byte;

	return dist__read_all(signals->fd, &byte, 1, -1) == 1 ? byte : 0;
}
