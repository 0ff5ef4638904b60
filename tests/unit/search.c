/*
 * The search over matches, held against trying all options in all orders: on
 * programs drawn by lot it sees every way to match messages and receives, and
 * no way twice. The programs run in a model of a few lines: sends are buffered,
 * ranks go on as far as they can, then one receive from any source is served.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explore/search.h"
#include "base/random.h"

enum { RANKS = 4, OPS = 5, ANY = -1, MOST_WAYS = 20000 };

struct op {
	bool is_send;
	int peer; /* ANY: a receive from any source */
};

struct program {
	struct op ops[RANKS][OPS];
	int count[RANKS];
};

/* A way to match: for each op of each rank, a receive, whom it heard. */
struct way {
	signed char heard[RANKS][OPS];
};

/* A rank's messages that nobody has taken, by their senders, as they came. */
struct box {
	int senders[RANKS * OPS];
	int count;
};

struct state {
	const struct program *program;
	struct box boxes[RANKS];
	int at[RANKS];
	struct way way;
	struct dist__sim_log *log;
};

/* A message here, its receive there; half of the receives are from any. */
static void draw(struct program *program, uint64_t seed)
{
	int messages = 3 + (int)(dist__random_next(&seed) % 5);

	memset(program, 0, sizeof *program);
	for (int i = 0; i < messages; i++) {
		int src = (int)(dist__random_next(&seed) % RANKS);
		int dst = (src + 1 +
			   (int)(dist__random_next(&seed) % (RANKS - 1))) %
			  RANKS;
		int heard = dist__random_next(&seed) % 2 ? ANY : src;

		if (program->count[src] == OPS || program->count[dst] == OPS)
			continue;
		program->ops[src][program->count[src]++] =
			(struct op){true, dst};
		program->ops[dst][program->count[dst]++] =
			(struct op){false, heard};
	}
}

/* ---- the model -------------------------------------------------------- */

static const struct op *op_of(const struct state *s, int rank)
{
	return s->at[rank] < s->program->count[rank]
		       ? &s->program->ops[rank][s->at[rank]]
		       : NULL;
}

static void note_letter(struct dist__sim_log *log, int src, int dst)
{
	for (uint32_t i = 0; i < log->num_steps; i++) {
		struct dist__sim_step *step = &log->steps[i];
		const struct dist__sim_option *taken =
			&log->options[step->first + step->taken];
		bool had = false;

		for (uint32_t o = 0; o < step->count; o++) {
			const struct dist__sim_option *option =
				&log->options[step->first + o];

			had |= option->rank == dst && option->sender == src;
		}
		step->raced |= taken->rank == dst && !had;
	}
}

static bool take(struct state *s, int rank, int src)
{
	struct box *box = &s->boxes[rank];
	int i = 0;

	while (i < box->count && box->senders[i] != src)
		i++;
	if (i == box->count)
		return false;
	memmove(&box->senders[i], &box->senders[i + 1],
		(size_t)(box->count - i - 1) * sizeof box->senders[0]);
	box->count--;
	s->way.heard[rank][s->at[rank]++] = (signed char)src;
	return true;
}

static bool step(struct state *s, int rank)
{
	const struct op *op = op_of(s, rank);
	struct box *to;

	if (!op || (!op->is_send && op->peer == ANY))
		return false;
	if (!op->is_send)
		return take(s, rank, op->peer);
	to = &s->boxes[op->peer];
	to->senders[to->count++] = rank;
	s->at[rank]++;
	note_letter(s->log, rank, op->peer);
	return true;
}

/* Lets all ranks go on as far as they can, then finds the options. */
static uint32_t settle(struct state *s, struct dist__sim_option *options)
{
	uint32_t count = 0;
	bool moved;

	do {
		moved = false;
		for (int rank = 0; rank < RANKS; rank++)
			while (step(s, rank))
				moved = true;
	} while (moved);
	for (int rank = 0; rank < RANKS; rank++) {
		const struct op *op = op_of(s, rank);
		unsigned seen = 0;

		for (int i = 0; op && i < s->boxes[rank].count; i++) {
			int src = s->boxes[rank].senders[i];

			if (op->peer != ANY || (seen & 1U << src))
				continue;
			seen |= 1U << src;
			options[count++] = (struct dist__sim_option){
				rank, (uint32_t)s->at[rank], src};
		}
	}
	return count;
}

static void begin(struct state *s, const struct program *program,
		  struct dist__sim_log *log)
{
	memset(s, 0, sizeof *s);
	memset(s->way.heard, ANY, sizeof s->way.heard);
	memset(log, 0, offsetof(struct dist__sim_log, options));
	s->program = program;
	s->log = log;
}

/* ---- all orders ------------------------------------------------------- */

struct ways {
	struct way all[MOST_WAYS];
	size_t count;
};

static bool add(struct ways *ways, const struct way *way)
{
	for (size_t i = 0; i < ways->count; i++)
		if (memcmp(&ways->all[i], way, sizeof *way) == 0)
			return false;
	cr_assert_lt(ways->count, MOST_WAYS);
	ways->all[ways->count++] = *way;
	return true;
}

static void try_all(const struct state *before, struct ways *ways)
{
	struct dist__sim_option options[RANKS * RANKS];
	struct state s = *before;
	uint32_t count = settle(&s, options);

	if (count == 0)
		(void)add(ways, &s.way);
	for (uint32_t i = 0; i < count; i++) {
		struct state after = s;

		(void)take(&after, options[i].rank, options[i].sender);
		try_all(&after, ways);
	}
}

/* ---- by plan ---------------------------------------------------------- */

static bool is_asleep(const struct dist__sim_plan *plan, uint32_t steps,
		      const struct dist__sim_option *option)
{
	for (size_t i = 0; steps >= plan->prefix && i < plan->num_asleep; i++)
		if (memcmp(&plan->asleep[i], option, sizeof *option) == 0)
			return true;
	return false;
}

/* Returns the option to take; count: all are asleep. */
static uint32_t pick(const struct dist__sim_plan *plan, uint32_t steps,
		     uint32_t *point, const struct dist__sim_option *options,
		     uint32_t count)
{
	uint32_t option = 0;

	if (count > 1) {
		uint32_t here = (*point)++;

		for (size_t i = 0; i < plan->num_choices; i++)
			if (plan->choices[i].point == here)
				return plan->choices[i].option;
	}
	while (option < count && is_asleep(plan, steps, &options[option]))
		option++;
	return option;
}

static void run(struct state *s, const struct dist__sim_plan *plan)
{
	struct dist__sim_option options[RANKS * RANKS];
	struct dist__sim_log *log = s->log;
	uint32_t count, taken, point = 0;

	log->fate = DIST__SIM_JUDGED;
	while ((count = settle(s, options)) > 0) {
		taken = pick(plan, log->num_steps, &point, options, count);
		if (taken == count) {
			log->fate = DIST__SIM_REDUNDANT;
			return;
		}
		log->steps[log->num_steps++] =
			(struct dist__sim_step){.first = log->num_options,
						.count = count,
						.taken = taken};
		memcpy(&log->options[log->num_options], options,
		       count * sizeof options[0]);
		log->num_options += count;
		(void)take(s, options[taken].rank, options[taken].sender);
	}
}

static void search_all(const struct program *program, struct dist__sim_log *log,
		       struct ways *ways)
{
	struct dist__sim_plan plan = {.chooses = true};
	struct dist__sim_search search;
	struct state s;
	bool again;

	dist__sim_search_init(&search);
	do {
		begin(&s, program, log);
		run(&s, &plan);
		cr_expect(log->fate == DIST__SIM_REDUNDANT || add(ways, &s.way),
			  "a way was seen twice");
		cr_assert(dist__sim_search_learn(&search, log));
		dist__sim_plan_release(&plan);
		again = dist__sim_search_next(&search, &plan);
	} while (again);
	cr_expect(search.is_complete);
	cr_expect_eq(search.runs, ways->count);
	dist__sim_search_release(&search);
}

Test(search, sees_every_way_to_match_and_none_twice)
{
	struct dist__sim_log *log = calloc(1, sizeof *log);
	struct ways *all = calloc(1, sizeof *all);
	struct ways *found = calloc(1, sizeof *found);
	struct program program;
	struct state s;
	size_t most = 0;

	cr_assert(log && all && found);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		draw(&program, seed);
		all->count = found->count = 0;
		begin(&s, &program, log);
		try_all(&s, all);
		search_all(&program, log, found);
		cr_expect_eq(found->count, all->count,
			     "seed %d: %zu ways of %zu", (int)seed,
			     found->count, all->count);
		for (size_t i = 0; i < all->count; i++)
			cr_expect_not(add(found, &all->all[i]),
				      "seed %d: a way was not seen", (int)seed);
		most = all->count > most ? all->count : most;
	}
	cr_expect_gt(most, 5, "the programs are too simple");
	free(log);
	free(all);
	free(found);
}
