/* The words of a sweep: names, flags, the table in nccl-tests' columns; and the
 * sweeps as programs, all_reduce, broadcast, reduce. */
#include "scenarios/sweep.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "scenarios/scenario.h"

/* Whether a and b are the same but for underscores, and for what nccl-tests
 * puts behind the name of a program. */
static bool is_same_word(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "_");
		b += strspn(b, "_");
		if (*a != *b || !*a)
			return *a == *b || (!*a && strcmp(b, "perf") == 0);
	}
}

int sweep_find(const char *name)
{
	for (int i = 0; i <= COLLECTIVE_SENDRECV; i++)
		if (is_same_word(sweep_name((enum collective)i), name))
			return i;
	return -1;
}

bool sweep_reduces(enum collective collective)
{
	return collective == COLLECTIVE_ALL_REDUCE ||
	       collective == COLLECTIVE_REDUCE ||
	       collective == COLLECTIVE_REDUCE_SCATTER;
}

static bool is_rooted(enum collective collective)
{
	return collective == COLLECTIVE_BROADCAST ||
	       collective == COLLECTIVE_REDUCE ||
	       collective == COLLECTIVE_GATHER ||
	       collective == COLLECTIVE_SCATTER;
}

bool sweep_is_in_place(enum collective collective)
{
	return collective != COLLECTIVE_ALL_TO_ALL &&
	       collective != COLLECTIVE_SENDRECV;
}

const char *sweep_name(enum collective collective)
{
	return collective == COLLECTIVE_ALL_TO_ALL
		       ? "alltoall"
		       : collective_name(collective);
}

/* nccl-tests' names of the types and operations that it has too; ours of bool
 * and of bits. Ended by NULL. */
struct word {
	const char *name;
	int value;
};

static const struct word dtypes[] = {
	{"float", DIST_FLOAT32}, {"double", DIST_FLOAT64},
	{"half", DIST_FLOAT16},  {"bfloat16", DIST_BFLOAT16},
	{"int8", DIST_INT8},     {"uint8", DIST_UINT8},
	{"int32", DIST_INT32},   {"int64", DIST_INT64},
	{"bool", DIST_BOOL},     {NULL, 0}};
static const struct word ops[] = {
	{"sum", DIST_SUM}, {"prod", DIST_PRODUCT}, {"min", DIST_MIN},
	{"max", DIST_MAX}, {"avg", DIST_AVG},      {"band", DIST_BAND},
	{"bor", DIST_BOR}, {"bxor", DIST_BXOR},    {NULL, 0}};

static const char *name_of(const struct word *words, int value)
{
	while (words->name && words->value != value)
		words++;
	return words->name ? words->name : "?";
}

static const char *const averages[] = {"rank 0's", "all ranks' average",
				       "the fastest rank's",
				       "the slowest rank's"};
#define AVERAGES "0 (rank 0), 1 (average), 2 (fastest rank) or 3 (slowest rank)"

#define HEADER_LINE "#%12s %13s %9s %7s %7s %9s %8s %8s %7s %10s %10s\n"

void sweep_print_header(FILE *out, const struct sweep *sweep, int world_size,
			const char *backend)
{
	bool stepped = sweep->step_bytes > 0;

	fprintf(out,
		"# collective: %s ranks: %d backend: %s\n"
		"# minBytes %zu maxBytes %zu step: %g(%s) warmup iters: %d "
		"iters: %d validate: %d\n",
		sweep_name(sweep->collective), world_size, backend,
		sweep->min_bytes, sweep->max_bytes,
		stepped ? (double)sweep->step_bytes : sweep->factor,
		stepped ? "bytes" : "factor", sweep->warmup, sweep->iterations,
		sweep->check);
	fprintf(out, "# %s%s%s; time is the median over the iterations of %s\n",
		sweep_is_in_place(sweep->collective) ? "in-place"
						     : "out-of-place",
		sweep->cold ? ", cold: caches emptied before each call" : "",
		sweep->together ? ", started together by the clock" : "",
		averages[sweep->average]);
	if (sweep->calls > 1)
		fprintf(out,
			"# agg iters: %d, timed together; time is a call's\n",
			sweep->calls);
	fprintf(out, "#\n");
	fprintf(out, HEADER_LINE, "size", "count", "type", "redop", "root",
		"time", "algbw", "busbw", "#wrong", "min", "max");
	fprintf(out, HEADER_LINE, "(B)", "(elements)", "", "", "", "(us)",
		"(GB/s)", "(GB/s)", "", "(us)", "(us)");
	fflush(out);
}

void sweep_print_row(FILE *out, const struct sweep *sweep,
		     const struct sweep_row *row)
{
	int root = is_rooted(sweep->collective) ? sweep->root : -1;
	const char *op = sweep_reduces(sweep->collective)
				 ? name_of(ops, (int)sweep->op)
				 : "none";
	char wrong[24] = "N/A";

	if (row->wrong >= 0)
		snprintf(wrong, sizeof wrong, "%" PRId64, row->wrong);
	fprintf(out,
		" %12zu %13zu %9s %7s %7d %9.2f %8.3f %8.3f %7s %10.2f "
		"%10.2f\n",
		row->bytes, row->numel, name_of(dtypes, (int)sweep->dtype), op,
		root, row->time_us, row->algbw_GBps, row->busbw_GBps, wrong,
		row->min_us, row->max_us);
}

/* What no number of an option is. */
#define NOT_GIVEN INT_MIN

#define AT(field) offsetof(struct sweep, field)

const struct option sweep_options[] = {
	{"minbytes", OPTION_SIZE, AT(min_bytes), "SIZE",
	 .help = "smallest size", .usual = "8", .letter = 'b'},
	{"maxbytes", OPTION_SIZE, AT(max_bytes), "SIZE", .help = "largest size",
	 .usual = "64M", .letter = 'e'},
	{"stepfactor", OPTION_NUMBER, AT(factor), "F",
	 .help = "factor from one size to the next", .usual = "2",
	 .letter = 'f', .min = 1, .above = true},
	{"stepbytes", OPTION_SIZE, AT(step_bytes), "SIZE",
	 .help = "bytes from one size to the next, instead of a factor",
	 .letter = 'i', .min = 1},
	{"iters", OPTION_COUNT, AT(iterations), "N", .help = "timed calls",
	 .usual = "20; simulated 1, as there is no noise", .letter = 'n',
	 .min = 1},
	{"agg_iters", OPTION_COUNT, AT(calls), "N",
	 .help = "consecutive calls timed together", .usual = "1",
	 .letter = 'm', .min = 1},
	{"warmup_iters", OPTION_COUNT, AT(warmup), "N",
	 .help = "untimed calls before", .usual = "5; simulated 0",
	 .letter = 'w'},
	{"average", OPTION_COUNT, AT(average), "0|1|2|3",
	 .help = "time reported: " AVERAGES, .usual = "3", .letter = 'a',
	 .max = SWEEP_SLOWEST_RANK},
	{"cold", OPTION_SWITCH, AT(cold), NULL,
	 .help = "empty the caches before each call"},
	{"together", OPTION_SWITCH, AT(together), NULL,
	 .help = "ranks of one machine: start each iteration at the same time"},
	{"check", OPTION_COUNT, AT(check), "0|1", .help = "verify results",
	 .usual = "1; simulated 0, as there is no data", .letter = 'c',
	 .max = 1},
	{"datatype", OPTION_CHOICE, AT(dtype_name),
	 "float|double|half|bfloat16|int8|uint8|int32|int64|bool",
	 .help = "type of the elements", .usual = "float", .letter = 'd'},
	{"op", OPTION_CHOICE, AT(op_name), "sum|prod|min|max|avg|band|bor|bxor",
	 .help = "reduction", .usual = "sum", .letter = 'o'},
	{"root", OPTION_COUNT, AT(root), "RANK",
	 .help = "root of broadcast, reduce, gather, scatter", .usual = "0",
	 .letter = 'r'},
	{.name = NULL}};

void sweep_init(struct sweep *sweep)
{
	*sweep = (struct sweep){.min_bytes = 8,
				.max_bytes = 64 << 20,
				.iterations = NOT_GIVEN,
				.calls = 1,
				.warmup = NOT_GIVEN,
				.average = SWEEP_SLOWEST_RANK,
				.check = NOT_GIVEN,
				.dtype_name = "float",
				.root = NOT_GIVEN};
}

/* The pairs that dist.h calls legal. */
static bool is_legal(const struct sweep *sweep)
{
	bool bits = sweep->op == DIST_BAND || sweep->op == DIST_BOR ||
		    sweep->op == DIST_BXOR;

	if (sweep->dtype == DIST_BOOL)
		return sweep->op != DIST_AVG;
	return !bits || sweep->dtype >= DIST_INT8;
}

static void set_default(int *number, int usual)
{
	if (*number == NOT_GIVEN)
		*number = usual;
}

/* What is wrong with what is called, or NULL; the options have checked words
 * and numbers. */
static const char *complete_call(struct sweep *s)
{
	const char *name = s->op_name ? s->op_name : "sum";
	const struct word *dtype = DIST__NAMED(dtypes, s->dtype_name);
	const struct word *op = DIST__NAMED(ops, name);

	if (s->step_bytes > 0 && s->factor > 0)
		return "-i: expected without -f: sizes grow by bytes or by a "
		       "factor";
	if (s->op_name && !sweep_reduces(s->collective))
		return "-o: expected with all_reduce, reduce or "
		       "reduce_scatter: others reduce nothing";
	if (s->root != NOT_GIVEN && !is_rooted(s->collective))
		return "-r: expected with broadcast, reduce, gather or "
		       "scatter: others have no root";
	if (s->max_bytes < s->min_bytes)
		return "-e: expected a size not below that of -b";
	s->factor = s->factor > 0 ? s->factor : 2;
	set_default(&s->root, 0);
	s->dtype = (enum dist_dtype)dtype->value;
	s->op = (enum dist_reduce_op)op->value;
	if (!is_legal(s))
		return "-o: expected for floats sum, prod, min, max or avg, "
		       "for bool any but avg";
	return NULL;
}

bool sweep_complete(struct sweep *s, bool simulated,
		    struct dist_message *message)
{
	const char *wrong;

	set_default(&s->iterations, simulated ? 1 : 20);
	set_default(&s->warmup, simulated ? 0 : 5);
	set_default(&s->check, !simulated);
	if (s->cold && simulated)
		wrong = "--cold: expected a real back end, as simulated memory "
			"has no caches";
	else if (s->cold && s->calls > 1)
		wrong = "--cold: expected -m 1, as the second call of several "
			"is warm";
	else
		wrong = complete_call(s);
	if (wrong)
		snprintf(message->text, sizeof message->text, "%s", wrong);
	return !wrong;
}

/* ---- the sweeps as programs ---------------------------------------------- */

/* The environment decides about the world; here it sets defaults too. */
static bool is_simulated(void)
{
	const char *backend = getenv("LOCKSTEP_BACKEND");

	return backend && strcasecmp(backend, "sim") == 0;
}

int sweep_main(int argc, char **argv)
{
	const struct manual manual = {
		.usage = "[-b SIZE] [-e SIZE] [-f F] [OPTION...]",
		.examples = {"lockstep run --nproc-per-node 4 all_reduce -b 1K "
			     "-e 1M"},
		.groups = GROUPS({.options = sweep_options})};
	struct dist_message message = {""};
	struct sweep sweep;
	int status;

	sweep_init(&sweep);
	sweep.collective = (enum collective)sweep_find(argv[0]);
	sweep.out = stdout;
	if (!arguments_parse(&manual, &argc, (const char **)argv, &sweep,
			     &status))
		return status;
	if (sweep_complete(&sweep, is_simulated(), &message))
		return dist_launch(NULL, sweep_rank, &sweep);
	fprintf(stderr, "%s: %s\n", argv[0], message.text);
	return DIST_EXIT_USAGE;
}
