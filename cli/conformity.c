/* conformity.c - lockstep check --conformance: runs the conformance table. */
#include "cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "base/data.h"
#include "base/quantity.h"
#include "cli/refuse.h"
#include "lockstep/dist.h"
#include "tests/conformance/cases/conformance.h"
#include "worlds/worlds.h"

#define PATH_SIZE    4096
#define MAX_BACKENDS 4
#define MAX_WORLDS   CONFORMANCE_MAX_WORLD

/* As the ranks of TCP are here: on one node. */
#define PLATFORM "machine-16"

/* ---- the command line --------------------------------------------------- */

/* NULL: all. */
struct command_line {
	int conformance;
	const char *backends;  /* "sim,tcp" */
	const char *worlds;    /* "2,4" */
	const char *calls;     /* "all_reduce,barrier" */
	const char *algorithm; /* "ring"; "auto": as the back end chooses */
	const char *platform;  /* sim: a name or a file */
	double timeout_s;      /* of a call; 0: two minutes */
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"conformance", OPTION_SWITCH, AT(conformance), NULL,
	 .help = "walk the conformance table"},
	{"backend", OPTION_TEXT, AT(backends), "sim,tcp",
	 .help = "in these worlds", .usual = "all that this machine has"},
	{"world-size", OPTION_TEXT, AT(worlds), "N,...",
	 .help = "of so many ranks", .usual = "1,2,3,4,5,7,8,16"},
	{"op", OPTION_TEXT, AT(calls), "all_reduce,...", .help = "these calls",
	 .usual = "all"},
	{"algorithm", OPTION_TEXT, AT(algorithm), "A",
	 .help = "calls that have it, with this algorithm; auto: as selected",
	 .usual = "each in turn"},
	{"platform", OPTION_TEXT, AT(platform), "PLATFORM",
	 .help = "sim: hosts and links, a name or a file",
	 .usual = "machine-16", .list = "platforms"},
	{"timeout", OPTION_NUMBER, AT(timeout_s), "S",
	 .help = "seconds that a call may take", .usual = "120", .max = 1e9},
	{.name = NULL}};

const struct manual manual_conformance = {
	.usage = "--conformance [OPTION...]",
	.about = "Walks the conformance table: every call x algorithm x world "
		 "size x dtype x operation x count, each result checked, and "
		 "the bytes of all back ends compared.",
	.examples =
		{"lockstep check --conformance --backend tcp --world-size 2,4"},
	.groups = GROUPS({.options = options})};

/* What is asked for, once checked. */
struct plan {
	const struct dist__world *backends[MAX_BACKENDS];
	size_t num_backends;
	int worlds[MAX_WORLDS];
	size_t num_worlds;
	struct conformance_filter filter;
	char platform[PATH_SIZE];
	int64_t timeout_ns;
	unsigned cases, failed; /* so far */
};

/* One setup, walked. */
struct look {
	struct plan *plan;
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome;
	struct conformance_outcome *first; /* of the first back end; NULL */
	const char *first_backend;
	unsigned not_walked;
};

static int refuse_word(const char *option, const char *word,
		       const char *expected)
{
	return refuse("check", "%s: expected %s, not \"%s\"", option, expected,
		      word);
}

/* ---- what is asked for ------------------------------------------------ */

static int add_backend(struct plan *plan, const char *word)
{
	const struct dist__world *world = dist__world_find(word);
	struct dist_message why = {""};
	enum dist_error error;

	if (!world)
		return refuse_word("--backend", word,
				   "back ends such as sim,tcp");
	error = dist__world_check(world, &why);
	if (error) {
		fprintf(stderr, "lockstep check: %s: %s\n", word, why.text);
		return error == DIST_ERR_UNAVAILABLE ? DIST_EXIT_SKIPPED
						     : DIST_EXIT_USAGE;
	}
	for (size_t i = 0; i < plan->num_backends; i++)
		if (plan->backends[i] == world)
			return DIST_EXIT_OK;
	if (plan->num_backends < MAX_BACKENDS)
		plan->backends[plan->num_backends++] = world;
	return DIST_EXIT_OK;
}

static int add_world(struct plan *plan, const char *word)
{
	int64_t n;

	if (!dist__count_read(word, 1, CONFORMANCE_MAX_WORLD, &n))
		return refuse_word("--world-size", word,
				   "numbers of ranks from 1 to 16");
	for (size_t i = 0; i < plan->num_worlds; i++)
		if (plan->worlds[i] == n)
			return DIST_EXIT_OK;
	plan->worlds[plan->num_worlds++] = (int)n;
	return DIST_EXIT_OK;
}

static int add_call(struct plan *plan, const char *word)
{
	enum conformance_call call = conformance_call_find(word);

	if (call == CONFORMANCE_CALLS)
		return refuse_word("--op", word,
				   "calls such as all_reduce,barrier");
	plan->filter.calls |= UINT32_C(1) << call;
	return DIST_EXIT_OK;
}

/* Adds each word of a list that commas divide. */
static int add_each(struct plan *plan, const char *list,
		    int (*add)(struct plan *plan, const char *word))
{
	char *text = strdup(list), *rest = text, *word;
	int status = text ? DIST_EXIT_OK : DIST_EXIT_INTERNAL;

	while (!status && rest) {
		word = rest;
		rest = strchr(word, ',');
		if (rest)
			*rest++ = '\0';
		status = add(plan, word);
	}
	free(text);
	return status;
}

/* All back ends of this machine, but for NCCL, which needs a GPU for each rank
 * and is walked when it is named. */
static void add_backends(struct plan *plan)
{
	const struct dist__world *const *world = dist__worlds();
	struct dist_message why;

	for (; *world && plan->num_backends < MAX_BACKENDS; world++)
		if (conformance_forces((*world)->name) &&
		    (*world)->is_available(&why))
			plan->backends[plan->num_backends++] = *world;
}

static int choose_platform(const char *name, struct plan *plan)
{
	struct dist_message message = {""};

	if (dist__data_find("platforms", name ? name : PLATFORM, ".xml",
			    plan->platform, sizeof plan->platform, &message)) {
		fprintf(stderr, "lockstep check: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

static int make_plan(const struct command_line *request, struct plan *plan)
{
	struct conformance_setup setup;
	int status = DIST_EXIT_OK;

	if (request->backends)
		status = add_each(plan, request->backends, add_backend);
	else
		add_backends(plan);
	if (!status && request->worlds)
		status = add_each(plan, request->worlds, add_world);
	for (size_t i = 0; !request->worlds && conformance_worlds[i]; i++)
		plan->worlds[plan->num_worlds++] = conformance_worlds[i];
	if (!status && request->calls)
		status = add_each(plan, request->calls, add_call);
	if (request->algorithm && strcmp(request->algorithm, "auto") == 0)
		plan->filter.as_selected = true;
	else
		plan->filter.algorithm = request->algorithm;
	if (!status && !conformance_round(&plan->filter, 0, &setup))
		status = refuse_word("--algorithm", request->algorithm,
				     "an algorithm of these calls, as in "
				     "lockstep list algorithms");
	return status ? status : choose_platform(request->platform, plan);
}

/* ---- walking ---------------------------------------------------------- */

/* Says what failed, and how to run that again. */
static void print_failure(const struct look *look, enum conformance_call call,
			  const char *text, const char *what)
{
	const struct conformance_setup *setup = look->setup;
	const char *forced =
		strstr(setup->algorithms, conformance_call_name(call));
	const char *algorithm = forced ? strchr(forced, '=') + 1 : "";

	printf("FAIL %s: %s; again: lockstep check --conformance --backend %s "
	       "--world-size %d --op %s",
	       text, what, setup->backend, setup->world_size,
	       conformance_call_name(call));
	if (*algorithm)
		printf(" --algorithm %.*s", (int)strcspn(algorithm, ","),
		       algorithm);
	putchar('\n');
}

static void look_at(void *arg, uint32_t index, enum conformance_call call,
		    const char *text)
{
	struct look *look = arg;
	enum conformance_state state;
	char what[256];

	state = conformance_state(look->outcome, index, what, sizeof what);
	if (state == CONFORMANCE_NOT_WALKED)
		snprintf(what, sizeof what,
			 "not walked, a rank stopped before it");
	if (state == CONFORMANCE_RIGHT && look->first &&
	    !conformance_same(look->first, look->outcome, index)) {
		state = CONFORMANCE_WRONG;
		snprintf(what, sizeof what, "other bytes than on %s",
			 look->first_backend);
	}
	look->plan->cases++;
	if (state == CONFORMANCE_RIGHT)
		return;
	look->plan->failed++;
	if (state == CONFORMANCE_WRONG || look->not_walked++ == 0)
		print_failure(look, call, text, what);
}

/* Looks at what came of a launch. */
static void look_at_all(struct look *look)
{
	look->not_walked = 0;
	conformance_each(look->setup, look_at, look);
	if (look->not_walked > 1)
		printf("FAIL and %u more cases were not walked\n",
		       look->not_walked - 1);
}

/* Whether a launch came so far that there are cases to look at. */
static bool has_walked(int status)
{
	return status != DIST_EXIT_USAGE && status != DIST_EXIT_SKIPPED &&
	       status != DIST_EXIT_INTERNAL;
}

/* Walks the setup of a round on every back end. */
static int walk(struct plan *plan, const struct conformance_setup *of_round,
		size_t round)
{
	struct conformance_setup setup;
	struct look look = {.plan = plan, .setup = &setup};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < plan->num_backends && has_walked(status); i++) {
		setup = *of_round;
		setup.backend = plan->backends[i]->name;
		if (!conformance_forces(setup.backend)) {
			if (round > 0)
				continue;
			setup.algorithms[0] = '\0';
		}
		look.outcome = conformance_outcome_new(&setup);
		status = look.outcome ? conformance_run(&setup, look.outcome)
				      : DIST_EXIT_INTERNAL;
		if (has_walked(status))
			look_at_all(&look);
		if (look.first) {
			conformance_outcome_free(look.outcome);
			continue;
		}
		look.first = look.outcome;
		look.first_backend = setup.backend;
	}
	conformance_outcome_free(look.first);
	return has_walked(status) ? DIST_EXIT_OK : status;
}

/* Walks the world sizes one after the other; the larger they are, the longer
 * it takes, so it says on stderr how far it is. */
static int walk_worlds(struct plan *plan)
{
	struct conformance_setup setup = {.platform = plan->platform,
					  .timeout_ns = plan->timeout_ns};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < plan->num_worlds && !status; i++) {
		unsigned before = plan->cases;

		setup.world_size = plan->worlds[i];
		for (size_t round = 0;
		     !status && conformance_round(&plan->filter, round, &setup);
		     round++)
			status = walk(plan, &setup, round);
		if (!status)
			fprintf(stderr, "world size %d: %u cases\n",
				setup.world_size, plan->cases - before);
	}
	return status;
}

/* Prints a line for each case that fails, with the command that repeats it;
 * cases that a stopped rank did not reach share a line. SKIPPED: a back end is
 * not available. */
int command_conformance(int argc, const char **argv)
{
	struct command_line line = {.conformance = 0};
	struct plan plan = {.num_backends = 0};
	int status;

	if (!arguments_parse(&manual_conformance, &argc, argv, &line, &status))
		return status;
	plan.timeout_ns = (int64_t)(line.timeout_s * 1e9);
	status = make_plan(&line, &plan);
	if (!status)
		status = walk_worlds(&plan);
	if (status)
		return status;
	printf("%u cases, %u failed\n", plan.cases, plan.failed);
	return plan.failed ? DIST_EXIT_FAILED : DIST_EXIT_OK;
}
