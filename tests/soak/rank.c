/* One rank of a case: meets the others, makes its calls, tells how they ended,
 * and leaves nothing behind. */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/soak/soak.h"

/* A rank at work. */
struct worker {
	const struct soak_case *c;
	struct soak_report *report;
	struct dist_group *group;
	int rank;
	enum dist_error failed; /* the first error; the group is poisoned */
	void *data[SOAK_MOST_CALLS];
	struct dist_work *works[SOAK_MOST_CALLS];
};

__attribute__((format(printf, 2, 3))) static void
complain(struct soak_report *report, const char *format, ...)
{
	va_list args;

	if (report->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(report->wrong, sizeof report->wrong, format, args);
	va_end(args);
}

static int count_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

/* Call i has ended on this rank. */
static void conclude(struct worker *w, int i, enum dist_error error)
{
	const struct soak_call *call = &w->c->calls[i];
	size_t wrong;

	w->report->ends[w->report->num_ended++] = error;
	if (error && !w->failed) {
		w->failed = error;
		if (!*dist_error_message(w->group))
			complain(w->report, "call %d: %s, and no words", i,
				 dist_error_string(error));
	}
	if (error)
		return;
	wrong = soak_first_wrong(call, w->c->world_size, w->data[i]);
	if (wrong < call->numel)
		complain(w->report, "call %d: element %zu is wrong", i, wrong);
}

static enum dist_error issue(struct worker *w, int i)
{
	const struct soak_call *call = &w->c->calls[i];
	struct dist_tensor tensor =
		dist_tensor(w->data[i], call->numel, call->dtype);
	enum dist_reduce_op op = call->op;
	enum dist_error error = DIST_OK;

	if (op == DIST_PREMUL_SUM)
		error = dist_make_premul_sum(w->group,
					     soak_factor(call, w->rank), &op);
	if (error)
		return error;
	return dist_all_reduce(w->group, tensor, op,
			       call->async ? &w->works[i] : NULL);
}

/* Makes all calls, in a poisoned group as well. */
static void make_calls(struct worker *w)
{
	for (int i = 0; i < w->c->num_calls; i++) {
		const struct soak_call *call = &w->c->calls[i];
		size_t bytes = call->numel * dist_dtype_size(call->dtype);
		bool poisoned = w->failed != DIST_OK;
		enum dist_error error;

		w->data[i] = malloc(bytes + 1);
		if (!w->data[i])
			abort();
		soak_fill(call, w->rank, w->data[i]);
		soak_pause(call->late_ns[w->rank]);
		error = issue(w, i);
		if (poisoned && error != DIST_ERR_ABORTED)
			complain(w->report, "call %d: %s, though poisoned", i,
				 dist_error_string(error));
		if (!w->works[i])
			conclude(w, i, error);
	}
	for (int i = 0; i < w->c->num_calls; i++) {
		if (!w->works[i])
			continue;
		conclude(w, i,
			 dist_work_wait(w->works[i], DIST_TIMEOUT_OF_GROUP));
		dist_work_free(w->works[i]);
	}
}

static void work(struct worker *w)
{
	enum dist_error error;

	if (dist_set_timeout(w->group, w->c->timeout_ns))
		complain(w->report, "set_timeout: %s",
			 dist_error_message(w->group));
	make_calls(w);
	error = dist_destroy_process_group(w->group);
	if (error)
		complain(w->report, "destroy: %s", dist_error_string(error));
	for (int i = 0; i < w->c->num_calls; i++)
		free(w->data[i]);
}

int soak_rank(const struct soak_case *c, int rank, struct soak_report *report)
{
	struct dist_message message = {""};
	struct dist_init_options options = {
		.backend = "tcp",
		.timeout_ns = c->meet_ns,
		.message = &message,
	};
	struct worker w = {.c = c, .report = report, .rank = rank};
	int files = count_files();

	report->meeting = dist_init_process_group(&options, &w.group);
	if (report->meeting && !message.text[0])
		complain(report, "meeting: %s, and no words",
			 dist_error_string(report->meeting));
	snprintf(report->why, sizeof report->why, "%.199s", message.text);
	if (!report->meeting) {
		atomic_store(&report->joined, true);
		work(&w);
	}
	if (count_files() != files)
		complain(report, "%d files open, %d before", count_files(),
			 files);
	/* To be stopped while it looks for leaks is more than a sanitizer
	 * bears. */
	while (!atomic_load(&report->over))
		soak_pause(SOAK_MS / 10);
	return 0;
}
