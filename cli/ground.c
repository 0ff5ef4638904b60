#include "cli/ground.h"

#include <stdio.h>
#include <string.h>

#include "cli/child.h"

/* The routes of a longer ring take longer than the answer. */
#define RING_RANKS 4096

/* What the child is asked. */
struct question {
	const char *path;
	int ranks;
};

static void collect_facts(const struct dist__platform *platform,
			  struct ground *ground)
{
	const struct dist__fact *facts;
	size_t i, n, used = 0;

	facts = dist__platform_facts(platform, &n);
	for (i = 0; i < n && used < sizeof(ground->facts); i++)
		used += (size_t)snprintf(
			ground->facts + used, sizeof(ground->facts) - used,
			"%s: %s\n", facts[i].key, facts[i].value);
}

/* In a child. */
static int survey(void *arg, int pipe)
{
	const struct question *question = arg;
	struct ground ground = {.facts = ""};
	struct dist__platform *platform;
	struct dist_message message;
	enum dist_error error;

	if (dist__platform_open(question->path, question->ranks, &platform,
				&message)) {
		fprintf(stderr, "lockstep predict: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	collect_facts(platform, &ground);
	error = dist__platform_fabric(platform, NULL, question->ranks,
				      &ground.fabric);
	if (!error && question->ranks <= RING_RANKS &&
	    !dist__platform_is_any(platform))
		error = dist__platform_narrowest(platform, question->ranks,
						 &ground.narrowest);
	dist__platform_close(platform);
	if (error || child_write(pipe, &ground, sizeof(ground)))
		return DIST_EXIT_INTERNAL;
	return DIST_EXIT_OK;
}

int ground_survey(struct ground *ground, const char *path, int ranks)
{
	struct question question = {path, ranks};
	struct child child;
	size_t got = 0;
	int status;

	if (child_start(&child, survey, &question))
		return DIST_EXIT_INTERNAL;
	status = child_finish(&child, ground, sizeof(*ground), &got);
	if (status == DIST_EXIT_OK && got != sizeof(*ground))
		status = DIST_EXIT_INTERNAL;
	return status;
}
