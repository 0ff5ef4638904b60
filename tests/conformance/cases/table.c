/* table.c - the table: which cases there are, in which order. */
#include "tests/conformance/cases/case.h"

#include <stdio.h>
#include <string.h>

#define BIT(n)  (UINT32_C(1) << (n))
#define MULTI   (BIT(COALESCED) | BIT(MULTIGPU))
#define IS_EVEN (BIT(SINGLE) | BIT(IN_PLACE) | BIT(LIST) | BIT(LIST_IN_PLACE))

const struct call conformance_calls[CONFORMANCE_CALLS] = {
	[CONFORMANCE_ALL_REDUCE] = {"all_reduce", .reduces = true,
				    .has_handle = true, .has_tensor = true,
				    .forms = BIT(WHOLE) | MULTI, .large = 20011,
				    .perform = perform_tensor},
	[CONFORMANCE_REDUCE] = {"reduce", .reduces = true, .rooted = true,
				.has_handle = true, .has_tensor = true,
				.forms = BIT(WHOLE) | BIT(MULTIGPU),
				.large = 20011, .perform = perform_tensor},
	[CONFORMANCE_BROADCAST] = {"broadcast", .rooted = true,
				   .has_handle = true, .has_tensor = true,
				   .forms = BIT(WHOLE) | MULTI, .large = 20011,
				   .perform = perform_tensor},
	[CONFORMANCE_BARRIER] = {"barrier", .has_handle = true,
				 .forms = BIT(WHOLE),
				 .perform = perform_tensor},
	[CONFORMANCE_MONITORED_BARRIER] = {"monitored_barrier",
					   .forms = BIT(WHOLE),
					   .perform = perform_tensor},
	[CONFORMANCE_ALL_GATHER] = {"all_gather", .has_handle = true,
				    .has_tensor = true,
				    .forms = IS_EVEN | BIT(UNEVEN_LIST) | MULTI,
				    .large = 4099, .perform = perform_parts},
	[CONFORMANCE_REDUCE_SCATTER] = {"reduce_scatter", .reduces = true,
					.has_handle = true, .has_tensor = true,
					.forms = IS_EVEN | BIT(UNEVEN_LIST) |
						 MULTI,
					.large = 4099,
					.perform = perform_parts},
	[CONFORMANCE_ALL_TO_ALL] = {"all_to_all", .has_handle = true,
				    .has_tensor = true,
				    .forms = BIT(SINGLE) | BIT(LIST) |
					     BIT(UNEVEN) | BIT(UNEVEN_LIST),
				    .large = 4099, .perform = perform_parts},
	[CONFORMANCE_GATHER] = {"gather", .rooted = true, .has_handle = true,
				.has_tensor = true,
				.forms = BIT(LIST) | BIT(LIST_IN_PLACE),
				.large = 4099, .perform = perform_parts},
	[CONFORMANCE_SCATTER] = {"scatter", .rooted = true, .has_handle = true,
				 .has_tensor = true,
				 .forms = BIT(LIST) | BIT(LIST_IN_PLACE),
				 .large = 4099, .perform = perform_parts},
	[CONFORMANCE_ALL_PAIRS] = {"all_pairs", .has_handle = true,
				   .has_tensor = true, .has_peer = true,
				   .forms = BIT(WHOLE), .large = 20011,
				   .perform = perform_all_pairs},
	[CONFORMANCE_NEIGHBOURS] = {"neighbours", .has_tensor = true,
				    .has_peer = true, .forms = BIT(WHOLE),
				    .large = 20011,
				    .perform = perform_neighbours},
	[CONFORMANCE_BATCH] = {"batch", .has_tensor = true, .has_peer = true,
			       .forms = BIT(WHOLE), .large = 20011,
			       .perform = perform_batch},
	[CONFORMANCE_TAGS] = {"tags", .has_tensor = true, .has_peer = true,
			      .forms = BIT(WHOLE), .large = 20011,
			      .perform = perform_tags},
	[CONFORMANCE_IN_ORDER] = {"in_order", .has_handle = true,
				  .has_tensor = true, .has_peer = true,
				  .forms = BIT(WHOLE), .large = 20011,
				  .perform = perform_in_order},
	[CONFORMANCE_ANY_SOURCE] = {"any_source", .rooted = true,
				    .has_handle = true, .has_tensor = true,
				    .has_peer = true, .forms = BIT(WHOLE),
				    .large = 20011,
				    .perform = perform_any_source},
};

const char *conformance_call_name(enum conformance_call call)
{
	return conformance_calls[call].name;
}

enum conformance_call conformance_call_find(const char *name)
{
	int call;

	for (call = 0; call < CONFORMANCE_CALLS; call++)
		if (strcmp(conformance_calls[call].name, name) == 0)
			break;
	return (enum conformance_call)call;
}

/* ---- walking it ------------------------------------------------------- */

struct walker {
	const struct conformance_setup *setup;
	int (*visit)(void *arg, const struct one_case *c);
	void *arg;
	uint32_t index;
};

int conformance_third(int n)
{
	return n % 3 + 1;
}

static bool is_left_out(const struct conformance_setup *setup,
			const struct one_case *c)
{
	return setup->third && conformance_calls[c->call].has_tensor &&
	       setup->third != conformance_third((int)c->dtype + (int)c->op) &&
	       !(c->dtype == DIST_FLOAT32 && c->op == DIST_SUM);
}

/* All roots, blocking and not. What is left out keeps its number. */
static int each_variant(struct walker *w, struct one_case c)
{
	const struct call *call = &conformance_calls[c.call];
	int last = w->setup->world_size - 1, status = 0;

	for (int root = 0; root <= last; root += last > 0 ? last : 1) {
		c.root = call->rooted ? root : -1;
		for (int async = 0; async <= call->has_handle; async++) {
			c.async = async;
			c.index = w->index++;
			if (is_left_out(w->setup, &c))
				continue;
			status = w->visit(w->arg, &c);
			if (status)
				return status;
		}
		if (!call->rooted)
			break;
	}
	return 0;
}

/* Large tensors only where they say something new. */
static bool deserves_large(const struct one_case *c)
{
	if (!conformance_calls[c->call].large || c->op > DIST_AVG ||
	    c->dtype > DIST_FLOAT32)
		return false;
	if (c->form >= COALESCED)
		return false;
	return c->form == WHOLE ? !c->exact || c->dtype == DIST_FLOAT32
				: c->op == DIST_SUM && c->dtype == DIST_FLOAT32;
}

/* 0, 1, one less than ranks, as many, an odd number, many. */
static int each_count(struct walker *w, struct one_case c)
{
	size_t p = (size_t)w->setup->world_size;
	size_t counts[] = {0, 1,   p - 1,
			   p, 101, conformance_calls[c.call].large};
	size_t num = deserves_large(&c) ? 6 : 5;
	int status = 0;

	for (size_t i = 0; i < num && !status; i++) {
		c.numel = counts[i];
		/* On few ranks some of them are the same number; several
		 * tensors, which differ in length, need not be as many. */
		if ((i == 2 && p <= 2) || (i == 3 && p == 1) ||
		    (c.form >= COALESCED && (i == 2 || i == 3)))
			continue;
		status = each_variant(w, c);
	}
	return status;
}

static int each_form(struct walker *w, struct one_case c)
{
	uint32_t forms = conformance_calls[c.call].forms;
	int form, status = 0;

	for (form = 0; form < FORMS && !status; form++) {
		if (!(forms & BIT(form)) ||
		    (form >= COALESCED && w->setup->round > 0))
			continue;
		c.form = (enum form)form;
		status = each_count(w, c);
	}
	return status;
}

/* Whether fractions come out in the one rounding that the algorithm gives. */
static bool rounds(const struct one_case *c)
{
	return case_has_fractions(c->dtype) &&
	       (c->op == DIST_SUM || c->op == DIST_AVG ||
		c->op == DIST_PREMUL_SUM);
}

/* A pair that is not legal is refused, and the group goes on. */
static int each_pair(struct walker *w, struct one_case c)
{
	int status;

	if (!case_is_legal(&c) && w->setup->round > 0)
		return 0;
	if (!case_is_legal(&c)) {
		c.numel = 5;
		c.form = conformance_calls[c.call].forms & BIT(WHOLE) ? WHOLE
								      : SINGLE;
		return each_variant(w, c);
	}
	status = each_form(w, c);
	c.exact = false;
	if (!status && rounds(&c))
		status = each_form(w, c);
	return status;
}

static int each_of_call(struct walker *w, enum conformance_call which)
{
	const struct call *call = &conformance_calls[which];
	struct one_case c = {
		.call = which, .exact = true, .values = w->setup->values};
	int dtype, op, status = 0;

	if (call->has_peer && w->setup->world_size == 1)
		return 0;
	if (!call->has_tensor)
		return each_variant(w, c);
	for (dtype = 0; dtype < DIST_NUM_DTYPES && !status; dtype++) {
		c.dtype = (enum dist_dtype)dtype;
		/* Other algorithms treat these as they do those before. */
		if (dtype > DIST_BOOL && w->setup->round > 0)
			break;
		if (!call->reduces) {
			status = each_form(w, c);
			continue;
		}
		for (op = 0; op < DIST_NUM_REDUCE_OPS && !status; op++) {
			c.op = (enum dist_reduce_op)op;
			status = each_pair(w, c);
		}
	}
	return status;
}

int each_case(const struct conformance_setup *setup,
	      int (*visit)(void *arg, const struct one_case *c), void *arg)
{
	struct walker w = {.setup = setup, .visit = visit, .arg = arg};
	int call, status = 0;

	for (call = 0; call < CONFORMANCE_CALLS && !status; call++)
		if (setup->calls & BIT(call))
			status = each_of_call(&w, (enum conformance_call)call);
	return status;
}

static int count_one(void *arg, const struct one_case *c)
{
	(void)c;
	++*(uint32_t *)arg;
	return 0;
}

uint32_t conformance_count(const struct conformance_setup *setup)
{
	uint32_t count = 0;

	(void)each_case(setup, count_one, &count);
	return count;
}

/* ---- words ------------------------------------------------------------ */

void case_words(const struct one_case *c, char *text, size_t size)
{
	static const char *const forms[FORMS] = {"",
						 "single, ",
						 "in place, ",
						 "list, ",
						 "list in place, ",
						 "uneven, ",
						 "uneven list, ",
						 "coalesced, ",
						 "multigpu, "};
	const struct call *call = &conformance_calls[c->call];
	char root[24] = "", op[24] = "";

	if (call->rooted)
		snprintf(root, sizeof root, ", root %d", c->root);
	if (call->reduces)
		snprintf(op, sizeof op, "%s, ", dist_reduce_op_name(c->op));
	if (call->has_tensor)
		snprintf(text, size, "%s(%s%s, %snumel %zu%s%s%s)", call->name,
			 forms[c->form], dist_dtype_name(c->dtype), op,
			 c->numel, root, c->async ? ", async" : "",
			 c->exact ? "" : ", fractions");
	else
		snprintf(text, size, "%s(%s)", call->name,
			 c->async ? "async" : "");
}

struct teller {
	void (*visit)(void *arg, uint32_t index, enum conformance_call call,
		      const char *text);
	void *arg;
};

static int tell(void *arg, const struct one_case *c)
{
	const struct teller *teller = arg;
	char text[160];

	case_words(c, text, sizeof text);
	teller->visit(teller->arg, c->index, c->call, text);
	return 0;
}

void conformance_each(const struct conformance_setup *setup,
		      void (*visit)(void *arg, uint32_t index,
				    enum conformance_call call,
				    const char *text),
		      void *arg)
{
	struct teller teller = {visit, arg};

	(void)each_case(setup, tell, &teller);
}
