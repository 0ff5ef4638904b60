/*
 * explore.c - runs a job in every way in which its messages can meet, and with
 * delays, to see whether it ends the same.
 *
 * Every run is a copy of this process, made when the platform is loaded and
 * before the simulation begins: it starts at no cost, and nothing of one run is
 * left for the next. Deadlines stay in force, but a plan holds messages back as
 * long as it takes: of a run that passes one, nothing is said.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "sim/explore/explore.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/verdict.h"
#include "sim/log.h"

/* ---- how a run ended ---------------------------------------------------- */

struct dist__sim_ending {
	struct dist__sim_plan plan; /* repeats the run; owned */
	struct dist__sim_log *log;  /* owned; NULL: no run is kept */
};

/* The choices that were made, as a plan has them. */
static bool copy_choices(struct dist__sim_plan *plan,
			 const struct dist__sim_log *log)
{
	uint32_t point = 0;

	for (uint32_t i = 0; i < log->num_steps; i++) {
		const struct dist__sim_step *step = &log->steps[i];

		if (step->count < 2)
			continue;
		if (step->taken > 0 &&
		    !dist__sim_plan_add(plan, (struct dist__sim_choice){
						      point, step->taken}))
			return false;
		point++;
	}
	return true;
}

/* Replaces what is kept by a copy of plan and log; the
 * choices of the run are taken from the log. Returns false without memory. */
static bool keep_ending(struct dist__sim_ending *ending,
			const struct dist__sim_plan *plan,
			const struct dist__sim_log *log)
{
	dist__sim_plan_release(&ending->plan);
	if (!ending->log)
		ending->log = calloc(1, sizeof *ending->log);
	if (!ending->log)
		return false;
	/* Copies the part of a log that is in use. */
	memcpy(ending->log, log, offsetof(struct dist__sim_log, options));
	memcpy(ending->log->options, log->options,
	       log->num_options * sizeof log->options[0]);
	memcpy(ending->log->steps, log->steps,
	       log->num_steps * sizeof log->steps[0]);
	ending->plan = (struct dist__sim_plan){.skew = plan->skew,
					       .chooses = plan->chooses};
	memcpy(ending->plan.p2p, plan->p2p, sizeof plan->p2p);
	return copy_choices(&ending->plan, log);
}

/* How it ended, after "from rank 1: ". */
static const char *outcome_of(const struct dist__sim_ending *ending)
{
	switch (ending->log->verdict.kind) {
	case CHECK_FINE:
		return "the job ends well";
	case CHECK_MISMATCH:
		return "mismatch";
	case CHECK_DEADLOCK:
		return "deadlock";
	case CHECK_TIMEOUT:
		return "timeout";
	case CHECK_LOST:
		return "rank lost";
	case CHECK_HAZARD:
		return "buffer hazard";
	case CHECK_BUFFERING:
		return "depends on buffering";
	case CHECK_LEFT:
		return "left behind";
	case CHECK_INVALID:
		return "invalid call";
	default:
		return "failed";
	}
}

/* The step in which log has the receive of option; NULL: in none. */
static const struct dist__sim_step *
find_step(const struct dist__sim_log *log,
	  const struct dist__sim_option *option)
{
	for (uint32_t i = 0; i < log->num_steps; i++) {
		const struct dist__sim_step *step = &log->steps[i];
		const struct dist__sim_option *taken =
			&log->options[step->first + step->taken];

		if (taken->rank == option->rank &&
		    taken->receive == option->receive)
			return step;
	}
	return NULL;
}

static struct check_match match_of(const struct dist__sim_ending *ending,
				   const struct dist__sim_step *step)
{
	int what = ending->log->options[step->first + step->taken].sender;

	return (struct check_match){
		.sender = step->look ? 0 : (uint32_t)what,
		.send = step->send,
		.seen = step->look && what,
		.outcome = outcome_of(ending),
	};
}

/* Finds the first receive of `here` that took the message
 * of another sender in `other`, or the first test of completion with another
 * result, and fills *race except the outcome and the replay tokens. Returns
 * false if there is none. */
static bool find_race(struct check_race *race,
		      const struct dist__sim_ending *other,
		      const struct dist__sim_ending *here)
{
	for (uint32_t i = 0; i < here->log->num_steps; i++) {
		const struct dist__sim_step *step = &here->log->steps[i];
		const struct dist__sim_option *taken =
			&here->log->options[step->first + step->taken];
		const struct dist__sim_step *like =
			find_step(other->log, taken);

		if (!like ||
		    other->log->options[like->first + like->taken].sender ==
			    taken->sender)
			continue;
		*race = (struct check_race){
			.rank = (uint32_t)taken->rank,
			.look = step->look > 0,
			.call = step->receive,
			.other = match_of(other, like),
			.here = match_of(here, step),
		};
		return true;
	}
	return false;
}

static void release_ending(struct dist__sim_ending *ending)
{
	dist__sim_plan_release(&ending->plan);
	free(ending->log);
	ending->log = NULL;
}

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/progress.h"
#include "check/outputs.h"
#include "sim/explore/search.h"
#include "sim/run.h"

#define RULES 2

#define LOOKED                                                                 \
	"a rank looks whether work is complete, and what it sees depends on "  \
	"time"

struct explorer {
	struct dist__sim_world *world;
	const struct dist__sim_bounds *bounds;
	struct dist__sim_log *log; /* shared with the run under way */
	time_t end_s;              /* when time is over */
	pid_t process;             /* that explores */

	/* Of runs that choose, the last that ended as the first one did, and
	 * the first that ended otherwise. */
	struct dist__sim_ending usual, unusual;
	struct dist__sim_ending bad; /* the first run that ended badly */
	bool values_differ;
	bool endless; /* a run as configured does not end in time */

	char text[RULES][32]; /* the rules */
	struct check_explored lines[RULES + 1];
};

/* ---- one run ---------------------------------------------------------- */

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool is_over(const struct explorer *e)
{
	return now_s() >= e->end_s;
}

static void __attribute__((noreturn))
run_copy(struct explorer *e, const struct dist__sim_plan *plan)
{
	struct dist__sim_world *world = e->world;
	int null = open("/dev/null", O_WRONLY);

	/* Nobody is left to read the log when the explorer is killed. */
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif

	/* ---- the runs
	 * ------------------------------------------------------------ */

	if (null < 0 || getppid() != e->process)
		_exit(DIST_EXIT_INTERNAL);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(is_over(e) ? 1 : (unsigned)(e->end_s - now_s()));
	world->log = e->log;
	world->recorder = NULL;
	(void)dist__sim_follow(world, plan);
	(void)dist__sim_run(world);
	_exit(DIST_EXIT_OK);
}

/* Runs the job by plan; how it went is in the log. A run that ends the process
 * is a lost rank, as for a launcher. False: no process. */
static bool run(struct explorer *e, const struct dist__sim_plan *plan)
{
	int status = 0;
	pid_t child;

	memset(e->log, 0, offsetof(struct dist__sim_log, options));
	fflush(NULL);
	child = fork();
	if (child == 0)
		run_copy(e, plan);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (e->log->fate == DIST__SIM_GONE &&
	    !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)) {
		e->log->fate = DIST__SIM_JUDGED;
		e->log->verdict = (struct check_verdict){CHECK_LOST, -1};
	}
	return true;
}

/* ---- every match ------------------------------------------------------ */

/* Whether two runs that ended did so in the same way. */
static bool ended_alike(const struct explorer *e, const struct dist__sim_log *a,
			const struct dist__sim_log *b)
{
	if (a->verdict.kind != b->verdict.kind)
		return false;
	return a->verdict.kind != CHECK_FINE || !e->bounds->values ||
	       a->values == b->values;
}

/* Keeps what the run that is over has shown. False: no memory. */
static bool compare(struct explorer *e, const struct dist__sim_plan *plan)
{
	const struct dist__sim_log *usual = e->usual.log, *log = e->log;
	bool fine = log->verdict.kind == CHECK_FINE, alike;

	if (log->fate != DIST__SIM_JUDGED)
		return true;
	if (!fine && !e->bad.log && !keep_ending(&e->bad, plan, log))
		return false;
	if (usual && fine && usual->verdict.kind == CHECK_FINE)
		e->values_differ |= usual->values != log->values;
	alike = !usual || ended_alike(e, usual, log);
	return keep_ending(alike ? &e->usual : &e->unusual, plan, log);
}

/* Runs the job by plan and learns from it. Returns why there can be no more;
 * NULL: there can. */
static const char *try_plan(struct explorer *e,
			    const struct dist__sim_plan *plan,
			    struct dist__sim_search *search)
{
	if (search->runs >= e->bounds->runs)
		return "there are more than --max-runs";
	if (is_over(e))
		return "--max-seconds are over";
	if (!run(e, plan) || !compare(e, plan))
		return "there is no memory for more";
	if (!dist__sim_search_learn(search, e->log))
		return "the program does other things when it runs again";
	return e->unusual.log ? "these end in different ways" : NULL;
}

static void search_matches(struct explorer *e, const char *p2p,
			   struct check_explored *line)
{
	struct dist__sim_plan plan = {.chooses = true};
	struct dist__sim_search search;
	bool looked = false, again;

	snprintf(plan.p2p, sizeof plan.p2p, "%s", p2p);
	release_ending(&e->usual); /* of another rule */
	dist__sim_search_init(&search);
	do {
		line->left = try_plan(e, &plan, &search);
		line->late += e->log->fate == DIST__SIM_LATE;
		looked |= e->log->looked;
		dist__sim_plan_release(&plan);
		again = !line->left && dist__sim_search_next(&search, &plan);
	} while (again);
	if (!line->left && !search.is_complete)
		line->left = "some are too long";
	if (!line->left && looked)
		line->left = LOOKED;
	line->runs = search.runs;
	line->states = search.states;
	dist__sim_search_release(&search);
}

/* ---- delays ----------------------------------------------------------- */

static void try_skews(struct explorer *e, const char *p2p,
		      struct check_explored *line)
{
	struct dist__sim_plan plan = {.skew = 0};

	snprintf(plan.p2p, sizeof plan.p2p, "%s", p2p);
	while (plan.skew < e->bounds->skews && !is_over(e) && !e->bad.log) {
		plan.skew++;
		if (!run(e, &plan))
			return;
		line->skewed++;
		line->late += e->log->fate == DIST__SIM_LATE;
		if (e->log->fate == DIST__SIM_JUDGED &&
		    e->log->verdict.kind != CHECK_FINE)
			(void)keep_ending(&e->bad, &plan, e->log);
	}
}

/* ---- all -------------------------------------------------------------- */

static bool has_found(const struct explorer *e)
{
	return e->bad.log || e->unusual.log || e->endless;
}

/* Explores the job with sends that end by a rule. Returns whether it has
 * messages for which there is a rule. */
static bool explore_rule(struct explorer *e, const char *p2p,
			 struct check_explored *line)
{
	struct dist__sim_plan plan = {.skew = 0};
	bool wrote;

	*line = (struct check_explored){.p2p = p2p, .runs = 1, .states = 1};
	snprintf(plan.p2p, sizeof plan.p2p, "%s", p2p);
	if (!run(e, &plan)) {
		line->left = "there is no memory for more";
		return false;
	}
	wrote = e->log->wrote;
	e->endless = e->log->fate == DIST__SIM_GONE;
	if (!e->endless && e->log->verdict.kind != CHECK_FINE)
		(void)keep_ending(&e->bad, &plan, e->log);
	if (e->log->looked)
		line->left = LOOKED;
	if ((e->log->any || e->log->looked) && e->log->fate == DIST__SIM_JUDGED)
		search_matches(e, p2p, line);
	if (!has_found(e))
		try_skews(e, p2p, line);
	return wrote;
}

static void explore(struct explorer *e, bool one_rule)
{
	const struct dist__p2p_mode *mode = &e->world->profile.p2p;
	bool buffered = mode->eager_below > 0, wrote;

	dist__p2p_mode_print(mode, e->text[0], sizeof e->text[0]);
	snprintf(e->text[1], sizeof e->text[1], "%s",
		 buffered ? "rendezvous" : "buffered");
	wrote = explore_rule(e, e->text[0], &e->lines[0]);
	if (wrote && !one_rule && !has_found(e))
		(void)explore_rule(e, e->text[1], &e->lines[1]);
}

/* ---- telling ---------------------------------------------------------- */

/* Runs the job here, seen and heard, as `here` ended; NULL: as configured. */
static int show(struct explorer *e, const struct dist__sim_ending *here,
		const struct check_race *race)
{
	struct dist__sim_world *world = e->world;
	char *token = here ? dist__sim_plan_token(&here->plan) : NULL;
	int status;

	if (here)
		(void)dist__sim_follow(world, &here->plan);
	world->token = token;
	world->race = race;
	world->explored = e->lines;
	status = dist__sim_run(world);
	world->token = NULL;
	world->race = NULL;
	world->explored = NULL;
	for (const struct check_explored *line = e->lines; line->p2p; line++) {
		fprintf(stderr,
			"lockstep: explored, sends %s: %s%" PRIu64
			" schedule%s, %" PRIu64 " state%s",
			line->p2p, line->left ? "" : "all ", line->runs,
			line->runs == 1 ? "" : "s", line->states,
			line->states == 1 ? "" : "s");
		if (line->left)
			fprintf(stderr, ", maybe not all: %s", line->left);
		fprintf(stderr, "; %" PRIu64 " with delays", line->skewed);
		if (line->late)
			fprintf(stderr,
				"; %" PRIu64
				" passed a deadline and are not judged",
				line->late);
		fputc('\n', stderr);
	}
	if (e->values_differ && !e->bounds->values)
		fputs("lockstep: ranks do not send the same bytes in all of "
		      "them; with --values, that is a race\n",
		      stderr);
	if (token)
		fprintf(stderr, "lockstep: once more: --replay %s\n", token);
	free(token);
	return status;
}

/* Shows the worse one of two runs that end in different ways. */
static int show_race(struct explorer *e)
{
	bool swap = e->unusual.log->verdict.kind == CHECK_FINE &&
		    e->usual.log->verdict.kind != CHECK_FINE;
	const struct dist__sim_ending *here = swap ? &e->usual : &e->unusual;
	const struct dist__sim_ending *other = swap ? &e->unusual : &e->usual;
	char *tokens[] = {dist__sim_plan_token(&other->plan),
			  dist__sim_plan_token(&here->plan)};
	struct check_race race;
	bool found = tokens[0] && tokens[1] && find_race(&race, other, here);
	int status;

	if (found) {
		race.other.replay = tokens[0];
		race.here.replay = tokens[1];
		if (here->log->verdict.kind == CHECK_FINE)
			race.here.outcome =
				"it does, but ranks send other bytes";
	}
	status = show(e, here, found ? &race : NULL);
	free(tokens[0]);
	free(tokens[1]);
	return status;
}

static int conclude(struct explorer *e)
{
	if (e->endless) {
		fprintf(stderr,
			"lockstep: the simulation has not ended after the "
			"%" PRIu64 " s of --max-seconds\n",
			e->bounds->seconds);
		return DIST_EXIT_TIMEOUT;
	}
	if (e->unusual.log)
		return show_race(e);
	return show(e, e->bad.log ? &e->bad : NULL, NULL);
}

int dist__sim_explore(struct dist__sim_world *world,
		      const struct dist__sim_bounds *bounds, bool one_rule)
{
	struct explorer e = {
		.world = world,
		.bounds = bounds,
		.end_s = now_s() + (time_t)bounds->seconds,
		.process = getpid(),
	};
	struct dist__progress progress;
	int status;

	e.log = mmap(NULL, sizeof *e.log, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (e.log == MAP_FAILED) {
		perror("lockstep: no memory to explore with");
		return DIST_EXIT_INTERNAL;
	}
	dist__progress_begin(&progress, "exploring", 0,
			     (int64_t)bounds->seconds * 1000000000);
	explore(&e, one_rule);
	dist__progress_end(&progress);
	status = conclude(&e);
	release_ending(&e.usual);
	release_ending(&e.unusual);
	release_ending(&e.bad);
	(void)munmap(e.log, sizeof *e.log);
	return status;
}
