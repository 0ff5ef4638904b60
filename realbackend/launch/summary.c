#include "realbackend/launch/summary.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "realbackend/launch/python_notes.h"

#define WIDTH 60

static bool failed(const struct dist__child *child)
{
	return child->ended && !child->stopping &&
	       (child->by_signal || child->code != 0);
}

static void print_line(FILE *out, char letter)
{
	for (int i = 0; i < WIDTH; i++)
		fputc(letter, out);
	fputc('\n', out);
}

/* A file of the rank, if it is there. */
static const char *find_file(const struct dist__child *child,
			     const struct dist__plumbing *plumbing,
			     const char *name, char *path, size_t size)
{
	const struct dist__streams_rank rank = {
		.round = plumbing->seat.round, .local_rank = child->local_rank};

	return dist__streams_path(plumbing->streams, &rank, name, path, size) &&
			       access(path, F_OK) == 0
		       ? path
		       : "<N/A>";
}

static void print_one(FILE *out, int number, const struct dist__child *child,
		      const struct dist__plumbing *plumbing)
{
	char time[32] = "?", host[64] = "?", path[4096];
	struct tm when;

	if (localtime_r(&child->ended_at.tv_sec, &when))
		strftime(time, sizeof time, "%Y-%m-%d_%H:%M:%S", &when);
	gethostname(host, sizeof host - 1);
	fprintf(out, "[%d]:\n  time      : %s\n  host      : %s\n", number,
		time, host);
	fprintf(out, "  rank      : %d (local_rank: %d)\n", child->rank,
		child->local_rank);
	fprintf(out, "  exitcode  : %d (pid: %ld)\n",
		child->by_signal ? -child->code : child->code,
		(long)child->was);
	fprintf(out, "  error_file: %s\n",
		find_file(child, plumbing, "error.json", path, sizeof path));
	fprintf(out, "  log_file  : %s\n",
		find_file(child, plumbing, "stderr.log", path, sizeof path));
	if (child->stopping)
		fputs("  traceback : ended by lockstep\n", out);
	else if (child->by_signal)
		fprintf(out,
			"  traceback : Signal %d (%s) received by PID %ld\n",
			child->code, strsignal(child->code), (long)child->was);
	else if (!dist__notes_any(child->notes_fd))
		fputs("  traceback : <N/A>\n", out);
	if (!child->stopping && dist__notes_any(child->notes_fd))
		dist__notes_print(out, child->notes_fd,
				  child->by_signal ? "              "
						   : "  traceback : ",
				  "              ");
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

/* The child of rank first, else the first to end; NULL: none failed. */
static const struct dist__child *find_first(const struct dist__child *children,
					    int num_children, int first)
{
	const struct dist__child *found = NULL;

	for (int i = 0; i < num_children; i++) {
		if (!failed(&children[i]))
			continue;
		if (children[i].rank == first)
			return &children[i];
		if (!found || earlier(&children[i].ended_at, &found->ended_at))
			found = &children[i];
	}
	return found;
}

static const struct dist__child *find_rank(const struct dist__child *children,
					   int num_children, int rank)
{
	for (int i = 0; i < num_children; i++)
		if (children[i].rank == rank)
			return &children[i];
	return NULL;
}

void dist__summary_print(FILE *out, const char *name, int culprit, int first,
			 const struct dist__child *children, int num_children,
			 const struct dist__plumbing *plumbing)
{
	const struct dist__child *cause =
		find_first(children, num_children, first);
	bool is_first = culprit < 0 || (cause && cause->rank == culprit);
	int number = 0, cause_number;

	if (!cause)
		return;
	if (!is_first)
		cause = find_rank(children, num_children, culprit);
	print_line(out, '=');
	fprintf(out, "%s FAILED\n", name);
	print_line(out, '-');
	fputs("Failures:\n", out);
	cause_number = 0;
	for (int i = 0; i < num_children; i++) {
		if (&children[i] == cause)
			cause_number = number++;
		else if (failed(&children[i]))
			print_one(out, number++, &children[i], plumbing);
	}
	if (number == 1 && cause)
		fputs("  <NO_OTHER_FAILURES>\n", out);
	print_line(out, '-');
	if (!cause) {
		fprintf(out, "Root Cause: rank %d, on another node\n", culprit);
	} else {
		fprintf(out, "Root Cause (%s):\n",
			is_first ? "first observed failure"
				 : "by the verdict above");
		print_one(out, cause_number, cause, plumbing);
	}
	print_line(out, '=');
}
