/* llm_set.c - reading all measured steps of language models, and predicting
 * them. */
#include "model/validation/llm_set.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/data.h"
#include "base/refuse.h"
#include "base/statistics.h"
#include "base/text.h"

/* ---- reading ----------------------------------------------------------- */

static enum dist_error add_source(struct llm_set *set, const char *path,
				  struct dist_message *message)
{
	struct llm_source *source = dist__array_add(
		&set->sources, &set->num_sources,
		&(struct llm_source){.name = ""}, sizeof *source);

	if (!source)
		return DIST_ERR_NO_MEMORY;
	dist__stem(source->name, LLM_SET_NAME, path, ".tsv");
	return llm_rows_load(&source->rows, path, message);
}

static enum dist_error add_recipes(struct llm_set *set, const char *path,
				   struct dist_message *message)
{
	struct llm_recipes *recipes = dist__array_add(
		&set->recipes, &set->num_recipes,
		&(struct llm_recipes){.rows = NULL}, sizeof *recipes);

	return recipes ? llm_recipes_load(recipes, path, message)
		       : DIST_ERR_NO_MEMORY;
}

/* Whether a table is asked for. */
static bool is_wanted(const char *path, const char *const *names, size_t num)
{
	char name[LLM_SET_NAME];

	dist__stem(name, LLM_SET_NAME, path, ".tsv");
	for (size_t i = 0; i < num; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return num == 0;
}

static enum dist_error
each_file(struct llm_set *set, const char *folder, const char *const *names,
	  size_t num,
	  enum dist_error (*add)(struct llm_set *set, const char *path,
				 struct dist_message *message),
	  struct dist_message *message)
{
	struct dist__files files;
	enum dist_error error = dist__data_files(&files, folder, ".tsv");

	if (error == DIST_ERR_IO) /* no such folder */
		error = DIST_OK;
	for (size_t i = 0; !error && i < files.num; i++)
		if (is_wanted(files.paths[i], names, num))
			error = add(set, files.paths[i], message);
	dist__files_release(&files);
	return error;
}

/* The table of that name to which nothing is fitted, else name itself. */
static void unseen_path(const char *name, char *path, size_t size)
{
	char dir[PATH_MAX];

	dist__data_dir("measured/llm-unseen", dir, sizeof dir);
	snprintf(path, size, "%s/%.128s.tsv", dir, name);
	if (access(path, R_OK) != 0)
		snprintf(path, size, "%s", name);
}

/* Those of the names that are files, or of tables to which nothing is fitted.
 */
static enum dist_error add_files(struct llm_set *set, const char *const *names,
				 size_t num, struct dist_message *message)
{
	char path[PATH_MAX + 160];
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < num; i++) {
		bool known = false;

		for (size_t s = 0; s < set->num_sources; s++)
			known |= strcmp(set->sources[s].name, names[i]) == 0;
		if (known)
			continue;
		unseen_path(names[i], path, sizeof path);
		if (access(path, R_OK) != 0)
			return dist__refuse(
				message,
				"no table \"%.128s\": expected a name of "
				"measured/llm, or a readable file of that form",
				names[i]);
		error = add_source(set, path, message);
	}
	return error;
}

/* ---- cases ------------------------------------------------------------- */

static const struct llm_device *device_named(struct llm_set *set,
					     const char *name,
					     struct dist_message *message)
{
	struct llm_device found;

	for (size_t i = 0; i < set->num_devices; i++)
		if (strcmp(set->devices[i].name, name) == 0)
			return &set->devices[i];
	if (llm_device_find(&found, name, message))
		return NULL;
	for (size_t i = 0; i < set->num_devices; i++)
		if (strcmp(set->devices[i].name, found.name) == 0) {
			llm_device_release(&found);
			return &set->devices[i];
		}
	set->devices[set->num_devices] = found;
	return &set->devices[set->num_devices++];
}

static enum dist_error see(const struct llm_case *made,
			   const struct llm_device *device, bool *fits,
			   struct dist_message *message)
{
	struct llm_pace pace = llm_pace_of(device, made->layout.precision);
	struct llm_memory memory;
	struct llm_work work;
	enum dist_error error = llm_work_init(
		&work, &made->model, &made->layout, device, &pace, message);

	if (error)
		return error;
	llm_memory_worst(&memory, &work, device);
	*fits = memory.fits;
	return DIST_OK;
}

/* Drops what need not be recomputed: layer by layer, not chunk by chunk as
 * libraries do. What a source does not say is a guess, and a chunk is more than
 * the model of memory is off by. */
static enum dist_error relax(struct llm_case *made,
			     const struct llm_device *device,
			     struct dist_message *message)
{
	struct llm_layout *l = &made->layout;
	enum dist_error error = DIST_OK;
	bool fits = true;

	if (l->vpp == 1 || l->recompute != LLM_RECOMPUTE_FULL)
		return DIST_OK;
	if (l->recompute_layers == 0)
		l->recompute_layers = (made->model.layers + l->pp - 1) / l->pp;
	while (!error && fits && l->recompute_layers > 1) {
		l->recompute_layers--;
		error = see(made, device, &fits, message);
	}
	l->recompute_layers += !fits;
	return error;
}

/* What a recipe says, if it fits by the model of memory: it may be another
 * release's. Else the least that does. It ran: where nothing does the model of
 * memory is wrong, and nothing was made again. */
static enum dist_error choose(struct llm_case *made,
			      const struct llm_device *device,
			      struct dist_message *message)
{
	struct llm_layout *l = &made->layout;
	struct llm_pace pace = llm_pace_of(device, l->precision);
	bool fits = false;
	enum dist_error error = DIST_OK;

	if (l->recompute != LLM_RECOMPUTE_AUTO)
		error = see(made, device, &fits, message);
	if (error || fits)
		return error;
	/* What is published is tuned to the brim. */
	l->recompute = LLM_RECOMPUTE_AUTO;
	l->no_headroom = true;
	error = llm_recompute_choose(l, &made->model, device, &pace, message);
	l->no_headroom = false;
	if (l->recompute == LLM_RECOMPUTE_SELECTIVE &&
	    l->recompute_modules & LLM_MODULE_MLP) /* relax leaves less */
		l->recompute = LLM_RECOMPUTE_FULL;
	if (!error)
		error = see(made, device, &fits, message);
	if (!error && fits)
		error = relax(made, device, message);
	/* Hugging Face's models recompute every layer or none; those with
	 * experts are AutoModel's own. */
	if (!fits || (strstr(made->row->framework, "AutoModel") &&
		      made->model.experts == 0))
		l->recompute_layers = 0;
	if (!error && !fits)
		l->recompute = LLM_RECOMPUTE_NONE;
	return error;
}

static void add_case(struct llm_set *set, struct llm_case *made)
{
	struct dist_message message = {.text = ""};
	const struct llm_device *device = NULL;

	if (!made->why[0])
		device = device_named(set, made->gpu, &message);
	if (device)
		llm_case_place(made, device);
	if (made->why[0])
		device = NULL;
	if (device && made->guessed && choose(made, device, &message))
		device = NULL;
	if (!device) {
		if (!made->why[0])
			snprintf(made->why, sizeof made->why, "%.159s",
				 message.text);
		set->unfit[set->num_unfit++] = *made;
		return;
	}
	set->device_of[set->num] = device;
	set->cases[set->num++] = *made;
}

static enum dist_error make_cases(struct llm_set *set)
{
	size_t rows = 0;

	for (size_t s = 0; s < set->num_sources; s++)
		rows += set->sources[s].rows.tsv.num_rows;
	set->cases = calloc(rows + 1, sizeof *set->cases);
	set->unfit = calloc(rows + 1, sizeof *set->unfit);
	set->device_of = calloc(rows + 1, sizeof *set->device_of);
	set->devices = calloc(rows + 1, sizeof *set->devices);
	if (!set->cases || !set->unfit || !set->device_of || !set->devices)
		return DIST_ERR_NO_MEMORY;
	for (size_t s = 0; s < set->num_sources; s++) {
		const struct llm_source *source = &set->sources[s];

		for (size_t i = 0; i < source->rows.tsv.num_rows; i++) {
			struct llm_case made;

			llm_case_make(&made, &source->rows.rows[i],
				      source->name, set->recipes,
				      set->num_recipes);
			add_case(set, &made);
		}
	}
	return DIST_OK;
}

/* What cannot be predicted is not judged, and says why. */
static void part_unfit(struct llm_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->num; i++) {
		struct llm_case *of = &set->cases[i];
		struct dist_message message;
		struct llm_answer answer;

		if (llm_set_step(set, i, llm_constants_known(), 1, &answer,
				 &message)) {
			snprintf(of->why, sizeof of->why, "%.159s",
				 message.text);
			set->unfit[set->num_unfit++] = *of;
			continue;
		}
		set->device_of[kept] = set->device_of[i];
		set->cases[kept++] = *of;
	}
	set->num = kept;
}

enum dist_error llm_set_load(struct llm_set *set, const char *const *names,
			     size_t num, struct dist_message *message)
{
	char path[PATH_MAX];
	enum dist_error error;

	*set = (struct llm_set){.num = 0};
	error = dist__data_find("profiles", "nccl", ".yaml", path, sizeof path,
				message);
	if (!error)
		error = dist__profile_load(&set->profile, path, message);
	if (!error)
		error = each_file(set, "measured/llm-recipes", NULL, 0,
				  add_recipes, message);
	if (!error)
		error = each_file(set, "measured/llm", names, num, add_source,
				  message);
	if (!error)
		error = add_files(set, names, num, message);
	if (!error)
		error = make_cases(set);
	if (!error)
		part_unfit(set);
	return error;
}

void llm_set_release(struct llm_set *set)
{
	for (size_t i = 0; i < set->num_sources; i++)
		dist__tsv_release(&set->sources[i].rows.tsv);
	for (size_t i = 0; i < set->num_recipes; i++)
		dist__tsv_release(&set->recipes[i].tsv);
	for (size_t i = 0; i < set->num_devices; i++)
		llm_device_release(&set->devices[i]);
	dist__profile_release(&set->profile);
	free(set->sources);
	free(set->recipes);
	free(set->devices);
	free(set->cases);
	free(set->unfit);
	free(set->device_of);
	*set = (struct llm_set){.num = 0};
}

/* ---- predicting -------------------------------------------------------- */

struct llm_cluster llm_set_cluster(const struct llm_set *set, size_t i,
				   const struct llm_constants *constants)
{
	const struct llm_case *of = &set->cases[i];

	return (struct llm_cluster){.device = set->device_of[i],
				    .profile = &set->profile,
				    .fabric = &of->fabric,
				    .remade = of->remade,
				    .efficiency = 1,
				    .software = of->software,
				    .constants = constants};
}

enum dist_error llm_set_step(const struct llm_set *set, size_t i,
			     const struct llm_constants *constants,
			     double scale, struct llm_answer *answer,
			     struct dist_message *message)
{
	const struct llm_case *of = &set->cases[i];
	const struct llm_device *device = set->device_of[i];
	struct llm_constants scaled = *constants;
	const struct llm_cluster cluster = llm_set_cluster(set, i, &scaled);
	struct llm_pace pace;
	struct llm_work work;
	enum dist_error error;

	for (int c = LLM_GEMM_VOLTA; c <= LLM_GEMM_CDNA; c++)
		scaled.value[c] *= scale;
	scaled.value[LLM_ATTENTION_SHARE] *= scale;
	scaled.value[LLM_MEMORY_SHARE] *= scale;
	pace = llm_constants_pace(&scaled, device, of->layout.precision,
				  of->software);
	error = llm_work_init(&work, &of->model, &of->layout, device, &pace,
			      message);
	return error ? error : llm_step(answer, &work, &cluster, message);
}

static double step_ns(const struct llm_set *set, size_t i,
		      const struct llm_constants *constants, double scale)
{
	struct dist_message message;
	struct llm_answer answer;

	return llm_set_step(set, i, constants, scale, &answer, &message)
		       ? NAN
		       : answer.step_ns;
}

void llm_set_predict(const struct llm_set *set,
		     const struct llm_constants *constants, double *ns)
{
	for (size_t i = 0; i < set->num; i++)
		ns[i] = step_ns(set, i, constants, 1);
}

static bool same_hardware(const struct llm_case *a, const struct llm_case *b)
{
	return strcmp(a->source, b->source) == 0 &&
	       strcmp(a->gpu, b->gpu) == 0 &&
	       a->layout.precision == b->layout.precision;
}

/* One machine, too, where a source names submitters or sections. */
static bool same_group(const struct llm_case *a, const struct llm_case *b)
{
	return same_hardware(a, b) &&
	       (!a->row->group ||
		(b->row->group && strcmp(a->row->group, b->row->group) == 0)) &&
	       strcmp(a->model.name, b->model.name) == 0 &&
	       a->model.layers == b->model.layers &&
	       a->model.hidden == b->model.hidden &&
	       a->layout.lora == b->layout.lora && a->software == b->software;
}

/* The row of i's group of fewest GPUs. */
static size_t reference_of(const struct llm_set *set, size_t i)
{
	size_t best = i;

	for (size_t k = 0; k < set->num; k++)
		if (same_group(&set->cases[k], &set->cases[i]) &&
		    (set->cases[k].layout.gpus < set->cases[best].layout.gpus ||
		     (set->cases[k].layout.gpus ==
			      set->cases[best].layout.gpus &&
		      k < best)))
			best = k;
	return best;
}

#define SCALE_MOST 3.0

/* The scale by which case i is met, within what it can be. */
static double scale_of(const struct llm_set *set, size_t i,
		       const struct llm_constants *constants)
{
	double low = 1 / SCALE_MOST, high = SCALE_MOST;

	for (int n = 0; n < 14; n++) {
		double middle = sqrt(low * high);

		if (step_ns(set, i, constants, middle) >
		    set->cases[i].measured_ns)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

void llm_set_given(const struct llm_set *set,
		   const struct llm_constants *constants, double *ns)
{
	for (size_t i = 0; i < set->num; i++)
		ns[i] = NAN;
	for (size_t i = 0; i < set->num; i++) {
		double scale;

		if (reference_of(set, i) != i)
			continue;
		scale = NAN;
		for (size_t k = 0; k < set->num; k++) {
			if (k == i ||
			    !same_group(&set->cases[k], &set->cases[i]))
				continue;
			if (isnan(scale))
				scale = scale_of(set, i, constants);
			ns[k] = step_ns(set, k, constants, scale);
		}
	}
}

/* ---- no skill ---------------------------------------------------------- */

static double flops_of(const struct llm_case *of)
{
	return (double)of->layout.global_batch * of->layout.seq *
	       llm_model_flops(&of->model, of->layout.seq, true) /
	       of->layout.gpus;
}

void llm_set_no_skill(const struct llm_set *set, double *ns)
{
	double *rates = calloc(set->num + 1, sizeof *rates);

	for (size_t i = 0; i < set->num; i++) {
		const struct llm_case *of = &set->cases[i];
		size_t num = 0;

		for (size_t k = 0; rates && k < set->num; k++) {
			const struct llm_case *like = &set->cases[k];

			if (same_hardware(of, like))
				rates[num++] =
					flops_of(like) / like->measured_ns;
		}
		dist__sort_numbers(rates, num);
		ns[i] = num ? flops_of(of) / dist__quantile(rates, num, 0.5)
			    : NAN;
	}
	free(rates);
}
