/*
 * copy.c - a copy of the process that tries what the run would come to by
 * another rule.
 *
 * The copy is made at the instant in question, and sleeps until it is asked: a
 * run that needs no answer is not run twice. Then it goes on with the
 * simulation and tells through a pipe what it learns. Nothing else of it is
 * seen or heard but what the ranks write into files that they open. Where a
 * simulation cannot be copied, nothing is told.
 */
#include "sim/copy.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "sim/platform/platform.h"
#include "sim/watch.h"

/* ---- nobody sees or hears of a copy -------------------------------------- */

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

/* After that the copy is told no more. */
#define LIMIT_S 10

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

/* ---- the copy --------------------------------------------------------- */

/* Makes this process the copy, once somebody asks. */
static void begin(struct dist__sim_world *world, int asked, int news)
{
	char go;

	if (dist__read_all(asked, &go, 1, -1) == 0)
		_exit(DIST_EXIT_OK);
	close(asked);
	if (!part_all() || !hush(news))
		_exit(DIST_EXIT_FAILED);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	alarm(LIMIT_S);
	if (world->is_copy)
		close(world->news);
	world->is_copy = true;
	world->plan = NULL; /* what is left to choose goes as usual */
	world->log = NULL;
	world->news = news;
}

void dist__sim_copy_report(const struct dist__sim_world *world,
			   const struct dist__sim_news *news)
{
	size_t bytes = news->has_board
			       ? check_board_bytes((uint32_t)world->present)
			       : 0;

	if (!dist__write_all(world->news, news, sizeof *news, -1) ||
	    !dist__write_all(world->news, world->board, bytes, -1))
		_exit(DIST_EXIT_FAILED);
}

/* ---- who asks --------------------------------------------------------- */

bool dist__sim_copy_make(struct dist__sim_world *world,
			 struct dist__sim_copy *copy)
{
	int ask[2], news[2];
	char ready;

	*copy = (struct dist__sim_copy){.pid = 0};
	if (!dist__platform_can_copy() || world->has_processes || pipe(ask))
		return false;
	if (pipe(news)) {
		close_both(ask);
		return false;
	}
	fflush(NULL);
	copy->pid = fork();
	if (copy->pid < 0) {
		close_both(ask);
		close_both(news);
		copy->pid = 0;
		return false;
	}
	if (copy->pid > 0) {
		close(ask[0]);
		close(news[1]);
		copy->ask = ask[1];
		copy->news = news[0];
		if (dist__read_all(copy->news, &ready, 1, -1) == 0)
			dist__sim_copy_drop(copy);
		return false;
	}
	close(ask[1]);
	close(news[0]);
	/* Who asks goes on with the records once the copy has its own. */
	if (!dist__sim_watch_part(world) ||
	    !dist__write_all(news[1], "", 1, -1))
		_exit(DIST_EXIT_FAILED);
	begin(world, ask[0], news[1]);
	return true;
}

void dist__sim_copy_ask(const struct dist__sim_world *world,
			struct dist__sim_copy *copy,
			struct dist__sim_future *future)
{
	size_t bytes = check_board_bytes((uint32_t)world->present);
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	struct dist__sim_news news;

	*future = (struct dist__sim_future){.board = NULL};
	if (copy->pid)
		(void)dist__write_all(copy->ask, "", 1, -1);
	while (copy->pid && dist__read_all(copy->news, &news, sizeof news,
					   -1) == sizeof news) {
		future->news[news.what] = news;
		if (!news.has_board)
			continue;
		future->board = malloc(bytes);
		if (!future->board || dist__read_all(copy->news, future->board,
						     bytes, -1) != bytes)
			break;
	}
	signal(SIGPIPE, before);
	dist__sim_copy_drop(copy);
}

void dist__sim_copy_drop(struct dist__sim_copy *copy)
{
	if (!copy->pid)
		return;
	close(copy->ask);
	close(copy->news);
	(void)waitpid(copy->pid, NULL, 0);
	copy->pid = 0;
}
