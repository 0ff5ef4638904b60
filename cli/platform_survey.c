#include "cli/platform_survey.h"

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "cli/child.h"
#include "core/backend.h"
#include "sim/launch.h"
#include "base/text.h"

/* The routes of a longer ring take longer than the answer. */
#define RING_RANKS 4096

/* What the child is asked. */
struct question {
	const char *path;
	int ranks;
	const struct dist__link_overrides *overrides;
};

static void describe_network(const struct dist__platform *platform,
			     struct platform_survey *survey)
{
	static const char prefix[] = "network/";
	const size_t len = strlen(prefix);
	size_t n;
	const struct dist__fact *facts = dist__platform_facts(platform, &n);

	for (size_t i = 0; i < n; i++)
		if (strncmp(facts[i].key, prefix, len) == 0)
			(void)dist__append(survey->network,
					   sizeof survey->network, "%s%s %s",
					   survey->network[0] ? ", " : "",
					   facts[i].key + len, facts[i].value);
}

/* In a child. */
static int ask(void *arg, int pipe)
{
	const struct question *question = arg;
	struct platform_survey survey = {.network = ""};
	struct dist__platform *platform;
	struct dist_message message;
	enum dist_error error;

	if (dist__platform_open(question->path, question->ranks,
				question->overrides, false, &platform,
				&message)) {
		fprintf(stderr, "lockstep predict: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	describe_network(platform, &survey);
	error = dist__platform_fabric(platform, NULL, question->ranks,
				      &survey.fabric);
	for (size_t i = 0; i < survey.fabric.num_calibrations; i++)
		survey.calibrations[i] = survey.fabric.calibrations[i];
	if (!error && question->ranks <= RING_RANKS &&
	    !dist__platform_is_any(platform))
		error = dist__platform_narrowest(platform, question->ranks,
						 &survey.narrowest);
	dist__platform_close(platform);
	if (error || !dist__write_all(pipe, &survey, sizeof survey, -1))
		return DIST_EXIT_INTERNAL;
	return DIST_EXIT_OK;
}

int platform_survey(struct platform_survey *survey, const char *path, int ranks,
		    const struct dist__link_overrides *overrides)
{
	struct question question = {path, ranks, overrides};
	struct child child;
	int status;

	if (child_start(&child, ask, &question))
		return DIST_EXIT_INTERNAL;
	status = child_result(&child, survey, sizeof *survey);
	survey->fabric.calibrations = survey->calibrations;
	return status;
}
