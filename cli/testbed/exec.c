/* exec.c - commands in the namespaces of a test bed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/testbed/process.h"

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- quiet commands ------------------------------------------------------ */

static void first_line(int from, struct dist_message *message)
{
	size_t used = 0;
	ssize_t got;
	char rest[256];

	while (used + 1 < sizeof message->text &&
	       (got = read(from, message->text + used,
			   sizeof message->text - used - 1)) > 0)
		used += (size_t)got;
	while (read(from, rest, sizeof rest) > 0)
		;
	message->text[used] = '\0';
	message->text[strcspn(message->text, "\n")] = '\0';
}

enum dist_error testbed_command(const char *const *text,
				struct dist_message *message)
{
	struct dist_message said = {""};
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) != 0)
		return DIST_ERR_IO;
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execvp(text[0], (char *const *)text);
		_exit(127);
	}
	close(ends[1]);
	first_line(ends[0], &said);
	close(ends[0]);
	status = pid < 0 ? 127 : wait_for(pid);
	if (status == 0)
		return DIST_OK;
	if (status == 127)
		snprintf(message->text, sizeof message->text,
			 "cannot run %.60s: iproute2 is needed", text[0]);
	else
		snprintf(message->text, sizeof message->text, "%.60s: %.150s",
			 text[0], said.text);
	return DIST_ERR_IO;
}

/* ---- a user's command on hosts ------------------------------------------- */

/* Writes what the placeholder at text stands for; returns its length there, 0
 * when it is none. */
static size_t expand(const struct testbed *testbed, int host, const char *text,
		     char *value)
{
	static const char *const names[] = {"{host}", "{hosts}", "{address}",
					    "{address0}"};
	int which = 0;

	while (which < 4 &&
	       strncmp(text, names[which], strlen(names[which])) != 0)
		which++;
	switch (which) {
	case 0:
		snprintf(value, 16, "%d", host);
		break;
	case 1:
		snprintf(value, 16, "%d", testbed->hosts);
		break;
	case 2:
		testbed_address(host, value);
		break;
	case 3:
		testbed_address(0, value);
		break;
	default:
		return 0;
	}
	return strlen(names[which]);
}

/* Returns word with its placeholders filled in; NULL: no memory. */
static char *fill_in(const struct testbed *testbed, int host, const char *word)
{
	char *filled = malloc(16 * strlen(word) + 1), *to = filled;

	while (filled && *word) {
		char value[16];
		size_t length = expand(testbed, host, word, value);

		if (length > 0)
			to += sprintf(to, "%s", value);
		else
			*to++ = *word;
		word += length > 0 ? length : 1;
	}
	if (filled)
		*to = '\0';
	return filled;
}

/* In the child: becomes the command, in the host's namespace. */
__attribute__((noreturn)) static void become(const struct testbed *testbed,
					     int host, const char *const *text)
{
	char space[TESTBED_NAME], number[16];
	size_t n = 0, num = 0;
	const char **all;

	while (text[num])
		num++;
	all = calloc(num + 5, sizeof(const char *));
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(number, sizeof number, "%d", host);
	testbed_namespace(testbed, host, space);
	if (!all || setenv("LOCKSTEP_TESTBED_HOST", number, 1) != 0)
		_exit(DIST_EXIT_INTERNAL);
	all[n++] = "ip";
	all[n++] = "netns";
	all[n++] = "exec";
	all[n++] = space;
	for (size_t i = 0; i < num; i++) {
		all[n] = fill_in(testbed, host, text[i]);
		if (!all[n++])
			_exit(DIST_EXIT_INTERNAL);
	}
	execvp(all[0], (char *const *)all);
	_exit(127);
}

enum dist_error testbed_exec(const struct testbed *testbed, int host,
			     const char *const *text, int *status,
			     struct dist_message *message)
{
	int first = host < 0 ? 0 : host;
	int last = host < 0 ? testbed->hosts - 1 : host;
	pid_t pids[TESTBED_HOSTS];
	int started = first;

	*status = 0;
	for (; started <= last; started++) {
		pids[started] = fork();
		if (pids[started] == 0)
			become(testbed, started, text);
		if (pids[started] < 0)
			break;
	}
	for (int i = first; i < started; i++) {
		int ended = wait_for(pids[i]);

		if (*status == 0)
			*status = ended;
	}
	if (started > last)
		return DIST_OK;
	snprintf(message->text, sizeof message->text, "cannot fork: %s",
		 strerror(errno));
	return DIST_ERR_IO;
}
