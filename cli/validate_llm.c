/* validate_llm.c - measured steps of language models beside predicted ones. */
#include "cli/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/statistics.h"
#include "cli/plot.h"
#include "cli/refuse.h"
#include "model/validation/accuracy.h"
#include "cli/pool.h"
#include "model/validation/llm_planned.h"
#include "model/validation/llm_ratio.h"

/* What is predicted of each case, ns; NAN: not. */
enum prediction {
	ALL,
	GIVEN,
	BLIND,
	NO_SKILL,
	NO_GPU, /* fitted without any row of the GPU */
	NO_PRECISION,
	NO_FAMILY,
	PREDICTIONS
};

struct made {
	struct llm_set set;
	struct llm_constants constants;
	double *ns[PREDICTIONS];
	double *scratch;
	bool is_blind;
};

/* ---- errors ------------------------------------------------------------ */

/* A row of a table of errors: the cases that are like case `of` by key. */
typedef void key(const struct llm_case *of, char text[64]);

static void by_source(const struct llm_case *of, char text[64])
{
	snprintf(text, 64, "%.50s", of->source);
}

static void by_device(const struct llm_case *of, char text[64])
{
	snprintf(text, 64, "%.40s", of->gpu);
}

static void by_precision(const struct llm_case *of, char text[64])
{
	snprintf(text, 64, "%s", llm_precision_name(of->layout.precision));
}

/* "Llama" of "Llama-3-70B". */
static void by_family(const struct llm_case *of, char text[64])
{
	const char *name = of->model.name;

	snprintf(text, 64, "%.*s", (int)strcspn(name, "-.0123456789"), name);
}

static void by_gpu(const struct llm_case *of, char text[64])
{
	snprintf(text, 64, "%.40s %s", of->gpu,
		 llm_precision_name(of->layout.precision));
}

static void by_scale(const struct llm_case *of, char text[64])
{
	int gpus = of->layout.gpus;

	snprintf(text, 64, "%s",
		 gpus <= 8     ? "to 8 GPUs"
		 : gpus <= 64  ? "to 64 GPUs"
		 : gpus <= 512 ? "to 512 GPUs"
			       : "above 512 GPUs");
}

static void by_all(const struct llm_case *of, char text[64])
{
	(void)of;
	snprintf(text, 64, "all");
}

/* Of one prediction, for the cases of a key, dense or of experts. */
static struct accuracy errors_of(const struct made *made, enum prediction which,
				 key *of_case, const char *text, bool experts)
{
	const struct llm_set *set = &made->set;
	size_t num = 0;

	for (size_t i = 0; i < set->num; i++) {
		const struct llm_case *of = &set->cases[i];
		char mine[64];

		of_case(of, mine);
		if (strcmp(mine, text) != 0 || isnan(made->ns[which][i]) ||
		    (of->model.experts > 0) != experts)
			continue;
		made->scratch[num++] =
			accuracy_error(made->ns[which][i], of->measured_ns);
	}
	return accuracy_of(made->scratch, num);
}

/* The middle of predicted / measured - 1. */
static double bias_of(const struct made *made, key *of_case, const char *text,
		      bool experts)
{
	size_t num = 0;

	for (size_t i = 0; i < made->set.num; i++) {
		const struct llm_case *of = &made->set.cases[i];
		char mine[64];

		of_case(of, mine);
		if (strcmp(mine, text) == 0 && !isnan(made->ns[ALL][i]) &&
		    (of->model.experts > 0) == experts)
			made->scratch[num++] =
				made->ns[ALL][i] / of->measured_ns - 1;
	}
	dist__sort_numbers(made->scratch, num);
	return num ? dist__quantile(made->scratch, num, 0.5) : NAN;
}

static struct dist__cell percent(struct accuracy accuracy, double fraction)
{
	return cell_percent(accuracy.num ? fraction : NAN);
}

static void add_key(struct dist__rows *table, const struct made *made,
		    key *of_case, const char *text, bool experts)
{
	struct accuracy errors[NO_SKILL + 1];

	for (int p = 0; p <= NO_SKILL; p++)
		errors[p] = errors_of(made, (enum prediction)p, of_case, text,
				      experts);
	if (!errors[ALL].num)
		return;
	ADD_ROW(table, cell_copy(text),
		cell_text(experts ? "experts" : "dense"),
		cell_size(errors[ALL].num),
		percent(errors[ALL], errors[ALL].median),
		percent(errors[ALL], errors[ALL].p90),
		percent(errors[ALL], errors[ALL].worst),
		percent(errors[ALL], bias_of(made, of_case, text, experts)),
		percent(errors[GIVEN], errors[GIVEN].median),
		percent(errors[GIVEN], errors[GIVEN].p90),
		percent(errors[BLIND], errors[BLIND].median),
		percent(errors[BLIND], errors[BLIND].p90),
		percent(errors[NO_SKILL], errors[NO_SKILL].median),
		percent(errors[NO_SKILL], errors[NO_SKILL].p90));
}

static struct dist__rows table_by(const struct made *made, key *of_case)
{
	struct dist__rows table = {
		.columns = "of;model;rows;median|median %;p90|p90 %;"
			   "worst|worst %;bias|middle %;"
			   "given_median|one row given %;given_p90|p90 %;"
			   "blind_median|blind %;blind_p90|p90 %;"
			   "no_skill_median|no skill %;no_skill_p90|p90 %"};
	const struct llm_set *set = &made->set;

	for (int experts = 0; experts < 2; experts++)
		for (size_t i = 0; i < set->num; i++) {
			bool seen = false;
			char text[64], other[64];

			of_case(&set->cases[i], text);
			for (size_t k = 0; k < i && !seen; k++) {
				of_case(&set->cases[k], other);
				seen = strcmp(text, other) == 0 &&
				       (set->cases[k].model.experts > 0) ==
					       (experts > 0);
			}
			if (!seen &&
			    (set->cases[i].model.experts > 0) == (experts > 0))
				add_key(&table, made, of_case, text,
					experts > 0);
		}
	return table;
}

/* What was predicted with constants fitted to other rows alone. */
static const struct {
	enum prediction which;
	key *of_case;
	const char *what;
} blinds[] = {
	{BLIND, by_source, "a source"},
	{NO_GPU, by_device, "a GPU"},
	{NO_PRECISION, by_precision, "a precision"},
	{NO_FAMILY, by_family, "a family of models"},
};

#define BLINDS (sizeof blinds / sizeof *blinds)

#define BLIND_COLUMNS(first)                                                   \
	first ";model;rows;median|median %;p90|p90 %;worst|worst %"

static void add_blind(struct dist__rows *table, const struct accuracy *errors,
		      struct dist__cell left_out, bool experts)
{
	if (errors->num)
		ADD_ROW(table, left_out,
			cell_text(experts ? "experts" : "dense"),
			cell_size(errors->num), cell_percent(errors->median),
			cell_percent(errors->p90), cell_percent(errors->worst));
}

static struct dist__rows blinds_of(const struct made *made)
{
	struct dist__rows table = {.columns =
					   BLIND_COLUMNS("left_out|left out")};

	for (int experts = 0; experts < 2; experts++)
		for (size_t b = 0; b < BLINDS; b++) {
			const struct accuracy errors =
				errors_of(made, blinds[b].which, by_all, "all",
					  experts > 0);

			add_blind(&table, &errors, cell_text(blinds[b].what),
				  experts > 0);
		}
	return table;
}

/* Each GPU, by constants fitted to the others. */
static struct dist__rows blind_gpus_of(const struct made *made)
{
	struct dist__rows table = {.columns = BLIND_COLUMNS("of")};
	const struct llm_set *set = &made->set;

	for (int experts = 0; experts < 2; experts++)
		for (size_t d = 0; d < set->num_devices; d++) {
			const char *gpu = set->devices[d].name;
			const struct accuracy errors = errors_of(
				made, NO_GPU, by_device, gpu, experts > 0);

			add_blind(&table, &errors, cell_copy(gpu), experts > 0);
		}
	return table;
}

/* ---- constants --------------------------------------------------------- */

static struct dist__rows constants_of(const struct made *made)
{
	struct dist__rows table = {
		.columns = "constant;start;value;fitted|fitted here;from|"};
	const struct llm_constant_row *rows = llm_constant_rows();

	for (int c = 0; c < LLM_CONSTANTS; c++)
		ADD_ROW(&table, cell_text(rows[c].name),
			cell_real(rows[c].start), cell_real(rows[c].value),
			cell_real(rows[c].spread > 0 ? made->constants.value[c]
						     : NAN),
			cell_text(rows[c].source));
	return table;
}

/* ---- row by row -------------------------------------------------------- */

static struct dist__rows rows_of(const struct made *made)
{
	struct dist__rows table = {
		.columns = "table;library;what;ranks;bytes;algorithm;protocol;"
			   "predicted_us;measured_us;ratio;fit_us;id;model;"
			   "precision;tp;pp;vpp;cp;ep;batch;micro_batch;seq;"
			   "given_ratio;no_skill_ratio;compute;exposed;bubble;"
			   "recompute;other;memory_gib;measured_gib;fits;"
			   "blind_ratio;gpu_blind_ratio"};
	const struct llm_set *set = &made->set;

	for (size_t i = 0; i < set->num; i++) {
		const struct llm_case *of = &set->cases[i];
		const struct llm_layout *l = &of->layout;
		struct llm_answer answer = {.step_ns = NAN};
		struct dist_message message;
		double compute = 0, exposed = 0, ns = made->ns[ALL][i];

		if (llm_set_step(set, i, &made->constants, 1, &answer,
				 &message))
			continue;
		for (int k = 0; k < LLM_KINDS; k++)
			compute += answer.breakdown.compute_ns[k];
		for (int a = 0; a < LLM_AXES; a++)
			exposed += answer.breakdown.exposed_ns[a];
		ADD_ROW(&table, cell_text(of->source), cell_text(of->gpu),
			cell_text(of->model.experts ? "experts" : "dense"),
			cell_int(l->gpus), cell_int(CELL_UNKNOWN),
			cell_text(of->model.name), cell_text(NULL),
			cell_real(ns / 1e3), cell_real(of->measured_ns / 1e3),
			cell_real(ns / of->measured_ns), cell_real(NAN),
			cell_text(of->row->id), cell_text(of->model.name),
			cell_text(llm_precision_name(l->precision)),
			cell_int(l->tp), cell_int(l->pp), cell_int(l->vpp),
			cell_int(l->cp), cell_int(l->ep),
			cell_int(l->global_batch), cell_int(l->micro_batch),
			cell_int(l->seq),
			cell_real(made->ns[GIVEN][i] / of->measured_ns),
			cell_real(made->ns[NO_SKILL][i] / of->measured_ns),
			cell_real(compute / ns), cell_real(exposed / ns),
			cell_real(answer.breakdown.bubble_ns / ns),
			cell_real(answer.breakdown.recompute_ns / ns),
			cell_real(answer.breakdown.other_ns / ns),
			cell_real(llm_case_memory(of, set->device_of[i]) /
				  1073741824.0),
			cell_real(of->row->memory_gib.known
					  ? of->row->memory_gib.value
					  : NAN),
			cell_text(answer.memory.fits ? "yes" : "no"),
			cell_real(made->ns[BLIND][i] / of->measured_ns),
			cell_real(made->ns[NO_GPU][i] / of->measured_ns));
	}
	return table;
}

static struct dist__rows unfit_of(const struct llm_set *set)
{
	struct dist__rows table = {.columns = "of;rows;why"};

	for (size_t i = 0; i < set->num_unfit; i++) {
		const struct llm_case *of = &set->unfit[i];
		size_t same = 0;
		bool first = true;

		for (size_t k = 0; k < set->num_unfit; k++) {
			const struct llm_case *other = &set->unfit[k];
			bool like = strcmp(of->source, other->source) == 0 &&
				    strcmp(of->why, other->why) == 0;

			same += like;
			first &= !like || k >= i;
		}
		if (first)
			ADD_ROW(&table, cell_text(of->source), cell_size(same),
				cell_text(of->why));
	}
	return table;
}

/* ---- ratios ------------------------------------------------------------ */

static struct dist__rows ratios_of(const struct made *made)
{
	struct dist__rows table = {
		.columns = "ratio;num|of;right|hold;worst|worst %"};
	const struct llm_set *set = &made->set;
	const double *ns = made->ns[ALL];
	struct llm_pairs pairs = llm_ratio_pairs(set, ns);
	struct llm_ablations ablations =
		llm_ratio_ablations(set, ns, "megatron-bridge-ablations");
	struct llm_searches bloom =
		llm_ratio_searches(set, ns, "bigscience-bloom-a100");

	ADD_ROW(&table,
		cell_text("the faster of two that differ by more than 5 %"),
		cell_size(pairs.num), cell_size(pairs.right), cell_real(NAN));
	ADD_ROW(&table, cell_text("one setting changed, within 5 points"),
		cell_size(ablations.num), cell_size(ablations.close),
		cell_percent(ablations.worst));
	ADD_ROW(&table,
		cell_text("BLOOM's fastest layout among the predicted three"),
		cell_size(bloom.num), cell_size(bloom.first_three),
		cell_percent(bloom.worst_loss));
	return table;
}

/* ---- published layouts ------------------------------------------------- */

/* "4 x 8v6 x 1 x 1, 2" */
static void write_layout(const struct llm_layout *l, char text[64])
{
	char chunks[16] = "";

	if (l->vpp > 1)
		snprintf(chunks, sizeof chunks, "v%d", l->vpp);
	snprintf(text, 64, "%d x %d%s x %d x %d, %d", l->tp, l->pp, chunks,
		 l->cp, l->ep, l->micro_batch);
}

/* Fewer are no search: of a batch that nothing divides. */
#define FEWEST_LAYOUTS 20

/* Empty, unless they are wanted: a second or more each. */
static struct dist__rows plans_of(const struct made *made, bool wanted)
{
	struct dist__rows table = {
		.columns = "of;model;gpu;precision;gpus|GPUs;batch;"
			   "published|published: tp x pp x cp x ep, mbs;"
			   "planned;place;fit|of;loss|loss %"};
	const struct llm_set *set = &made->set;

	for (size_t i = 0; wanted && i < set->num; i++) {
		const struct llm_case *of = &set->cases[i];
		struct dist_message message;
		struct llm_planned planned;
		char published[64], first[64];

		if (!llm_planned_is_best(set, i) ||
		    llm_planned_make(&planned, set, i, &made->constants,
				     made->ns[ALL][i], pool_cores(),
				     &message) ||
		    planned.fit < FEWEST_LAYOUTS)
			continue;
		write_layout(&of->layout, published);
		write_layout(&planned.best, first);
		ADD_ROW(&table, cell_text(of->source),
			cell_text(of->model.name), cell_text(of->gpu),
			cell_text(llm_precision_name(of->layout.precision)),
			cell_int(of->layout.gpus),
			cell_int(of->layout.global_batch), cell_copy(published),
			cell_copy(first), cell_size(planned.before + 1),
			cell_size(planned.fit), cell_percent(planned.loss));
	}
	return table;
}

/* ---- the whole --------------------------------------------------------- */

static int print(const struct made *made,
		 const struct validate_llm_request *request)
{
	struct dist__section sections[] = {
		{"all", "", table_by(made, by_all)},
		{"sources", "By source:", table_by(made, by_source)},
		{"gpus", "By GPU and precision:", table_by(made, by_gpu)},
		{"scales", "By scale:", table_by(made, by_scale)},
		{"blind",
		 request->blind ? "Left out of the constants, whole:" : NULL,
		 blinds_of(made)},
		{"blind_gpus",
		 request->blind ? "Each GPU, left out of the constants:" : NULL,
		 blind_gpus_of(made)},
		{"ratios", "Ratios:", ratios_of(made)},
		{"left_out", "Left out:", unfit_of(&made->set)},
		{"plans", "Published best layouts, by plan:",
		 plans_of(made, request->plan)},
		{"constants", request->refit ? "Constants:" : NULL,
		 constants_of(made)},
	};

	return dist__sections_print(sections,
				    sizeof sections / sizeof *sections, NULL,
				    table_options_form(request->form), stdout)
		       ? out_of_memory("validate")
		       : DIST_EXIT_OK;
}

/* Predicts the cases of a key that are like case i, without them. */
static enum dist_error predict_without(struct made *made, enum prediction which,
				       key *of_case, size_t i, bool *without)
{
	const struct llm_set *set = &made->set;
	struct llm_constants constants;
	struct dist_message message;
	struct llm_answer answer;
	char mine[64], text[64];
	enum dist_error error;

	of_case(&set->cases[i], text);
	for (size_t k = 0; k < set->num; k++) {
		of_case(&set->cases[k], mine);
		without[k] = strcmp(mine, text) == 0;
	}
	error = llm_set_fit(set, without, &constants);
	for (size_t k = i; !error && k < set->num; k++)
		if (without[k] &&
		    !llm_set_step(set, k, &constants, 1, &answer, &message))
			made->ns[which][k] = answer.step_ns;
	return error;
}

static enum dist_error predict_blind(struct made *made)
{
	bool *without = calloc(made->set.num + 1, sizeof *without);
	enum dist_error error = without ? DIST_OK : DIST_ERR_NO_MEMORY;

	for (size_t b = 0; b < BLINDS; b++)
		for (size_t i = 0; !error && i < made->set.num; i++)
			if (isnan(made->ns[blinds[b].which][i]))
				error = predict_without(made, blinds[b].which,
							blinds[b].of_case, i,
							without);
	free(without);
	return error;
}

static enum dist_error predict(struct made *made,
			       const struct validate_llm_request *request)
{
	size_t num = made->set.num;
	enum dist_error error = DIST_OK;

	made->scratch = calloc(num + 1, sizeof *made->scratch);
	if (!made->scratch)
		return DIST_ERR_NO_MEMORY;
	for (int p = 0; p < PREDICTIONS; p++) {
		made->ns[p] = calloc(num + 1, sizeof **made->ns);
		if (!made->ns[p])
			return DIST_ERR_NO_MEMORY;
		for (size_t i = 0; i < num; i++)
			made->ns[p][i] = NAN;
	}
	made->constants = *llm_constants_known();
	if (request->refit)
		error = llm_set_fit(&made->set, NULL, &made->constants);
	if (!error && request->blind)
		error = predict_blind(made);
	llm_set_predict(&made->set, &made->constants, made->ns[ALL]);
	llm_set_given(&made->set, &made->constants, made->ns[GIVEN]);
	llm_set_no_skill(&made->set, made->ns[NO_SKILL]);
	return error;
}

static int draw(const struct made *made,
		const struct validate_llm_request *request)
{
	char beside[PLOT_PATH];
	const char *tsv = plot_data(request->form->tsv, request->plot, beside);
	struct dist__rows rows;
	struct dist_message message;

	if (!tsv)
		return DIST_EXIT_OK;
	rows = rows_of(made);
	if (dist__rows_write(&rows, NULL, tsv, &message))
		return refuse("validate", "%s", message.text);
	return request->plot ? plot_draw("lockstep validate", "validation.gp",
					 tsv, request->plot,
					 "Steps of language models, predicted "
					 "and measured")
			     : DIST_EXIT_OK;
}

int validate_llm(const struct validate_llm_request *request)
{
	struct dist_message message = {.text = ""};
	struct dist__progress progress;
	struct made made = {.scratch = NULL};
	int status = DIST_EXIT_OK;

	dist__progress_begin(&progress, "predicting what was measured", 0, 0);
	if (llm_set_load(&made.set, request->names, request->num, &message))
		status = refuse("validate", "%s", message.text);
	else if (predict(&made, request))
		status = out_of_memory("validate");
	dist__progress_end(&progress);
	if (!status)
		status = draw(&made, request);
	if (!status)
		status = print(&made, request);
	if (!status && errors_of(&made, ALL, by_all, "all", false).median >
			       request->max_error)
		status = DIST_EXIT_FAILED;
	for (int p = 0; p < PREDICTIONS; p++)
		free(made.ns[p]);
	free(made.scratch);
	llm_set_release(&made.set);
	return status;
}
