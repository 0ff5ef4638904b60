/* llm_print.c - answers about training a language model, printed: the rows,
 * where the time of a step goes, what a GPU holds. */
#include "cli/llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/study_point.h"

#define HOUR_NS 3600e9
#define DAY_NS  (24 * HOUR_NS)

/* ---- rows --------------------------------------------------------------- */

static double compute_of(const struct llm_breakdown *b)
{
	double ns = b->recompute_ns;

	for (int k = 0; k < LLM_KINDS; k++)
		ns += b->compute_ns[k];
	return ns;
}

static double exposed_of(const struct llm_breakdown *b)
{
	double ns = 0;

	for (int a = 0; a < LLM_AXES; a++)
		ns += b->exposed_ns[a];
	return ns;
}

static double ms(double ns)
{
	return ns / 1e6;
}

/* A figure that is not always known. */
static double known(bool is_known, double value)
{
	return is_known ? value : NAN;
}

static json_t *breakdown_json(const struct llm_breakdown *breakdown)
{
	struct llm_part parts[LLM_PARTS];
	json_t *object = json_object();

	llm_parts(breakdown, parts);
	for (size_t i = 0; i < LLM_PARTS; i++) {
		for (char *c = parts[i].name; *c; c++)
			*c = *c == ' ' ? '_' : *c;
		json_object_set_new(object, parts[i].name,
				    json_real(ms(parts[i].ns)));
	}
	return object;
}

static json_t *memory_json(const struct llm_memory *m)
{
	return json_pack(
		"{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}",
		"stage", m->stage, "parameters", m->parameters, "gradients",
		m->gradients, "optimizer", m->optimizer, "activations",
		m->activations, "temporary", m->temporary, "library",
		m->library, "slack", m->slack, "total", m->total, "least",
		m->least, "capacity", m->capacity, "fits", m->fits);
}

/* Cost and time that were asked for. */
struct bill {
	double step;   /* of a step; NAN: no price */
	double tokens; /* of a million tokens */
	double days;   /* to so many tokens; NAN: not asked */
	double whole;  /* what these cost */
};

static struct bill bill_of(const struct llm_question *question,
			   const struct llm_outcome *outcome)
{
	const struct llm_layout *layout = &outcome->layout;
	double price = question->request->price, wanted = question->tokens;
	double tokens = (double)layout->global_batch * layout->seq;
	double step_ns = outcome->answer.step_ns;
	double step = price * layout->gpus * step_ns / HOUR_NS;

	return (struct bill){
		.step = known(price > 0, step),
		.tokens = known(price > 0, step / tokens * 1e6),
		.days = known(wanted > 0, step_ns * wanted / tokens / DAY_NS),
		.whole = known(price > 0 && wanted > 0, step * wanted / tokens),
	};
}

#define FIGURES                                                                \
	"world_size|GPUs;card_gbps|card Gbit/s;step_ms;low_ms|low;"            \
	"high_ms|high;tokens_per_s_gpu|tokens/s/GPU;tflops_per_gpu|TFLOP/s/"   \
	"GPU;mfu|MFU;hfu|HFU;memory_gb|GB;fits;fidelity;compute_ms|;"          \
	"exposed_ms|;idle_ms|;efficiency|;samples_per_s|;tokens_per_s|;"       \
	"memory_bytes|;price_step|;price_million_tokens|%s;days|%s;price|%s;"  \
	"impossible|;layout|;breakdown_ms|;memory|"
#define NUM_FIGURES 27

/* A table that names its columns: first the axes of a study. */
struct table {
	struct dist__rows rows;
	char columns[STUDY_AXES * sizeof((struct study_axis *)0)->name +
		     sizeof FIGURES];
};

/* Whether an axis has a column of its own: of GPUs there is one anyway. */
static bool is_shown(const struct study_axis *axis)
{
	return strcmp(axis->name, STUDY_TOGETHER) != 0;
}

static void add_row(struct dist__rows *rows, const struct llm_replies *replies,
		    size_t i)
{
	const struct llm_question *question = &replies->of[i].question;
	const struct llm_outcome *outcome = &replies->of[i].outcome;
	const struct study *study = replies->study;
	const struct llm_answer *a = &outcome->answer;
	const struct llm_layout *layout = &outcome->layout;
	const struct bill bill = bill_of(question, outcome);
	bool simulated = outcome->fidelity != DIST__FIDELITY_FORMULA;
	struct dist__cell cells[STUDY_AXES + NUM_FIGURES];
	double compute = compute_of(&a->breakdown);
	double exposed = exposed_of(&a->breakdown);
	double idle = a->breakdown.bubble_ns;
	char flags[512];
	size_t num = 0;

	llm_flags_layout(layout, flags, sizeof flags);

	if (simulated) {
		compute = (double)outcome->simulated.compute_ns;
		exposed = (double)outcome->simulated.exposed_ns;
		idle = (double)outcome->simulated.idle_ns;
	}
	const struct dist__cell figures[NUM_FIGURES] = {
		cell_int(layout->gpus),
		cell_fixed(0, known(outcome->fabric.nodes > 1,
				    outcome->fabric.card_Bps * 8 / 1e9)),
		cell_fixed(1, ms(a->step_ns)),
		cell_fixed(1, known(a->low_ns > 0, ms(a->low_ns))),
		cell_fixed(1, known(a->high_ns > 0, ms(a->high_ns))),
		cell_fixed(1, a->tokens_per_s_gpu),
		cell_fixed(1, a->tflops_per_gpu),
		cell_percent(a->mfu),
		cell_percent(a->hfu),
		cell_fixed(1, a->memory.total / 1e9),
		cell_text(!a->memory.fits   ? "no"
			  : a->memory.tight ? "tight"
					    : "yes"),
		cell_text(dist__fidelity_name(outcome->fidelity)),
		cell_real(ms(compute)),
		cell_real(ms(exposed)),
		cell_real(ms(idle)),
		cell_real(compute / a->step_ns),
		cell_real(layout->global_batch / a->step_ns * 1e9),
		cell_real(a->tokens_per_s_gpu * layout->gpus),
		cell_int((int64_t)a->memory.total),
		cell_real(bill.step),
		cell_real(bill.tokens),
		cell_real(bill.days),
		cell_real(bill.whole),
		cell_text(outcome->impossible[0] ? outcome->impossible : NULL),
		cell_copy(flags + 1),
		cell_json(simulated ? json_null()
				    : breakdown_json(&a->breakdown)),
		cell_json(memory_json(&a->memory))};

	for (size_t x = 0; study && x < study->num_axes; x++)
		if (is_shown(&study->axes[x]))
			cells[num++] = cell_text(study_value(study, i, x));
	memcpy(cells + num, figures, sizeof figures);
	dist__rows_add(rows, cells, num + NUM_FIGURES);
}

static struct dist__rows *fill(struct table *table,
			       const struct llm_replies *replies)
{
	const struct study *study = replies->study;
	const struct llm_question *first = &replies->of[0].question;
	const bool several = replies->num > 1, tokens = first->tokens > 0;
	const bool price = first->request->price > 0;

	*table = (struct table){.rows = {.columns = table->columns}};
	for (size_t x = 0; study && x < study->num_axes; x++)
		if (is_shown(&study->axes[x]))
			(void)dist__append(table->columns,
					   sizeof table->columns, "%s;",
					   study->axes[x].name);
	/* One answer has a bill below its parts. */
	(void)dist__append(table->columns, sizeof table->columns, FIGURES,
			   several && price ? "price/M tokens" : "",
			   several && tokens ? "days" : "",
			   several && tokens && price ? "price" : "");
	for (size_t i = 0; i < replies->num; i++)
		add_row(&table->rows, replies, i);
	return &table->rows;
}

/* ---- the last answer ---------------------------------------------------- */

static int print_parts(const struct llm_outcome *outcome, enum dist__form form,
		       FILE *out)
{
	struct dist__rows rows = {.columns = "part|part of the step;ms;share"};
	struct llm_part parts[LLM_PARTS];
	size_t num = llm_parts_of(outcome, parts);

	for (size_t i = 0; i < num; i++)
		if (parts[i].ns > 0)
			ADD_ROW(&rows, cell_text(parts[i].name),
				cell_fixed(1, ms(parts[i].ns)),
				cell_percent(parts[i].ns /
					     outcome->answer.step_ns));
	return dist__rows_section(&rows, "", form, out);
}

static int print_memory(const struct llm_memory *m, enum dist__form form,
			FILE *out)
{
	static const char columns[] =
		"stage|stage, "
		"GB:;parameters;gradients;optimizer;activations;temporary;"
		"library;slack;total;of";
	struct dist__rows rows = {.columns = columns};

	ADD_ROW(&rows, cell_int(m->stage), cell_fixed(1, m->parameters / 1e9),
		cell_fixed(1, m->gradients / 1e9),
		cell_fixed(1, m->optimizer / 1e9),
		cell_fixed(1, m->activations / 1e9),
		cell_fixed(1, m->temporary / 1e9),
		cell_fixed(1, m->library / 1e9), cell_fixed(1, m->slack / 1e9),
		cell_fixed(1, m->total / 1e9),
		cell_fixed(1, m->capacity / 1e9));
	return dist__rows_section(&rows, "", form, out);
}

static void print_bill(const struct llm_question *question,
		       const struct llm_outcome *outcome, FILE *out)
{
	const struct llm_request *request = question->request;
	const struct bill bill = bill_of(question, outcome);

	if (request->price > 0)
		fprintf(out,
			"\nat %.4g a GPU hour: %.4g a step, %.4g a million "
			"tokens\n",
			request->price, bill.step, bill.tokens);
	if (question->tokens <= 0)
		return;
	fprintf(out, "%s%s tokens take %.4g days",
		request->price > 0 ? "" : "\n", request->tokens, bill.days);
	if (request->price > 0)
		fprintf(out, " and cost %.4g", bill.whole);
	fputc('\n', out);
}

/* What one answer has besides its row. */
static int print_one(const struct llm_reply *reply,
		     const struct explanation *explanation,
		     enum dist__form form, FILE *out)
{
	const struct llm_outcome *outcome = &reply->outcome;
	int status = print_parts(outcome, form, out);

	if (!status)
		status = print_memory(&outcome->answer.memory, form, out);
	print_bill(&reply->question, outcome, out);
	if (outcome->impossible[0])
		fprintf(out, "\nimpossible with %d GPUs: %s\n",
			outcome->layout.gpus, outcome->impossible);
	return status ? status
		      : explanation_print(explanation, true, form, out);
}

int llm_print(const struct llm_replies *replies,
	      const struct explanation *explanation, enum dist__form form,
	      FILE *out)
{
	json_t *conditions = llm_common_conditions(replies);
	struct table table;
	struct dist__rows *rows = fill(&table, replies);
	int status;

	if (form == FORM_JSON)
		return dist__json_print(
			json_pack("{s:o, s:o, s:o*}", "conditions", conditions,
				  "rows", dist__rows_json(rows),
				  "critical_path",
				  explanation_json(explanation)),
			out);
	conditions_print(conditions, form, out);
	fputs(form == FORM_MARKDOWN ? "\n" : "", out);
	status = dist__rows_print(rows, form, out);
	dist__rows_release(rows);
	if (status)
		return status;
	return replies->num > 1
		       ? llm_compare_print(replies, form, out)
		       : print_one(&replies->of[0], explanation, form, out);
}

enum dist_error llm_write_tsv(const struct llm_replies *replies,
			      const char *path, struct dist_message *message)
{
	struct table table;

	return conditions_write(llm_common_conditions(replies),
				fill(&table, replies), path, message);
}
