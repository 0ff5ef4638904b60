/*
 * progress.c - the progress of long work, on a terminal: a thread writes a line
 * now and then, so that the work need not. It uses write() only, and so holds
 * no lock that a fork by another thread could copy.
 */
#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"

#define WIDTH     24
#define FIRST_NS  INT64_C(2000000000)
#define REPEAT_NS INT64_C(250000000)

/* "[######..] ", as far as is known. */
static void draw_bar(const struct dist__progress *p, char bar[WIDTH + 8])
{
	size_t filled;

	bar[0] = '\0';
	if (p->all <= 0 || p->done <= 0)
		return;
	filled = (size_t)(WIDTH * (p->done < p->all ? p->done / p->all : 1));
	bar[0] = '[';
	memset(bar + 1, '#', filled);
	memset(bar + 1 + filled, '.', WIDTH - filled);
	strcpy(bar + 1 + WIDTH, "] ");
}

/* The cursor is left in front, for what comes after. */
static void show(const struct dist__progress *p)
{
	double passed = (double)(dist__clock_ns() - p->start_ns) / 1e9;
	char bar[WIDTH + 8], line[256];
	int len;

	draw_bar(p, bar);
	len = snprintf(line, sizeof line, "\r%s%s, %.0f s", bar, p->what,
		       passed);
	if (p->done > 0 && p->done < p->all)
		len += snprintf(line + len, sizeof line - (size_t)len,
				", about %.0f s left",
				passed / p->done * (p->all - p->done));
	else if (p->most_ns > 0)
		len += snprintf(line + len, sizeof line - (size_t)len,
				" of at most %.0f s", (double)p->most_ns / 1e9);
	len += snprintf(line + len, sizeof line - (size_t)len, "\033[K\r");
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		return;
}

static void *tell(void *arg)
{
	struct dist__progress *p = arg;
	int64_t next_ns = p->start_ns + FIRST_NS;
	bool drawn = false;

	pthread_mutex_lock(&p->lock);
	while (!p->over) {
		(void)dist__condition_wait(&p->ended, &p->lock, next_ns);
		if (p->over || dist__clock_ns() < next_ns)
			continue;
		show(p);
		drawn = true;
		next_ns = dist__clock_ns() + REPEAT_NS;
	}
	pthread_mutex_unlock(&p->lock);
	if (drawn && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		return NULL;
	return NULL;
}

void dist__progress_begin(struct dist__progress *p, const char *what,
			  double all, int64_t most_ns)
{
	*p = (struct dist__progress){.shown = isatty(STDERR_FILENO) == 1,
				     .all = all,
				     .start_ns = dist__clock_ns(),
				     .most_ns = most_ns};
	if (!p->shown)
		return;
	snprintf(p->what, sizeof p->what, "%s", what);
	dist__condition_init(&p->ended);
	pthread_mutex_init(&p->lock, NULL);
	p->shown = pthread_create(&p->thread, NULL, tell, p) == 0;
}

void dist__progress_step(struct dist__progress *p, double piece,
			 const char *what)
{
	if (!p->shown)
		return;
	pthread_mutex_lock(&p->lock);
	p->done += piece;
	if (what)
		snprintf(p->what, sizeof p->what, "%s", what);
	pthread_mutex_unlock(&p->lock);
}

void dist__progress_end(struct dist__progress *p)
{
	if (!p->shown)
		return;
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_signal(&p->ended);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->shown = false;
}
