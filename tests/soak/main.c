/*
 * soak - RUNS cases (default 60), WORLDS of them at a time (default 4), from
 * seed SEED on (default: another one every time); case i has the seed SEED + i,
 * by which it runs alone again. Exit status: 0 when every result was right or a
 * clean error, 1 when not, 2 for bad input.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/soak/soak.h"

/* Reads a variable, from 1 to most; leaves *number when it is not set. */
static bool read_number(const char *name, long most, long *number)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return true;
	errno = 0;
	*number = strtol(text, &end, 10);
	if (!errno && !*end && *number >= 1 && *number <= most)
		return true;
	fprintf(stderr, "%s is \"%s\": expected an integer from 1 to %ld\n",
		name, text, most);
	return false;
}

/* The files of ranks in the folder of shared memory (memory_file.c), which are
 * to have no name once they are made. */
static int count_shared(void)
{
	DIR *folder = opendir("/dev/shm");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += fnmatch("lockstep-??????", entry->d_name, 0) == 0;
	if (folder)
		closedir(folder);
	return count;
}

static int run_share(long seed, long runs, long worlds, long share,
		     struct soak_counts *counts)
{
	/* What a rank leaves behind comes here. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) != 0)
		return 1;
	for (long i = share; i < runs; i += worlds) {
		struct soak_case c = soak_draw((uint64_t)(seed + i));

		soak_run(&c, counts);
	}
	return 0;
}

static int run_all(long seed, long runs, long worlds,
		   struct soak_counts *counts)
{
	int wrong = 0, status;

	fflush(NULL);
	for (long share = 0; share < worlds; share++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(run_share(seed, runs, worlds, share, counts));
		wrong += pid < 0;
	}
	while (wait(&status) > 0)
		wrong += status != 0;
	return wrong;
}

static void print_counts(struct soak_counts *counts)
{
	printf("soak: %ld worlds, %ld wrong; all-reduces of a rank: %ld right",
	       atomic_load(&counts->cases), atomic_load(&counts->failed),
	       atomic_load(&counts->ends[0]));
	for (int error = 1; error <= -DIST_ERR_HAZARD; error++)
		if (atomic_load(&counts->ends[error]))
			printf(", %ld %s", atomic_load(&counts->ends[error]),
			       dist_error_string((enum dist_error) - error));
	for (int error = 1; error <= -DIST_ERR_HAZARD; error++)
		if (atomic_load(&counts->apart[error]))
			printf("; %ld ranks: %s",
			       atomic_load(&counts->apart[error]),
			       dist_error_string((enum dist_error) - error));
	printf("\n");
}

int main(void)
{
	long seed = (long)time(NULL), runs = 60, worlds = 4;
	int named = count_shared(), left, wrong;
	struct soak_counts *counts;

	if (!read_number("SEED", LONG_MAX / 2, &seed) ||
	    !read_number("RUNS", 1000000000, &runs) ||
	    !read_number("WORLDS", 64, &worlds))
		return 2;
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED) {
		perror("soak");
		return 1;
	}
	printf("soak: SEED=%ld RUNS=%ld WORLDS=%ld\n", seed, runs, worlds);
	wrong = run_all(seed, runs, worlds, counts);
	print_counts(counts);
	/* Those that other programs are making have a name for a moment. */
	left = count_shared() - named;
	for (int i = 0; left > 0 && i < 100; i++) {
		poll(NULL, 0, 50);
		left = count_shared() - named;
	}
	if (left > 0)
		printf("soak: %d files left in /dev/shm\n", left);
	return wrong || left > 0 || atomic_load(&counts->failed) ||
	       atomic_load(&counts->cases) != runs;
}
