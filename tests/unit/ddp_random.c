/* Training programs drawn by lot. Of right ones the averages are what
 * arithmetic says, and no verdict is given; a fault on one rank is seen for
 * what it is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/ddp.h"
#include "tests/support/simulate.h"

#define PROGRAMS   200
#define MOST       6 /* parameters */
#define MOST_NUMEL 5
#define STEPS      3
#define RANKS      4

/* What is drawn for so many things; the same for everyone who asks. */
static unsigned draw(unsigned program, unsigned what, unsigned of, unsigned who)
{
	uint64_t x = program;

	x = x * 1000003 + what;
	x = x * 1000003 + of;
	x = x * 1000003 + who;
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(x >> 40);
}

enum { PARAMS, NUMEL, CAP, VIEWS, FIND, STATIC, BATCHES, USED, VALUE };

/* What the last rank does wrong, all in its second step but NAMES and GRAPH. */
enum fault {
	RIGHT,
	NAMES,    /* registers its parameters by other names */
	GRAPH,    /* its static graph lacks a parameter */
	UNMARKED, /* a parameter has no gradient */
	NO_SYNC,  /* does not average */
	NO_STEP,  /* does not tell of the step */
	NO_INPUT, /* leaves */
	FAULTS
};

struct trainer {
	unsigned program;
	enum fault kind;  /* of the program */
	enum fault fault; /* of this rank: its kind, or RIGHT */
	unsigned num;     /* parameters */
	struct dist_group *group;
	struct dist_ddp *ddp;
	float values[MOST][MOST_NUMEL], gradients[MOST][MOST_NUMEL];
};

static unsigned numel_of(const struct trainer *t, unsigned param)
{
	return 1 + draw(t->program, NUMEL, param, 0) % MOST_NUMEL;
}

static bool is_static(const struct trainer *t)
{
	if (t->kind != RIGHT)
		return t->kind == GRAPH;
	return draw(t->program, STATIC, 0, 0) % 3 == 0;
}

static bool finds_unused(const struct trainer *t)
{
	return t->kind != UNMARKED && draw(t->program, FIND, 0, 0) % 2 == 0;
}

/* Each rank has its own number of micro-batches in a step. */
static unsigned batches(const struct trainer *t, unsigned rank, unsigned step)
{
	return 1 + draw(t->program, BATCHES, step, rank) % 3;
}

static bool uses(const struct trainer *t, unsigned rank, unsigned step,
		 unsigned batch, unsigned param)
{
	if (is_static(t))
		return param == 0 || draw(t->program, USED, param, 0) % 4 > 0;
	return !finds_unused(t) ||
	       draw(t->program, USED, param * 100 + step * 10 + batch, rank) %
		       3;
}

static float value(const struct trainer *t, unsigned rank, unsigned step,
		   unsigned batch, unsigned param)
{
	return (float)(draw(t->program, VALUE, param * 100 + step * 10 + batch,
			    rank) %
		       16);
}

/* The average of what all ranks add in a step. */
static float average(const struct trainer *t, unsigned step, unsigned param)
{
	float sum = 0;

	for (unsigned rank = 0; rank < RANKS; rank++)
		for (unsigned b = 0; b < batches(t, rank, step); b++)
			if (uses(t, rank, step, b, param))
				sum += value(t, rank, step, b, param);
	return sum / RANKS;
}

static enum dist_error make(struct trainer *t)
{
	static const char *const names[MOST + 1] = {"a", "b", "c", "d",
						    "e", "f", "g"};
	const struct dist_ddp_options options = {
		.bucket_cap_mb =
			(1 + draw(t->program, CAP, 0, 0) % 40) / 1048576.0,
		.first_bucket_mb =
			(1 + draw(t->program, CAP, 1, 0) % 40) / 1048576.0,
		.gradient_as_bucket_view =
			draw(t->program, VIEWS, 0, 0) % 2 == 0,
		.find_unused_parameters = finds_unused(t),
		.static_graph = is_static(t)};
	struct dist_ddp_parameter params[MOST];

	t->num = 1 + draw(t->program, PARAMS, 0, 0) % MOST;
	for (unsigned i = 0; i < t->num; i++)
		params[i] = (struct dist_ddp_parameter){
			names[t->fault == NAMES ? i + 1 : i],
			dist_tensor(t->values[i], numel_of(t, i), DIST_FLOAT32),
			dist_tensor(t->gradients[i], numel_of(t, i),
				    DIST_FLOAT32)};
	return dist_ddp_new(t->group, params, t->num, &options, &t->ddp);
}

/* Whether the rank wrongly does not mark the first parameter. */
static bool lacks(const struct trainer *t, unsigned step)
{
	return t->fault == GRAPH || (t->fault == UNMARKED && step == 1);
}

/* Backward, in an order that each rank draws for itself. */
static enum dist_error backward(struct trainer *t, unsigned rank, unsigned step,
				unsigned batch)
{
	unsigned turn = draw(t->program, USED, step, rank);
	enum dist_error error = DIST_OK;

	for (unsigned k = 0; k < t->num && !error; k++) {
		unsigned param = (turn + k) % t->num;
		struct dist_tensor g = dist_ddp_gradient(t->ddp, param);

		if (!uses(t, rank, step, batch, param) ||
		    (param == 0 && lacks(t, step)))
			continue;
		for (unsigned i = 0; i < g.numel; i++)
			((float *)g.data)[i] +=
				value(t, rank, step, batch, param);
		error = dist_ddp_gradient_ready(t->ddp, param);
	}
	return error;
}

/* Counts the wrong averages of a step, and makes the gradients zero. */
static int check(struct trainer *t, unsigned step)
{
	int wrong = 0;

	for (unsigned param = 0; param < t->num; param++) {
		struct dist_tensor g = dist_ddp_gradient(t->ddp, param);

		for (unsigned i = 0; i < g.numel; i++)
			wrong +=
				((float *)g.data)[i] != average(t, step, param);
		memset(g.data, 0, g.numel * sizeof(float));
	}
	return wrong;
}

static enum dist_error take_step(struct trainer *t, unsigned rank,
				 unsigned step)
{
	unsigned num = batches(t, rank, step);
	enum dist_error error = DIST_OK;

	for (unsigned batch = 0; batch < num && !error; batch++) {
		if (batch + 1 < num || (t->fault == NO_SYNC && step == 1))
			error = dist_ddp_no_sync(t->ddp);
		if (!error)
			error = backward(t, rank, step, batch);
		if (!error)
			error = dist_ddp_finish(t->ddp);
	}
	if (!error && (t->fault != NO_STEP || step != 1))
		error = dist_ddp_optimizer_step(t->ddp);
	return error;
}

static enum dist_error train(struct trainer *t, int *wrong)
{
	unsigned rank = (unsigned)dist_get_rank(t->group);
	enum dist_error error = make(t);

	for (unsigned step = 0; step < STEPS && !error; step++) {
		if (t->fault == NO_INPUT && step == 1)
			break;
		error = take_step(t, rank, step);
		if (!error)
			*wrong += check(t, step);
	}
	return error;
}

/* ---- right ones -------------------------------------------------------- */

/* All programs, one after the other: a process has one simulation. */
static int right_rank(void *arg)
{
	enum dist_error error = DIST_OK;
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	for (unsigned i = 0; i < PROGRAMS && !error && !wrong; i++) {
		struct trainer t = {.program = i, .group = group};

		error = train(&t, &wrong);
		if (error || wrong)
			fprintf(stderr, "program %u: %d wrong; %s\n", i, wrong,
				dist_ddp_error_message(t.ddp));
		dist_ddp_free(t.ddp);
	}
	return dist_destroy_process_group(group) || error || wrong;
}

static int run(const char *backend, int (*rank_main)(void *arg), void *arg)
{
	return launch_ranks(backend, "scenarios/platforms/star-8.xml", RANKS,
			    rank_main, arg);
}

Test(ddp_random, right_programs_simulated)
{
	cr_expect_eq(run("sim", right_rank, NULL), 0);
}

Test(ddp_random, right_programs_over_tcp)
{
	cr_expect_eq(run("tcp", right_rank, NULL), 0);
}

/* ---- wrong ones -------------------------------------------------------- */

static int wrong_rank(void *arg)
{
	struct trainer t = *(const struct trainer *)arg;
	enum dist_error error;
	int wrong = 0;

	if (dist_init_process_group(NULL, &t.group))
		return 1;
	if (dist_get_rank(t.group) == RANKS - 1)
		t.fault = t.kind;
	error = train(&t, &wrong);
	dist_ddp_free(t.ddp);
	return dist_destroy_process_group(t.group) || error;
}

/* Runs a program in a process of its own, which says nothing. */
static int run_alone(unsigned program, enum fault fault)
{
	struct trainer t = {.program = program, .kind = fault};
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(DIST_EXIT_INTERNAL);
		_exit(run("sim", wrong_rank, &t));
	}
	cr_assert(child > 0 && waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(ddp_random, faults_on_one_rank_are_seen)
{
	static const int ends[FAULTS] = {
		[RIGHT] = DIST_EXIT_OK,          [NAMES] = DIST_EXIT_MISMATCH,
		[GRAPH] = DIST_EXIT_MISMATCH,    [UNMARKED] = DIST_EXIT_INVALID,
		[NO_SYNC] = DIST_EXIT_INVALID,   [NO_STEP] = DIST_EXIT_MISMATCH,
		[NO_INPUT] = DIST_EXIT_DEADLOCK,
	};

	for (unsigned program = 0; program < 10; program++)
		for (int fault = 0; fault < FAULTS; fault++)
			cr_expect_eq(run_alone(program, (enum fault)fault),
				     ends[fault], "program %u, fault %d",
				     program, fault);
}
