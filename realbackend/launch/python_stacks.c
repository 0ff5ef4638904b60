/* python_stacks.c - asks Python ranks for their stacks, by a signal, and waits
 * until they have written them (python_notes.h). */
#include "realbackend/launch/python_stacks.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/launch/child.h"
#include "realbackend/launch/python_notes.h"

/* What the stacks of all ranks may take to be written on a busy machine (only a
 * rank that does not answer costs as much), and how long nothing
 * more comes when they are. */
#define WRITING_NS ((int64_t)5000000000)
#define QUIET_MS   20

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
	return caught >> (DIST__NOTES_SIGNAL - 1) & 1;
}

static bool ask(const struct dist__child *child)
{
	return child->notes_fd >= 0 && child->pid && !child->ended &&
	       is_caught(child->pid) &&
	       lseek(child->notes_fd, 0, SEEK_SET) == 0 &&
	       ftruncate(child->notes_fd, 0) == 0 &&
	       kill(child->pid, DIST__NOTES_SIGNAL) == 0;
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

void dist__stacks_print(FILE *out, const struct dist__child *children,
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
