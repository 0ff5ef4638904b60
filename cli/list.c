/* list.c - lockstep list: what comes with this Lockstep. */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "coll/algorithm.h"
#include "base/spelling.h"
#include "base/statistics.h"
#include "coll/profile.h"
#include "lockstep/dist.h"
#include "model/llm/kernels.h"
#include "model/llm/work.h"
#include "model/measured/baseline.h"
#include "model/measured/collectives.h"
#include "model/measured/machine.h"
#include "model/measured/steps.h"
#include "model/training/model.h"
#include "scenarios/scenario.h"
#include "sim/launch.h"
#include "cli/sweep/study.h"

/* Adds a row for the file at path, called name without its suffix. Errors: any
 * of reading it; message says what was expected. */
typedef enum dist_error list_add(struct dist__rows *table, const char *name,
				 const char *path,
				 struct dist_message *message);

/* Something that can be listed. */
struct listing {
	const char *name;
	const char *columns;

	/* Adds the rows; one that cannot be read is named on stderr and left
	 * out. Returns the exit status. NULL: a row a file of the folder of
	 * this name. */
	int (*fill)(struct dist__rows *table);
	const char *suffix;
	list_add *add;

	/* Columns of a second table of the rows, for people alone. NULL: none.
	 */
	const char *below;

	/* Prints tables that stand below, for people alone. NULL: none.
	 * Returns 0, or -1: no memory. */
	int (*print_below)(enum dist__form form, FILE *out);
};

/* Adds every file of a kind, in order of name. Returns DIST_EXIT_OK, or
 * DIST_EXIT_USAGE after a line on stderr: there is no such folder, or add
 * failed for one. */
static int each_file(const char *kind, const char *suffix, list_add *add,
		     struct dist__rows *table)
{
	struct dist_message message;
	struct dist__files files;
	char dir[PATH_MAX], name[NAME_MAX + 1];
	int status = DIST_EXIT_OK;

	dist__data_dir(kind, dir, sizeof dir);
	if (dist__data_files(&files, kind, suffix))
		status = refuse("list", "no folder %s", dir);
	for (size_t i = 0; i < files.num; i++) {
		dist__stem(name, sizeof name, files.paths[i], suffix);
		if (add(table, name, files.paths[i], &message))
			status = refuse("list", "%s", message.text);
	}
	dist__files_release(&files);
	return status;
}

static int fill_scenarios(struct dist__rows *table)
{
	for (const struct scenario *s = scenario_table; s->name; s++)
		ADD_ROW(table, cell_text(s->name), cell_text(s->summary));
	return DIST_EXIT_OK;
}

static int fill_algorithms(struct dist__rows *table)
{
	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++)
		ADD_ROW(table, cell_text(dist__op_name((*a)->op)),
			cell_text((*a)->name), cell_text((*a)->summary),
			cell_text((*a)->formula));
	return DIST_EXIT_OK;
}

static enum dist_error add_model(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct model model;
	enum dist_error error = model_load(&model, path, message);

	if (error)
		return error;
	ADD_ROW(table, cell_copy(name), cell_size(model.numel),
		cell_size(model.num_parameters),
		cell_real(model.forward_flops / 1e9));
	model_release(&model);
	return DIST_OK;
}

static enum dist_error add_profile(struct dist__rows *table, const char *name,
				   const char *path,
				   struct dist_message *message)
{
	struct dist__profile profile;
	enum dist_error error = dist__profile_load(&profile, path, message);

	if (error)
		return error;
	ADD_ROW(table, cell_copy(name),
		cell_copy(profile.library[0] ? profile.library : "lockstep"),
		cell_copy(profile.version), cell_copy(profile.source));
	dist__profile_release(&profile);
	return DIST_OK;
}

static enum dist_error add_platform(struct dist__rows *table, const char *name,
				    const char *path,
				    struct dist_message *message)
{
	int hosts, ranks;
	char text[512];
	enum dist_error error =
		dist__platform_hosts(path, &hosts, &ranks, message);

	if (error)
		return error;
	provenance_platform(path, text, sizeof text);
	text[strcspn(text, "\n")] = '\0';
	ADD_ROW(table, cell_copy(name), cell_int(hosts), cell_int(ranks),
		cell_copy(text));
	return DIST_OK;
}

static int fill_platforms(struct dist__rows *table)
{
	struct dist_message why;

	if (!dist__sim_world.is_available(&why))
		return refuse("list", "%s", why.text);
	return each_file("platforms", ".xml", add_platform, table);
}

static enum dist_error add_machine(struct dist__rows *table, const char *name,
				   const char *path,
				   struct dist_message *message)
{
	struct machine machine;
	enum dist_error error = machine_load(&machine, path, message);

	if (error)
		return error;
	ADD_ROW(table, cell_copy(name), cell_int(machine.nodes),
		cell_size(machine.gpus_per_node),
		cell_copy(machine.gpu[0] ? machine.gpu : NULL),
		cell_copy(machine.title));
	return DIST_OK;
}

static enum dist_error add_study(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct study study;
	enum dist_error error = study_load(&study, path, message);

	if (error)
		return error;
	ADD_ROW(table, cell_copy(name), cell_size(study_num_points(&study)),
		cell_copy(study.title));
	study_release(&study);
	return DIST_OK;
}

/* ---- language models ---------------------------------------------------- */

static const char llms_columns[] =
	"name;parameters|parameters (B);active|active "
	"(B);layers;hidden;heads;kv_heads|kv "
	"heads;ffn;experts;top_k|top k;source|";

static int fill_llms(struct dist__rows *table)
{
	struct llm_architecture *models;
	struct dist_message message;
	size_t num;

	if (llm_catalogue(&models, &num, &message))
		return refuse("list", "%s", message.text);
	for (size_t i = 0; i < num; i++) {
		const struct llm_architecture *m = &models[i];
		struct llm_parameters p;

		llm_count_parameters(m, &p);
		ADD_ROW(table, cell_copy(m->name), cell_real(p.total / 1e9),
			cell_real(p.active / 1e9), cell_int(m->layers),
			cell_int(m->hidden), cell_int(m->heads),
			cell_int(m->kv_heads),
			cell_int(m->ffn ? m->ffn : m->expert_ffn),
			cell_int(m->experts ? m->experts : CELL_UNKNOWN),
			cell_int(m->experts ? m->top_k : CELL_UNKNOWN),
			cell_copy(m->source));
	}
	free(models);
	return DIST_EXIT_OK;
}

/* ---- the tables of measured figures ------------------------------------ */

/* The title has no column: it stands in the JSON and TSV alone. */
static const char measured_columns[] = "name;kind;title|;rows;calibration;fit_"
				       "median_pct;fit_p90_pct;machine;source";

/* The value of a field that is the same in every row; "several" if not, NULL:
 * none has it. */
static const char *common_value(const struct tsv_table *tsv, const char *field)
{
	const char *first = dist__tsv_get(tsv, 0, field);

	for (size_t i = 1; first && i < tsv->num_rows; i++) {
		const char *value = dist__tsv_get(tsv, i, field);

		if (!value || strcmp(value, first) != 0)
			return "several";
	}
	return first;
}

/* What the two-parameter fit misses a table by, in percent: median, and what
 * nine of ten rows stay below; NAN: it is none of collectives. */
struct fit {
	double median, p90;
};

static const struct fit no_fit = {NAN, NAN};

static void add_measured(struct dist__rows *table, const char *name,
			 const char *kind, const struct tsv_table *tsv,
			 struct fit fit)
{
	int64_t calibration = 0;

	for (size_t i = 0; i < tsv->num_rows; i++) {
		const char *use = dist__tsv_get(tsv, i, "use");

		calibration += use && strcmp(use, "calibration") == 0;
	}
	ADD_ROW(table, cell_copy(name), cell_text(kind),
		cell_copy(dist__tsv_title(tsv)), cell_size(tsv->num_rows),
		cell_int(calibration), cell_real(fit.median),
		cell_real(fit.p90), cell_copy(common_value(tsv, "machine")),
		cell_copy(dist__tsv_source(tsv)));
}

static struct fit fit_of(const struct collectives *read)
{
	double *errors = calloc(read->tsv.num_rows + 1, sizeof *errors);
	size_t num = errors ? baseline_errors(read, errors) : 0;
	struct fit fit = no_fit;

	dist__sort_numbers(errors, num);
	if (num > 0) {
		fit.median = 100 * dist__quantile(errors, num, 0.5);
		fit.p90 = 100 * dist__quantile(errors, num, 0.9);
	}
	free(errors);
	return fit;
}

static enum dist_error add_collectives(struct dist__rows *table,
				       const char *name, const char *path,
				       struct dist_message *message)
{
	struct collectives read;
	enum dist_error error = collectives_load(&read, path, message);

	if (!error)
		add_measured(table, name, "collectives", &read.tsv,
			     fit_of(&read));
	dist__tsv_release(&read.tsv);
	return error;
}

static enum dist_error add_steps(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct steps read;
	enum dist_error error = steps_load(&read, path, message);

	if (!error)
		add_measured(table, name, "steps", &read.tsv, no_fit);
	dist__tsv_release(&read.tsv);
	return error;
}

/* A table that nothing but its form is asked of, called as its folder. */
static enum dist_error add_plain(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct tsv_table tsv;
	enum dist_error error = dist__tsv_load(&tsv, path, message);

	if (!error)
		add_measured(table, name,
			     strstr(path, "/hardware/") ? "hardware" : "parts",
			     &tsv, no_fit);
	dist__tsv_release(&tsv);
	return error;
}

static int fill_measured(struct dist__rows *table)
{
	static const struct {
		const char *folder;
		list_add *add;
	} kinds[] = {
		{"measured/collectives", add_collectives},
		{"measured/steps", add_steps},
		{"measured/parts", add_plain},
		{"measured/hardware", add_plain},
	};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (each_file(kinds[i].folder, ".tsv", kinds[i].add, table))
			status = DIST_EXIT_USAGE;
	return status;
}

/* ---- GPUs, and what kernels reach of their peaks ------------------------ */

static const char devices_columns[] =
	"name;tflops_16|16-bit TFLOP/s;fp8_tflops|fp8;fp4_tflops|fp4;"
	"tf32_tflops|tf32;fp32_tflops|fp32;memory_gb|memory GB;"
	"memory_tb_s|TB/s;link_gb_s|links GB/s;host_gb_s|host "
	"GB/s;sms|SMs;power_w|W;gemm|;attention|;attention_backward|;"
	"memory_share|;assumed|;note|;source|";
static const char devices_below[] =
	"name;|;|;|;|;|;|;|;|;|;|;|;gemm|GEMM;attention;|;"
	"memory_share|memory;assumed;|;|";

/* A peak in TFLOP/s; nothing where it cannot. */
static struct dist__cell peak_cell(double peak)
{
	return peak > 0 ? cell_number(CELL_REAL, 6, peak / 1e12)
			: cell_text(NULL);
}

static void add_device(struct dist__rows *table, const struct llm_device *d)
{
	const struct llm_efficiency *reached = d->efficiency;
	double half =
		d->peak[LLM_BF16] > 0 ? d->peak[LLM_BF16] : d->peak[LLM_FP16];

	ADD_ROW(table, cell_copy(d->name), peak_cell(half),
		peak_cell(d->peak[LLM_FP8]), peak_cell(d->peak[LLM_FP4]),
		peak_cell(d->peak[LLM_TF32]), peak_cell(d->peak[LLM_FP32]),
		cell_real(d->memory_bytes / 1073741824.0),
		cell_real(d->memory_Bps / 1e12), cell_real(d->link_Bps / 1e9),
		d->host_Bps > 0 ? cell_real(d->host_Bps / 1e9)
				: cell_text(NULL),
		cell_int(d->sms), cell_real(d->power_w),
		cell_fixed(2, reached->gemm[d->peak[LLM_BF16] > 0 ? LLM_BF16
								  : LLM_FP16]),
		cell_fixed(2, reached->forward[LLM_FASTEST]),
		cell_fixed(2, reached->backward[LLM_FASTEST]),
		cell_fixed(2, d->copy_share),
		cell_copy(d->assumed[0] ? d->assumed : NULL),
		cell_copy(d->note[0] ? d->note : NULL), cell_copy(d->source));
}

static int fill_devices(struct dist__rows *table)
{
	struct llm_device *devices;
	struct dist_message message;
	size_t num;

	if (llm_device_list(&devices, &num, true, &message))
		return refuse("list", "%s", message.text);
	for (size_t i = 0; i < num; i++)
		add_device(table, &devices[i]);
	llm_device_list_release(devices, num);
	return DIST_EXIT_OK;
}

/* ---- the lists ---------------------------------------------------------- */

static const struct listing listings[] = {
	{"backends", list_backends_columns, list_backends,
	 .print_below = list_backends_calls},
	{"scenarios", "name;summary", .fill = fill_scenarios},
	{"algorithms", "op;name;summary;time", .fill = fill_algorithms},
	{"models", "name;parameters;tensors;forward_gflop", .suffix = ".csv",
	 .add = add_model},
	{"llms", llms_columns, .fill = fill_llms},
	{"devices", devices_columns, .fill = fill_devices,
	 .below = devices_below},
	{"platforms", "name;hosts;ranks;summary", .fill = fill_platforms},
	{"profiles", "name;library;version;source", .suffix = ".yaml",
	 .add = add_profile},
	{"machines", "name;nodes;gpus_per_node;gpu;title", .suffix = ".yaml",
	 .add = add_machine},
	{"measured", measured_columns, .fill = fill_measured},
	{"studies", "name;points;title", .suffix = ".yaml", .add = add_study},
};

static int listing_fill(const struct listing *listing, struct dist__rows *table)
{
	return listing->fill ? listing->fill(table)
			     : each_file(listing->name, listing->suffix,
					 listing->add, table);
}

static int listing_print(const struct listing *listing,
			 const struct table_options *options)
{
	struct dist__rows table = {.columns = listing->columns};
	enum dist__form form = table_options_form(options);
	int status = listing_fill(listing, &table);
	int printed = table_options_print(options, "lockstep list", &table);

	if (!printed && form != FORM_JSON && listing->below) {
		table = (struct dist__rows){.columns = listing->below};
		status = listing_fill(listing, &table);
		printed = dist__rows_section(&table, "", form, stdout);
	}
	if (!printed && form != FORM_JSON && listing->print_below &&
	    listing->print_below(form, stdout))
		return refuse("list", "out of memory");
	return printed ? printed : status;
}

int list_print(const char *kind, const struct table_options *options)
{
	return listing_print(DIST__NAMED(listings, kind), options);
}

void list_print_names(const char *kind, FILE *out)
{
	const struct listing *listing = DIST__NAMED(listings, kind);
	struct dist__rows table = {.columns = listing->columns};
	char *text = NULL;
	size_t size;
	FILE *rows = open_memstream(&text, &size);

	(void)listing_fill(listing, &table);
	if (rows && dist__rows_print(&table, FORM_TSV, rows) == 0 &&
	    fclose(rows) == 0 && strchr(text, '\n'))
		fputs(strchr(text, '\n') + 1, out);
	free(text);
	dist__rows_release(&table);
}

#define LISTS                                                                  \
	"backends, scenarios, algorithms, models, llms, devices, platforms, "  \
	"profiles, machines, measured or studies"

const struct manual manual_list = {
	.usage = "[OPTION...] LIST",
	.about = "Lists what comes with this Lockstep. LIST is one of " LISTS
		 ". The time of an algorithm is that of p ranks and n bytes: "
		 "alpha for a message, beta to carry a byte, gamma to reduce "
		 "one.",
	.examples = {"lockstep list models"},
	.choices = "backends|scenarios|algorithms|models|llms|devices|"
		   "platforms|profiles|machines|measured|studies",
	.groups = GROUPS({.options = form_options}),
	.least_words = 1,
	.most_words = 1,
	.missing = "expected " LISTS};

int command_list(int argc, const char **argv)
{
	const struct listing *listing;
	struct table_options form = {.tsv = NULL};
	struct dist__spelling near;
	int status;

	if (!arguments_parse(&manual_list, &argc, argv, &form, &status))
		return status;
	listing = DIST__NAMED(listings, argv[1]);
	return listing ? listing_print(listing, &form)
		       : refuse("list", "no list \"%s\": expected " LISTS "%s",
				argv[1],
				dist__spelling_hint_of(&near, argv[1],
						       manual_list.choices));
}
