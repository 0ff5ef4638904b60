/* python_notes.c - a file without a name that the launcher shares with each
 * Python rank: python/sitecustomize.py makes the interpreter write its stacks
 * there at a signal, and the exception that ends it. */
#include "realbackend/launch/python_notes.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "realbackend/launch/child.h"
#include "realbackend/wire/memory_file.h"
#include "realbackend/wire/socket.h"

/* Programs have uses for SIGUSR2; hardly any for the last but one. */
#define SIGNAL (SIGRTMAX - 1)
/* What the stacks of all ranks may take to be written on a busy machine (only a
 * rank that does not answer costs as much), and how long nothing
 * more comes when they are. */
#define WRITING_NS ((int64_t)5000000000)
#define QUIET_MS   20
/* What is read of one rank, with the final 0. */
#define MOST (64 * 1024)

int dist__notes_new(void)
{
	int fd = dist__memory_file_new(1);

	/* Empty: the file grows as it is written. */
	if (fd >= 0 && ftruncate(fd, 0) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool dist__notes_pass(int fd)
{
	char text[64];

	snprintf(text, sizeof text, "%d:%ld:%d", fd, (long)getpid(), SIGNAL);
	return dist__socket_cloexec(fd, false) &&
	       setenv("LOCKSTEP_NOTES", text, 1) == 0;
}

void dist__notes_print(FILE *out, int fd, const char *before,
		       const char *between)
{
	char *text = calloc(1, MOST), *rest = text, *line;
	ssize_t len = text ? pread(fd, text, MOST - 1, 0) : 0;

	for (int i = 0; len > 0 && (line = strtok_r(rest, "\n", &rest)); i++) {
		dist__printable(line);
		fprintf(out, "%s%s\n", i ? between : before, line);
	}
	free(text);
}

bool dist__notes_any(int fd)
{
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0;
}

void dist__notes_append(int fd, char *text, size_t size)
{
	char line[256];
	ssize_t len = fd >= 0 ? pread(fd, line, sizeof line - 1, 0) : 0;
	size_t used = strlen(text), room;

	if (len <= 0 || used + sizeof ": ..." > size)
		return;
	room = size - used - sizeof ": ";
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	dist__printable(line);
	for (const char *c = line; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return;
	if (strlen(line) > room)
		memcpy(line + room - 3, "...", 4);
	snprintf(text + used, size - used, ": %s", line);
}

/* Whether the process handles the signal: else it would die of it. */
static bool is_caught(pid_t pid)
{
	char path[64], line[256];
	unsigned long long caught = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "SigCgt:", 7) == 0)
			caught = strtoull(line + 7, NULL, 16);
	if (status)
		fclose(status);
	return caught >> (SIGNAL - 1) & 1;
}

static bool ask(const struct dist__child *child)
{
	return child->notes_fd >= 0 && child->pid && !child->ended &&
	       is_caught(child->pid) &&
	       lseek(child->notes_fd, 0, SEEK_SET) == 0 &&
	       ftruncate(child->notes_fd, 0) == 0 &&
	       kill(child->pid, SIGNAL) == 0;
}

static off_t size_of(const struct dist__child *children, int num_children,
		     int *missing)
{
	off_t size = 0;
	struct stat info;

	*missing = 0;
	for (int i = 0; i < num_children; i++) {
		if (children[i].notes_fd < 0 ||
		    fstat(children[i].notes_fd, &info) != 0)
			continue;
		size += info.st_size;
		*missing += info.st_size == 0;
	}
	return size;
}

void dist__notes_print_stacks(FILE *out, const struct dist__child *children,
			      int num_children)
{
	int64_t until_ns = dist__clock_after(WRITING_NS);
	int asked = 0, missing = 0;
	off_t before, size = 0;

	for (int i = 0; i < num_children; i++)
		asked += ask(&children[i]);
	if (!asked)
		return;
	do {
		before = size;
		poll(NULL, 0, QUIET_MS);
		size = size_of(children, num_children, &missing);
	} while ((size != before || missing > num_children - asked) &&
		 dist__clock_ns() < until_ns);
	for (int i = 0; i < num_children; i++) {
		if (!dist__notes_any(children[i].notes_fd))
			continue;
		fprintf(out, "Python stacks of rank %d (process %ld)\n",
			children[i].rank, (long)children[i].pid);
		dist__notes_print(out, children[i].notes_fd, "  ", "  ");
		/* What is left at the end is why it ended. */
		(void)!ftruncate(children[i].notes_fd, 0);
	}
}
