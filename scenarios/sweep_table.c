/* The words of a sweep: names, flags, and the table in nccl-tests' columns. */
#include "scenarios/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/arguments.h"

static const char *const names[] = {"all_reduce", "broadcast",      "reduce",
				    "all_gather", "reduce_scatter", "alltoall",
				    "gather",     "scatter",        "sendrecv"};
#define NUM_NAMES (sizeof(names) / sizeof(names[0]))

/* Whether a and b are the same but for underscores. */
static bool is_same_word(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "_");
		b += strspn(b, "_");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

int sweep_find(const char *name)
{
	size_t i;

	for (i = 0; i < NUM_NAMES; i++)
		if (is_same_word(names[i], name))
			return (int)i;
	return -1;
}

bool sweep_reduces(enum sweep_collective collective)
{
	return collective == SWEEP_ALL_REDUCE || collective == SWEEP_REDUCE ||
	       collective == SWEEP_REDUCE_SCATTER;
}

bool sweep_is_in_place(enum sweep_collective collective)
{
	return collective != SWEEP_ALL_TO_ALL && collective != SWEEP_SENDRECV;
}

bool sweep_is_rooted(enum sweep_collective collective)
{
	return collective == SWEEP_BROADCAST || collective == SWEEP_REDUCE ||
	       collective == SWEEP_GATHER || collective == SWEEP_SCATTER;
}

const char *sweep_name(enum sweep_collective collective)
{
	return names[collective];
}

/* nccl-tests' names of the types and operations that it has too; ours of bool
 * and of bits. */
static const struct {
	const char *name;
	enum dist_dtype dtype;
} dtypes[] = {{"float", DIST_FLOAT32}, {"double", DIST_FLOAT64},
	      {"half", DIST_FLOAT16},  {"bfloat16", DIST_BFLOAT16},
	      {"int8", DIST_INT8},     {"uint8", DIST_UINT8},
	      {"int32", DIST_INT32},   {"int64", DIST_INT64},
	      {"bool", DIST_BOOL}};
#define DTYPES                                                                 \
	"float, double, half, bfloat16, int8, uint8, int32, int64 or bool"

static const struct {
	const char *name;
	enum dist_reduce_op op;
} ops[] = {{"sum", DIST_SUM}, {"prod", DIST_PRODUCT}, {"min", DIST_MIN},
	   {"max", DIST_MAX}, {"avg", DIST_AVG},      {"band", DIST_BAND},
	   {"bor", DIST_BOR}, {"bxor", DIST_BXOR}};
#define OPS "sum, prod, min, max, avg, band, bor or bxor"

static bool find_dtype(const char *name, enum dist_dtype *dtype)
{
	size_t i;

	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (strcmp(dtypes[i].name, name) == 0) {
			*dtype = dtypes[i].dtype;
			return true;
		}
	return false;
}

static bool find_op(const char *name, enum dist_reduce_op *op)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(ops[i].name, name) == 0) {
			*op = ops[i].op;
			return true;
		}
	return false;
}

static const char *dtype_name(enum dist_dtype dtype)
{
	size_t i;

	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (dtypes[i].dtype == dtype)
			return dtypes[i].name;
	return "?";
}

static const char *op_name(const struct sweep *sweep)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (sweep_reduces(sweep->collective) && ops[i].op == sweep->op)
			return ops[i].name;
	return "none";
}

#define HEADER_LINE "#%12s %13s %9s %7s %7s %9s %8s %8s %7s %10s %10s\n"

void sweep_print_header(FILE *out, const struct sweep *sweep, int world_size,
			const char *backend)
{
	fprintf(out,
		"# collective: %s ranks: %d backend: %s\n"
		"# minBytes %zu maxBytes %zu step: %g(factor) warmup iters: %d "
		"iters: %d validate: %d\n"
		"# %s; time is the median over the iterations of the "
		"slowest rank's\n#\n",
		sweep_name(sweep->collective), world_size, backend,
		sweep->min_bytes, sweep->max_bytes, sweep->factor,
		sweep->warmup, sweep->iterations, sweep->check,
		sweep_is_in_place(sweep->collective) ? "in-place"
						     : "out-of-place");
	fprintf(out, HEADER_LINE, "size", "count", "type", "redop", "root",
		"time", "algbw", "busbw", "#wrong", "min", "max");
	fprintf(out, HEADER_LINE, "(B)", "(elements)", "", "", "", "(us)",
		"(GB/s)", "(GB/s)", "", "(us)", "(us)");
	fflush(out);
}

void sweep_print_row(FILE *out, const struct sweep *sweep,
		     const struct sweep_row *row)
{
	int root = sweep_is_rooted(sweep->collective) ? sweep->root : -1;
	char wrong[24] = "N/A";

	if (row->wrong >= 0)
		snprintf(wrong, sizeof(wrong), "%" PRId64, row->wrong);
	fprintf(out,
		" %12zu %13zu %9s %7s %7d %9.2f %8.3f %8.3f %7s %10.2f "
		"%10.2f\n",
		row->bytes, row->numel, dtype_name(sweep->dtype),
		op_name(sweep), root, row->time_us, row->algbw_GBps,
		row->busbw_GBps, wrong, row->min_us, row->max_us);
}

void sweep_arguments_init(struct sweep_arguments *a,
			  struct poptOption table[SWEEP_TABLE])
{
	const struct poptOption options[SWEEP_TABLE] = {
		{"minbytes", 'b', POPT_ARG_STRING, &a->min_bytes, 0,
		 "smallest size (default 8)", "SIZE"},
		{"maxbytes", 'e', POPT_ARG_STRING, &a->max_bytes, 0,
		 "largest size (default 64M)", "SIZE"},
		{"stepfactor", 'f', POPT_ARG_DOUBLE, &a->factor, 0,
		 "from one size to the next (default 2)", "F"},
		{"iters", 'n', POPT_ARG_INT, &a->iterations, 0,
		 "timed calls (default 20; simulated 1: no noise)", "N"},
		{"warmup_iters", 'w', POPT_ARG_INT, &a->warmup, 0,
		 "calls before them (default 5; simulated 0)", "N"},
		{"check", 'c', POPT_ARG_INT, &a->check, 0,
		 "verify results (default 1; simulated 0: no data)", "0|1"},
		{"datatype", 'd', POPT_ARG_STRING, &a->dtype, 0,
		 DTYPES " (default float)", "TYPE"},
		{"op", 'o', POPT_ARG_STRING, &a->op, 0, OPS " (default sum)",
		 "OP"},
		{"root", 'r', POPT_ARG_INT, &a->root, 0,
		 "of broadcast, reduce, gather, scatter (default 0)", "RANK"},
		POPT_TABLEEND};
	size_t i;

	*a = (struct sweep_arguments){
		.factor = 2, .iterations = -1, .warmup = -1, .check = -1};
	for (i = 0; i < SWEEP_TABLE; i++)
		table[i] = options[i];
}

void sweep_arguments_release(struct sweep_arguments *a)
{
	free(a->min_bytes);
	free(a->max_bytes);
	free(a->dtype);
	free(a->op);
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

static const char *or_else(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

bool sweep_arguments_use(const struct sweep_arguments *a, bool simulated,
			 struct sweep *sweep, struct dist_message *message)
{
	const char *min = or_else(a->min_bytes, "8");
	const char *max = or_else(a->max_bytes, "64M");
	const char *what = NULL;

	sweep->factor = a->factor;
	sweep->iterations =
		a->iterations != -1 ? a->iterations : (simulated ? 1 : 20);
	sweep->warmup = a->warmup != -1 ? a->warmup : (simulated ? 0 : 5);
	sweep->check = a->check != -1 ? a->check != 0 : !simulated;
	sweep->root = a->root;
	if (!arguments_size(min, &sweep->min_bytes))
		what = "-b: expected a size such as 8, 64K or 1M";
	else if (!arguments_size(max, &sweep->max_bytes))
		what = "-e: expected a size such as 8, 64K or 1M";
	else if (sweep->max_bytes < sweep->min_bytes)
		what = "-e: expected a size not below that of -b";
	else if (!(sweep->factor > 1))
		what = "-f: expected a factor above 1";
	else if (sweep->iterations < 1)
		what = "-n: expected 1 or more";
	else if (sweep->warmup < 0)
		what = "-w: expected 0 or more";
	else if (sweep->root < 0)
		what = "-r: expected a rank";
	else if (!find_dtype(or_else(a->dtype, "float"), &sweep->dtype))
		what = "-d: expected " DTYPES;
	else if (!find_op(or_else(a->op, "sum"), &sweep->op))
		what = "-o: expected " OPS;
	else if (!is_legal(sweep))
		what = "-o: expected for floats sum, prod, min, max or avg, "
		       "for bool any but avg";
	if (what)
		snprintf(message->text, sizeof(message->text), "%s", what);
	return !what;
}
