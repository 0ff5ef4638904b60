/* python_notes.c - a file without a name that the launcher shares with each
 * Python rank: python/sitecustomize.py makes the interpreter write its stacks
 * there at a signal, and the exception that ends it. */
#include "realbackend/launch/python_notes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "realbackend/wire/memory_file.h"
#include "realbackend/wire/socket.h"

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

	snprintf(text, sizeof text, "%d:%ld:%d", fd, (long)getpid(),
		 DIST__NOTES_SIGNAL);
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
	for (char *c = line; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?'; /* it may be cut in the middle */
	if (strlen(line) > room)
		memcpy(line + room - 3, "...", 4);
	snprintf(text + used, size - used, ": %s", line);
}
