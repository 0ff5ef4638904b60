#include "tests/property/program.h"
#include "base/random.h"

#include <string.h>

/* ---- the lot ---------------------------------------------------------- */

int program_lot(uint64_t *state, int n)
{
	return (int)(dist__random_next(state) % (uint64_t)n);
}

static bool chance(uint64_t *state, int percent)
{
	return program_lot(state, 100) < percent;
}

static bool is_in(unsigned members, int rank)
{
	return members >> rank & 1U;
}

static int count(unsigned members)
{
	int n = 0;

	for (; members; members &= members - 1)
		n++;
	return n;
}

/* A member, not `other` (-1: whichever). */
static int draw_member(uint64_t *state, unsigned members, int other)
{
	int rank;

	do
		rank = program_lot(state, MOST_RANKS);
	while (!is_in(members, rank) || rank == other);
	return rank;
}

bool program_has_root(enum act act)
{
	return act == ACT_REDUCE || act == ACT_BROADCAST || act == ACT_GATHER ||
	       act == ACT_SCATTER;
}

bool program_reduces(enum act act)
{
	return act == ACT_ALL_REDUCE || act == ACT_REDUCE ||
	       act == ACT_REDUCE_SCATTER;
}

/* ---- a right program -------------------------------------------------- */

/* A program as it is being drawn. */
struct pen {
	struct program *program;
	uint64_t state;
	int step;
	/* By rank and number: steps to wait for, and when. */
	struct {
		int step, due;
		struct call call;
	} waits[MOST_RANKS][MOST_STEPS];
	int num_waits[MOST_RANKS];
};

static void append(struct pen *pen, int rank, const struct call *call)
{
	struct rank_program *list = &pen->program->ranks[rank];

	if (list->num_calls < MOST_CALLS)
		list->calls[list->num_calls++] = *call;
}

/* The rank waits for what is due. */
static void settle(struct pen *pen, int rank, bool all)
{
	int kept = 0;

	for (int i = 0; i < pen->num_waits[rank]; i++) {
		if (all || pen->waits[rank][i].due <= pen->step)
			append(pen, rank, &pen->waits[rank][i].call);
		else
			pen->waits[rank][kept++] = pen->waits[rank][i];
	}
	pen->num_waits[rank] = kept;
}

/* The rank makes call, blocking or not. */
static void make(struct pen *pen, int rank, struct call call)
{
	int i = pen->num_waits[rank];

	call.step = pen->step;
	call.async = call.act != ACT_NEW_GROUP && chance(&pen->state, 35);
	append(pen, rank, &call);
	if (!call.async)
		return;
	call.act = ACT_WAIT;
	call.line += 5;
	pen->waits[rank][i].due = pen->step + program_lot(&pen->state, 4);
	pen->waits[rank][i].call = call;
	pen->num_waits[rank]++;
}

static const enum dist_dtype dtypes[] = {DIST_FLOAT32, DIST_FLOAT64, DIST_INT32,
					 DIST_INT64, DIST_BFLOAT16};
static const enum dist_reduce_op reduce_ops[] = {DIST_SUM, DIST_MAX, DIST_MIN,
						 DIST_PRODUCT, DIST_AVG};

#define DRAW_OF(state, table)                                                  \
	((table)[program_lot((state), sizeof(table) / sizeof *(table))])

static struct call draw_collective(struct pen *pen, int line)
{
	const struct program *program = pen->program;
	struct call call = {
		.act = (enum act)program_lot(&pen->state, ACT_SCATTER + 1),
		.line = line,
		.group =
			chance(&pen->state, 60)
				? 0
				: program_lot(&pen->state, program->num_groups),
		.dtype = DRAW_OF(&pen->state, dtypes),
		.numel = (size_t)(1 + program_lot(&pen->state, 64)),
		.reduce_op = DRAW_OF(&pen->state, reduce_ops),
		.peer = -1,
		.tag = -1,
	};

	if (chance(&pen->state, 30))
		call.act = ACT_ALL_REDUCE;
	if (program_has_root(call.act))
		call.peer = draw_member(&pen->state,
					program->members[call.group], -1);
	return call;
}

static struct call draw_message(struct pen *pen, int line, int *src)
{
	struct call call = draw_collective(pen, line);
	unsigned members = pen->program->members[call.group];

	call.act = ACT_SEND;
	call.tag = program_lot(&pen->state, 3);
	*src = draw_member(&pen->state, members, -1);
	call.peer = draw_member(&pen->state, members, *src);
	return call;
}

static struct call compute_at(int line)
{
	return (struct call){.act = ACT_COMPUTE, .line = line, .peer = -1};
}

/* What a line of the source does, whenever it is come by. */
struct source_line {
	struct call call;
	int src; /* of a message */
};

static void take(struct pen *pen, const struct source_line *line)
{
	const struct call *call = &line->call;
	unsigned members = pen->program->members[call->group];

	for (int rank = 0; rank < pen->program->world_size; rank++) {
		struct call own = *call;

		if (call->act == ACT_SEND && rank == call->peer) {
			own.act = ACT_RECV;
			own.peer = line->src;
			own.line++;
		} else if (call->act == ACT_SEND && rank != line->src) {
			continue;
		}
		if (!is_in(members, rank))
			continue;
		if (call->act == ACT_COMPUTE) {
			own.duration_ns = program_lot(&pen->state, 100000);
			append(pen, rank, &own);
		} else {
			make(pen, rank, own);
		}
		settle(pen, rank, false);
	}
	pen->step++;
}

static void draw_line(struct pen *pen, int number, struct source_line *line)
{
	int lot = program_lot(&pen->state, 100);

	*line = (struct source_line){.src = -1};
	if (lot < 60)
		line->call = draw_collective(pen, number);
	else if (lot < 90)
		line->call = draw_message(pen, number, &line->src);
	else
		line->call = compute_at(number);
}

/* Two ranks or more, and not those of a group before. */
static unsigned draw_members(struct pen *pen)
{
	const struct program *program = pen->program;
	unsigned all = program->members[0], members;
	bool taken;

	do {
		members = (unsigned)program_lot(&pen->state, (int)all + 1);
		taken = count(members) < 2;
		for (int i = 1; i < program->num_groups; i++)
			taken |= program->members[i] == members;
	} while (taken);
	return members;
}

static void draw_groups(struct pen *pen)
{
	struct program *program = pen->program;
	int n = program->world_size > 2 ? program_lot(&pen->state, MOST_GROUPS)
					: 0;

	program->members[0] = (1U << program->world_size) - 1;
	program->num_groups = 1;
	for (int i = 1; i <= n; i++) {
		struct source_line line = {.src = -1};
		unsigned members = draw_members(pen);

		line.call = (struct call){.act = ACT_NEW_GROUP,
					  .line = 20 + 10 * i,
					  .made = i,
					  .members = members,
					  .peer = -1,
					  .tag = -1};
		take(pen, &line);
		program->members[i] = members;
		program->num_groups++;
	}
}

void program_draw(struct program *program, uint64_t seed)
{
	struct pen pen = {.program = program, .state = seed};
	int blocks, line = 100;

	*program = (struct program){.seed = seed};
	program->world_size = 2 + program_lot(&pen.state, MOST_RANKS - 1);
	draw_groups(&pen);
	blocks = 2 + program_lot(&pen.state, 5);
	for (int b = 0; b < blocks && pen.step < MOST_STEPS / 2; b++) {
		struct source_line body[4];
		int lines = 1 + program_lot(&pen.state, 4);
		int times = chance(&pen.state, 25)
				    ? 1 + program_lot(&pen.state, 12)
				    : 1;

		for (int i = 0; i < lines; i++, line += 10)
			draw_line(&pen, line, &body[i]);
		for (int t = 0; t < times; t++)
			for (int i = 0; i < lines; i++)
				take(&pen, &body[i]);
	}
	for (int rank = 0; rank < program->world_size; rank++)
		settle(&pen, rank, true);
}

/* ---- a wrong one ------------------------------------------------------ */

static const char *const fault_names[] = {
	"skip", "extra", "swap",  "kind", "count", "dtype", "reduce op", "root",
	"tag",  "peer",  "group", "list", "leave", "fail",  "late"};

const char *fault_name(enum fault_kind kind)
{
	return fault_names[kind];
}

static bool suits(const struct program *program, int rank, int i,
		  enum fault_kind kind)
{
	const struct rank_program *list = &program->ranks[rank];
	const struct call *call = &list->calls[i];

	if (!program_is_op(call->act))
		return false;
	switch (kind) {
	case FAULT_KIND:
		return call->act <= ACT_SCATTER;
	case FAULT_COUNT:
	case FAULT_DTYPE:
		return call->act != ACT_BARRIER && call->act != ACT_NEW_GROUP;
	case FAULT_REDUCE:
		return program_reduces(call->act);
	case FAULT_ROOT:
		return program_has_root(call->act);
	case FAULT_TAG:
		return program_is_message(call->act);
	case FAULT_PEER:
		return program_is_message(call->act) &&
		       count(program->members[call->group]) > 2;
	case FAULT_GROUP:
		return call->act <= ACT_SCATTER && program->num_groups > 1;
	case FAULT_LIST:
		return call->act == ACT_NEW_GROUP && program->world_size > 2;
	case FAULT_SWAP:
		for (int j = i + 1; j < list->num_calls; j++)
			if (program_is_op(list->calls[j].act))
				return true;
		return false;
	case FAULT_LATE:
		return call->act <= ACT_NEW_GROUP;
	case FAULT_EXTRA:
		return call->act != ACT_NEW_GROUP;
	default:
		return true;
	}
}

static void drop(struct rank_program *list, int i)
{
	memmove(&list->calls[i], &list->calls[i + 1],
		(size_t)(--list->num_calls - i) * sizeof list->calls[0]);
}

static void insert(struct rank_program *list, int i, const struct call *call)
{
	if (list->num_calls == MOST_CALLS)
		list->num_calls--;
	memmove(&list->calls[i + 1], &list->calls[i],
		(size_t)(list->num_calls++ - i) * sizeof list->calls[0]);
	list->calls[i] = *call;
}

/* Calls i and the next one that is an operation change places; a wait for
 * either comes after both, as it would in a source. */
static void swap(struct rank_program *list, int i, struct fault *fault)
{
	struct call first = list->calls[i];
	int j = i + 1;

	while (!program_is_op(list->calls[j].act))
		j++;
	fault->other_line = first.line;
	fault->line = list->calls[j].line;
	drop(list, i);
	insert(list, j, &first);
	for (int k = i; k < j; k++)
		if (list->calls[k].act == ACT_WAIT &&
		    list->calls[k].step == first.step) {
			struct call wait = list->calls[k];

			insert(list, j + 1, &wait);
			drop(list, k);
			break;
		}
}

static int other_group(const struct program *program, uint64_t *state, int rank,
		       int group)
{
	int from = program_lot(state, MOST_GROUPS);

	for (int i = 0; i < MOST_GROUPS; i++) {
		int g = (from + i) % MOST_GROUPS;

		if (g < program->num_groups && g != group &&
		    is_in(program->members[g], rank))
			return g;
	}
	return -1;
}

static bool move_group(const struct program *program, uint64_t *state, int rank,
		       struct call *call)
{
	int group = other_group(program, state, rank, call->group);

	if (group < 0)
		return false;
	call->group = group;
	if (call->peer >= 0 && !is_in(program->members[group], call->peer))
		call->peer = rank;
	return true;
}

/* Spoils the arguments of a call. */
static bool spoil_call(const struct program *program, uint64_t *state, int rank,
		       enum fault_kind kind, struct call *call)
{
	const struct call right = *call;
	unsigned members = program->members[call->group];

	switch (kind) {
	case FAULT_KIND:
		while (call->act == right.act)
			call->act =
				(enum act)program_lot(state, ACT_SCATTER + 1);
		call->line++;
		if (program_has_root(call->act) && call->peer < 0)
			call->peer = draw_member(state, members, -1);
		return true;
	case FAULT_COUNT:
		call->numel += (size_t)(1 + program_lot(state, 4));
		return true;
	case FAULT_DTYPE:
		while (call->dtype == right.dtype)
			call->dtype = DRAW_OF(state, dtypes);
		return true;
	case FAULT_REDUCE:
		while (call->reduce_op == right.reduce_op)
			call->reduce_op = DRAW_OF(state, reduce_ops);
		return true;
	case FAULT_ROOT:
		call->peer = draw_member(state, members, right.peer);
		return true;
	case FAULT_TAG:
		call->tag += 1 + program_lot(state, 3);
		return true;
	case FAULT_PEER:
		while (call->peer == right.peer)
			call->peer = draw_member(state, members, rank);
		return true;
	case FAULT_GROUP:
		return move_group(program, state, rank, call);
	case FAULT_LIST:
		while (call->members == right.members ||
		       count(call->members) < 2)
			call->members =
				right.members ^
				1U << program_lot(state, program->world_size);
		return true;
	default:
		return false;
	}
}

static bool spoil_at(struct program *program, uint64_t *state, int i,
		     struct fault *fault)
{
	struct rank_program *list = &program->ranks[fault->rank];
	struct call call = list->calls[i];

	fault->line = fault->other_line = call.line;
	if (call.act == ACT_SEND)
		fault->other_line++;
	else if (call.act == ACT_RECV)
		fault->other_line--;
	switch (fault->kind) {
	case FAULT_SKIP:
		drop(list, i);
		return true;
	case FAULT_EXTRA:
		call.async = false;
		call.line = ++fault->line;
		fault->other_line = 0;
		insert(list, i + 1, &call);
		return true;
	case FAULT_SWAP:
		swap(list, i, fault);
		return true;
	case FAULT_LEAVE:
	case FAULT_FAIL:
		call.act = ACT_EXIT;
		call.status = fault->kind == FAULT_FAIL;
		list->calls[i] = call;
		list->num_calls = i + 1;
		return true;
	case FAULT_LATE:
		call.act = ACT_COMPUTE;
		call.duration_ns = 3 * PROGRAM_TIMEOUT_NS;
		insert(list, i, &call);
		return true;
	default:
		if (!spoil_call(program, state, fault->rank, fault->kind,
				&list->calls[i]))
			return false;
		fault->line = list->calls[i].line;
		return true;
	}
}

bool program_spoil(struct program *program, enum fault_kind kind,
		   struct fault *fault)
{
	uint64_t state = program->seed ^ UINT64_C(0xfa017) * (kind + 1U);
	int i;

	for (int tries = 0; tries < 100; tries++) {
		*fault = (struct fault){.kind = kind};
		fault->rank = program_lot(&state, program->world_size);
		if (program->ranks[fault->rank].num_calls == 0)
			continue;
		i = program_lot(&state, program->ranks[fault->rank].num_calls);
		if (suits(program, fault->rank, i, kind) &&
		    spoil_at(program, &state, i, fault))
			return true;
	}
	return false;
}

/* ---- in writing ------------------------------------------------------- */

static const char *const act_names[] = {
	"all_reduce",     "reduce",     "broadcast", "barrier", "all_gather",
	"reduce_scatter", "all_to_all", "gather",    "scatter", "new_group",
	"send",           "recv",       "wait",      "compute", "exit"};

const char *act_name(enum act act)
{
	return act_names[act];
}

static void print_call(FILE *out, const struct call *call)
{
	fprintf(out, "  %4d  %s%s", call->line, act_name(call->act),
		call->async && call->act != ACT_WAIT ? ", async" : "");
	if (program_is_op(call->act))
		fprintf(out, ", group %d, %zu of type %d", call->group,
			call->numel, (int)call->dtype);
	if (program_reduces(call->act))
		fprintf(out, ", op %d", (int)call->reduce_op);
	if (call->peer >= 0)
		fprintf(out, ", peer %d", call->peer);
	if (program_is_message(call->act))
		fprintf(out, ", tag %d", call->tag);
	if (call->act == ACT_NEW_GROUP)
		fprintf(out, ", makes %d of ranks %#x", call->made,
			call->members);
	fputc('\n', out);
}

void program_print(FILE *out, const struct program *program)
{
	fprintf(out, "program %llu of %d ranks\n",
		(unsigned long long)program->seed, program->world_size);
	for (int rank = 0; rank < program->world_size; rank++) {
		fprintf(out, "rank %d:\n", rank);
		for (int i = 0; i < program->ranks[rank].num_calls; i++)
			print_call(out, &program->ranks[rank].calls[i]);
	}
}
