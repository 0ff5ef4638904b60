/* model.c - lockstep model: the language models, and one of them in detail. */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/list.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "model/llm/work.h"

/* ---- show --------------------------------------------------------------- */

struct request {
	struct table_options table;
	int seq;
	const char *precision;
};

static const char *const kind_names[LLM_LAYER_KINDS] = {
	[LLM_EMBEDDING] = "embedding",
	[LLM_DENSE] = "layer",
	[LLM_EXPERT] = "layer with experts",
	[LLM_LOCAL] = "layer with a window",
	[LLM_LOCAL_EXPERT] = "layer with both",
	[LLM_HEAD] = "head",
};

/* What one layer of a kind is, and then all of them. */
struct sum {
	double parameters, active, forward, backward, kept;
};

static struct sum layer_sum(const struct llm_work *work,
			    enum llm_layer_kind kind)
{
	const struct llm_layer *layer = &work->layers[kind];
	const struct llm_architecture *m = &work->model;
	struct sum sum = {
		.parameters =
			layer->dense_parameters + layer->expert_parameters,
		.active = layer->dense_parameters,
		.forward = llm_pass_flops(&layer->forward),
		.backward = llm_pass_flops(&layer->backward),
		.kept = layer->activation_bytes,
	};

	if (m->experts)
		sum.active += layer->expert_parameters / m->experts * m->top_k;
	return sum;
}

static void add_row(struct dist__rows *table, const char *name, int layers,
		    const struct sum *sum)
{
	ADD_ROW(table, cell_text(name), cell_int(layers),
		cell_int((int64_t)sum->parameters),
		cell_int((int64_t)sum->active), cell_real(sum->forward / 1e12),
		cell_real(sum->backward / 1e12), cell_real(sum->kept / 1e9));
}

/* Adds a row for each kind of layer, and one for all; returns that. */
static struct sum add_layers(struct dist__rows *table,
			     const struct llm_work *work)
{
	struct sum all = {0};
	int num[LLM_LAYER_KINDS];

	llm_stage_layers(work, 0, 0, num);
	for (int kind = 0; kind < LLM_LAYER_KINDS; kind++) {
		struct sum sum = layer_sum(work, kind);

		if (!num[kind])
			continue;
		add_row(table, kind_names[kind], num[kind], &sum);
		all.parameters += num[kind] * sum.parameters;
		all.active += num[kind] * sum.active;
		all.forward += num[kind] * sum.forward;
		all.backward += num[kind] * sum.backward;
		all.kept += num[kind] * sum.kept;
	}
	add_row(table, "all", work->model.layers, &all);
	return all;
}

/* ", stated 70.55 (+0.00 %)"; "" where nobody states any. Some count active
 * parameters without the embedding: said where that is nearer. */
static void stated_text(char *text, size_t size, double counted,
			double embedding, double stated)
{
	double with = counted / stated - 1;
	double without = (counted - embedding) / stated - 1;
	bool nearer = fabs(without) < fabs(with);

	text[0] = '\0';
	if (stated > 0)
		snprintf(text, size, ", stated %.4g%s (%+.2f %%)", stated / 1e9,
			 nearer ? " without the embedding" : "",
			 round(1e4 * (nearer ? without : with)) / 100 + 0.0);
}

static void print_lead(const struct llm_work *work, const struct sum *all)
{
	const struct llm_architecture *m = &work->model;
	double embedding = work->layers[LLM_EMBEDDING].dense_parameters;
	char total[80], active[80];
	int seq = work->layout.seq;

	stated_text(total, sizeof total, all->parameters, 0, m->published);
	stated_text(active, sizeof active, all->active, embedding,
		    m->published_active);
	printf("%s (%s)\n", m->name, m->source);
	printf("parameters   %.4g billion%s\n", all->parameters / 1e9, total);
	if (m->experts)
		printf("active       %.4g billion%s: %d of %d experts\n",
		       all->active / 1e9, active, m->top_k, m->experts);
	printf("model FLOP   %.4g GFLOP a token at %d tokens; %.4g where all "
	       "scores count, not the causal half\n",
	       llm_model_flops(m, seq, true) / 1e9, seq,
	       llm_model_flops(m, seq, false) / 1e9);
	printf("\nOne layer of each kind, and all together; one sequence of %d "
	       "tokens in %s on one GPU, nothing recomputed\n",
	       seq, llm_precision_name(work->layout.precision));
}

static json_t *stated_json(double stated)
{
	return stated > 0 ? json_real(stated) : json_null();
}

static int print_json(const struct llm_work *work, const struct sum *all,
		      struct dist__rows *table)
{
	const struct llm_architecture *m = &work->model;
	int seq = work->layout.seq;
	json_t *value = json_pack(
		"{s:s, s:s, s:f, s:f, s:o, s:o, s:i, s:s, s:f, s:f, s:o}",
		"name", m->name, "source", m->source, "parameters",
		all->parameters, "active", all->active, "stated_parameters",
		stated_json(m->published), "stated_active",
		stated_json(m->published_active), "seq", seq, "precision",
		llm_precision_name(work->layout.precision), "flops_per_token",
		llm_model_flops(m, seq, true), "flops_per_token_whole_scores",
		llm_model_flops(m, seq, false), "layers",
		dist__rows_json(table));

	return dist__json_print(value, stdout) ? out_of_memory("model show")
					       : DIST_EXIT_OK;
}

static const char show_columns[] =
	"kind;layers;parameters;active;forward_tflop|forward "
	"TFLOP;backward_tflop|backward TFLOP;kept_gb|kept GB";

static int print(const struct request *request, const struct llm_work *work)
{
	struct dist__rows table = {.columns = show_columns};
	struct sum all = add_layers(&table, work);

	if (request->table.json)
		return print_json(work, &all, &table);
	print_lead(work, &all);
	return table_options_print(&request->table, "lockstep model", &table);
}

/* Work on one GPU; which it is does not matter to what is counted. */
static int show(const struct request *request, const char *name)
{
	const struct llm_pace pace = {1, 1, 1};
	struct dist_message message;
	struct llm_architecture model;
	struct llm_layout layout;
	struct llm_device device;
	struct llm_work work;
	struct dist__refusal refusal;
	int status;

	if (llm_architecture_find(&model, name, &message))
		return refuse("model show", "%s", message.text);
	llm_layout_init(&layout);
	layout.seq = request->seq ? request->seq : 4096;
	layout.precision = llm_precision_find(
		request->precision ? request->precision : "bf16");
	if (llm_layout_complete(&layout, &model, &refusal))
		return refuse("model show", "--%s: %s", refusal.option,
			      refusal.message.text);
	if (llm_device_find(&device, "B200", &message))
		return refuse("model show", "%s", message.text);
	if (llm_work_init(&work, &model, &layout, &device, &pace, &message))
		status = refuse("model show", "%s", message.text);
	else
		status = print(request, &work);
	llm_device_release(&device);
	return status;
}

/* ---- options ------------------------------------------------------------ */

static const struct option show_options[] = {
	{"seq", OPTION_COUNT, offsetof(struct request, seq), "N",
	 .help = "show: tokens of a sequence", .usual = "4096", .min = 1,
	 .max = 1 << 26, .kilo = true},
	{"precision", OPTION_CHOICE, offsetof(struct request, precision),
	 "bf16|fp8|fp32", .help = "show: precision of matrix products",
	 .usual = "bf16"},
	{.name = NULL}};

const struct manual manual_model = {
	.usage = "list [OPTION...]\nshow [OPTION...] NAME\nnew [OPTION...]",
	.about = "Language models that come with Lockstep, and the parameters, "
		 "FLOP and activations of one. NAME is one of the list, "
		 "Hugging Face's config.json, or its folder. For options of "
		 "new see lockstep model new --help.",
	.examples = {"lockstep model list",
		     "lockstep model show llama3-70b --seq 8192"},
	.choices = "list|show|new",
	.groups = GROUPS({.options = show_options},
			 {"Tables", form_options,
			  .offset = offsetof(struct request, table)}),
	.most_words = ANY_WORDS};

int command_model(int argc, const char **argv)
{
	struct request request = {.precision = NULL};
	int status;

	if (argc > 1 && strcmp(argv[1], "new") == 0) {
		argv[1] = "lockstep model new";
		return command_model_new(argc - 1, argv + 1);
	}
	if (!arguments_parse(&manual_model, &argc, argv, &request, &status))
		return status;
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return request.seq || request.precision
			       ? refuse("model", "list: --seq, --precision: "
						 "expected with show")
			       : list_print("llms", &request.table);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(&request, argv[2]);
	return refuse("model",
		      "expected \"list\", \"show NAME\" or \"new ...\"");
}
