/* warm.c - a python3 that has torch imported already: a process that
 * tests/torch/warm.py, which has, forks to run the same words with the same
 * files and environment. This one stands for it: it has its group, its end and
 * the launcher's signal. What that cannot run starts as usual.
 *
 * $WARM_SOCKET is where warm.py listens, $WARM_PYTHON the interpreter that runs
 * it, $WARM_PATH what PYTHONPATH begins with in a process of its kind.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/launch/python_notes.h"

extern char **environ;

enum { MOST_FILES = 250 };

static volatile pid_t forked;

static void pass_on(int number)
{
	if (forked)
		(void)kill(forked, number);
}

/* Whether warm.py knows all words before the program's own. */
static bool is_known(char **argv)
{
	const char *path = getenv("PYTHONPATH"), *wanted = getenv("WARM_PATH");

	if (!path || !wanted || strncmp(path, wanted, strlen(wanted)) != 0)
		return false;
	while (*++argv &&
	       (strcmp(*argv, "-u") == 0 || strcmp(*argv, "-B") == 0))
		;
	return *argv && (**argv != '-' || strcmp(*argv, "-m") == 0 ||
			 strcmp(*argv, "-c") == 0 || strcmp(*argv, "-") == 0);
}

static int open_socket(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof at.sun_path, "%s", getenv("WARM_SOCKET"));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
		return -1;
	return fd;
}

/* The open files that a program would have. */
static int find_files(int own, int *fds)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	int n = 0;

	while (folder && (entry = readdir(folder)) && n < MOST_FILES) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != own && fd != dirfd(folder))
			fds[n++] = fd;
	}
	if (folder)
		closedir(folder);
	return n;
}

static void write_all(FILE *out, char **words)
{
	for (; *words; words++)
		fwrite(*words, 1, strlen(*words) + 1, out);
}

/* Numbers, the folder, the words, the environment: strings that end in 0. */
static char *describe(int argc, char **argv, int n, const int *fds,
		      size_t *size)
{
	char *text = NULL, *folder = get_current_dir_name();
	struct sigaction interrupt;
	mode_t mask = umask(0);
	FILE *out = open_memstream(&text, size);

	if (!out || !folder || sigaction(SIGINT, NULL, &interrupt) != 0)
		exit(EXIT_FAILURE);
	fprintf(out, "%d %d %d %d %d", (int)getpid(), (int)getpgrp(), (int)mask,
		interrupt.sa_handler == SIG_IGN, argc);
	for (int i = 0; i < n; i++)
		fprintf(out, " %d", fds[i]);
	fprintf(out, "%c%s%c", 0, folder, 0);
	write_all(out, argv);
	write_all(out, environ);
	fclose(out);
	free(folder);
	umask(mask);
	return text;
}

static bool send_all(int fd, const char *text, size_t size, int n,
		     const int *fds)
{
	union {
		char space[CMSG_SPACE(MOST_FILES * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	uint32_t length = (uint32_t)size;
	struct iovec head = {&length, sizeof length};
	struct msghdr message = {.msg_iov = &head,
				 .msg_iovlen = 1,
				 .msg_control = control.space,
				 .msg_controllen =
					 CMSG_SPACE((size_t)n * sizeof(int))};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	ssize_t sent;

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(rights), fds, (size_t)n * sizeof(int));
	if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)sizeof length)
		return false;
	for (; size > 0; text += sent, size -= (size_t)sent) {
		sent = send(fd, text, size, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
	}
	return true;
}

static bool take(int fd, int32_t *number)
{
	ssize_t n;

	while ((n = recv(fd, number, sizeof *number, MSG_WAITALL)) < 0 &&
	       errno == EINTR)
		;
	return n == (ssize_t)sizeof *number;
}

/* Ends as that process did. */
static _Noreturn void end_as(int status)
{
	const struct rlimit none = {0};

	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)raise(WTERMSIG(status));
	_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct sigaction forward = {.sa_handler = pass_on};
	int fds[MOST_FILES], fd = is_known(argv) ? open_socket() : -1, n;
	int32_t pid, status;
	char *text;
	size_t size;

	if (fd >= 0) {
		n = find_files(fd, fds);
		text = describe(argc, argv, n, fds, &size);
		if (send_all(fd, text, size, n, fds) && take(fd, &pid)) {
			forked = pid;
			(void)sigaction(DIST__NOTES_SIGNAL, &forward, NULL);
			/* The group's are that process', too. */
			for (int number = 1; number < SIGRTMIN; number++)
				if (number != SIGCHLD && number != SIGTSTP &&
				    number != SIGTTIN && number != SIGTTOU)
					(void)signal(number, SIG_IGN);
			for (int i = 0; i < n; i++)
				close(fds[i]);
			if (take(fd, &status))
				end_as(status);
			_exit(EXIT_FAILURE);
		}
	}
	argv[0] = getenv("WARM_PYTHON"); /* it looks for its folder there */
	execv(argv[0], argv);
	perror("warm");
	return 127;
}
