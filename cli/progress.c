#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 40

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void show(const struct progress *progress)
{
	size_t filled =
		progress->num ? WIDTH * progress->done / progress->num : WIDTH;
	char bar[WIDTH + 1];

	for (size_t i = 0; i < WIDTH; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %zu of %zu", bar, progress->done,
		progress->num);
	if (progress->done > 0)
		fprintf(stderr, ", %.0f s left \033[K",
			(double)(now_ns() - progress->start_ns) / 1e9 /
				(double)progress->done *
				(double)(progress->num - progress->done));
}

void progress_begin(struct progress *progress, size_t num)
{
	*progress = (struct progress){.shown = isatty(STDERR_FILENO) == 1,
				      .num = num,
				      .start_ns = now_ns()};
	if (progress->shown)
		show(progress);
}

void progress_step(struct progress *progress)
{
	progress->done++;
	if (progress->shown)
		show(progress);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
