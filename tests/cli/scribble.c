/* A rank program whose rank 1 writes over its records, which the launcher
 * reads, after a few calls; and then, as its argument says, waits with the
 * others ("wait"), sleeps for ever ("sleep"), ends well ("end"), dies ("die"),
 * or has cut all records off their file before ("cut"). Ranks other than 1
 * meet twice more; "apart": not all in the same collective. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockstep/dist.h"

/* Where this process has mapped the file that fd holds; NULL: nowhere. */
static unsigned char *find_mapping(int fd, size_t *len)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, inode;
	unsigned char *found = NULL;
	struct stat status;
	char line[4096];

	if (!maps || fstat(fd, &status) != 0)
		return NULL;
	while (!found && fgets(line, sizeof line, maps)) {
		char *rest = NULL;

		from = strtoul(line, &rest, 16);
		to = strtoul(rest + 1, &rest, 16);
		if (sscanf(rest, " %*s %*s %*s %lu", &inode) == 1 &&
		    inode == (unsigned long)status.st_ino) {
			/* As the system prints it.
			 * NOLINTNEXTLINE(performance-no-int-to-ptr) */
			found = (unsigned char *)from;
			*len = to - from;
		}
	}
	fclose(maps);
	return found;
}

static int scribble(const char *how)
{
	const char *text = getenv("LOCKSTEP_BOARD_FD");
	int fd = text ? atoi(text) : -1;
	size_t len = 0;
	unsigned char *records = find_mapping(fd, &len);

	if (strcmp(how, "cut") == 0)
		return ftruncate(fd, 100);
	if (!records)
		return 1;
	/* Not the first fields: this rank goes on with its own calls. */
	memset(records + 2048, 0xd5, len - 2048);
	return 0;
}

static int rank_main(void *arg)
{
	const char *how = arg;
	struct dist_group *group;
	float value = 1;
	int rank, status = 0;

	if (dist_init_process_group(NULL, &group) || dist_barrier(group, NULL))
		return 1;
	rank = dist_get_rank(group);
	if (rank == 1 && scribble(how))
		return 3;
	if (rank == 1 && strcmp(how, "end") == 0)
		_exit(0);
	if (rank == 1 && strcmp(how, "die") == 0)
		abort();
	if (rank == 1 && strcmp(how, "wait") != 0)
		for (;;)
			pause();
	if (rank == 2 && strcmp(how, "apart") == 0)
		return dist_all_reduce(group,
				       dist_tensor(&value, 1, DIST_FLOAT32),
				       DIST_SUM, NULL) != DIST_OK;
	status |= dist_barrier(group, NULL) != DIST_OK;
	status |= dist_barrier(group, NULL) != DIST_OK;
	return dist_destroy_process_group(group) != DIST_OK || status;
}

int main(int argc, char **argv)
{
	return argc == 2 ? dist_launch(NULL, rank_main, argv[1]) : 2;
}
