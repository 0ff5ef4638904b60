/*
 * isolate_fork.c - makes a forked copy of the process one of which nobody sees
 * or hears anything.
 */
#include "sim/isolate_fork.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Files that a rank program may have open. */
#define MOST_FILES 1024

/* Sends to nowhere what is written to files and pipes that are open. */
static bool hush(int but)
{
	int null = open("/dev/null", O_WRONLY);

	for (int fd = 0; null >= 0 && fd < MOST_FILES; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (fd != but && flags >= 0 &&
		    (flags & O_ACCMODE) != O_RDONLY && dup2(null, fd) < 0)
			return false;
	}
	return null >= 0;
}

/* Puts memory of our own, of the same content, where there was shared one. */
static bool part(void *memory, size_t size, int zero)
{
	void *content = malloc(size);
	void *own = MAP_FAILED;

	if (!content)
		return false;
	memcpy(content, memory, size);
	own = mmap(memory, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_FIXED, zero, 0);
	if (own != MAP_FAILED)
		memcpy(memory, content, size);
	free(content);
	return own != MAP_FAILED;
}

/* Parts from all memory that other processes may see. */
static bool part_all(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int zero = open("/dev/zero", O_RDWR);
	bool good = maps && zero >= 0;
	void *from, *to;
	char line[4352], mode[5];

	while (good && fgets(line, sizeof line, maps))
		if (sscanf(line, "%p-%p %4s", &from, &to, mode) == 3 &&
		    mode[1] == 'w' && mode[3] == 's')
			good = part(from, (size_t)((char *)to - (char *)from),
				    zero);
	if (maps)
		fclose(maps);
	close(zero);
	return good;
}

bool dist__sim_isolate_fork(int but)
{
	return part_all() && hush(but);
}
