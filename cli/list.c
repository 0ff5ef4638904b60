/* list.c - lockstep list: what comes with this Lockstep. */
#include "cli/command.h"

#include <dirent.h>
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
#include "coll/profile.h"
#include "lockstep/dist.h"
#include "model/llm/kernels.h"
#include "model/measured/machine.h"
#include "model/training/model.h"
#include "scenarios/scenario.h"
#include "sim/launch.h"
#include "cli/sweep/study.h"

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

	/* Prints tables that stand below, for people alone. NULL: none.
	 * Returns 0, or -1: no memory. */
	int (*print_below)(enum dist__form form, FILE *out);
};

#define PATH_SIZE 4096

int list_each_file(const char *kind, const char *suffix, list_add *add,
		   struct dist__rows *table)
{
	struct dist_message message;
	char dir[PATH_SIZE], path[2 * PATH_SIZE];
	int status = DIST_EXIT_OK;
	struct dirent **entries;
	int n;

	dist__data_dir(kind, dir, sizeof dir);
	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		return refuse("list", "no folder %s", dir);
	for (int i = 0; i < n; i++) {
		char *end = strrchr(entries[i]->d_name, '.');

		snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
		if (end && strcmp(end, suffix) == 0) {
			*end = '\0';
			if (add(table, entries[i]->d_name, path, &message))
				status = refuse("list", "%s", message.text);
		}
		free(entries[i]);
	}
	free(entries);
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
	return list_each_file("platforms", ".xml", add_platform, table);
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

/* ---- the GPUs of the catalogue, and what kernels reach of their peaks -----
 */

static const char devices_columns[] =
	"name;tflops_16|16-bit TFLOP/s;fp8_tflops|fp8;fp4_tflops|fp4;"
	"tf32_tflops|tf32;fp32_tflops|fp32;memory_gb|memory GB;"
	"memory_tb_s|TB/s;link_gb_s|links GB/s;host_gb_s|host "
	"GB/s;sms|SMs;power_w|W;gemm|GEMM;"
	"attention;attention_backward|backward;memory_share|memory;"
	"assumed|assumed;note|;source|";

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

	if (llm_device_list(&devices, &num, &message))
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
	{"llms", list_llms_columns, .fill = list_llms},
	{"devices", devices_columns, .fill = fill_devices},
	{"platforms", "name;hosts;ranks;summary", .fill = fill_platforms},
	{"profiles", "name;library;version;source", .suffix = ".yaml",
	 .add = add_profile},
	{"machines", "name;nodes;gpus_per_node;gpu;title", .suffix = ".yaml",
	 .add = add_machine},
	{"measured", list_measured_columns, .fill = list_measured},
	{"studies", "name;points;title", .suffix = ".yaml", .add = add_study},
};

static int listing_fill(const struct listing *listing, struct dist__rows *table)
{
	return listing->fill ? listing->fill(table)
			     : list_each_file(listing->name, listing->suffix,
					      listing->add, table);
}

static int listing_print(const struct listing *listing,
			 const struct table_options *options)
{
	struct dist__rows table = {.columns = listing->columns};
	enum dist__form form = table_options_form(options);
	int status = listing_fill(listing, &table);
	int printed = table_options_print(options, "lockstep list", &table);

	if (!printed && form != FORM_JSON && listing->print_below &&
	    listing->print_below(form, stdout))
		return refuse("list", "out of memory");
	return printed ? printed : status;
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
	.missing = "list what? " LISTS};

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
		       : refuse("list", "no list of \"%s\"; " LISTS "%s",
				argv[1],
				dist__spelling_hint_of(&near, argv[1],
						       manual_list.choices));
}
