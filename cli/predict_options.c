/* predict_options.c - the options of lockstep predict, also for language
 * models. */
#include "cli/predict_options.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "base/spelling.h"
#include "cli/command.h"
#include "cli/option_rows.h"
#include "model/training/model.h"

#define AT(field) offsetof(struct predict_options, field)

static const struct option network_options[] = {
	{"workload", OPTION_TEXT, AT(workload_name), "W",
	 .help = "kind of step: " WORKLOAD_NAMES
		 "; each has options of its own, see --workload W --help",
	 .usual = "ddp_step", .list = "workloads"},
	{"platform", OPTION_TEXT, AT(platform), "PLATFORM",
	 .help = "hosts and links: a name or a SimGrid XML file",
	 .list = "platforms"},
	{"machine", OPTION_TEXT, AT(machine), "NAME[:TRANSPORT]",
	 .help = "instead of a platform: a measured machine, with as many "
		 "nodes as needed, on its first network or on TRANSPORT",
	 .list = "machines"},
	{RANKS_PER_NODE_ROW(AT(ranks_per_node))},
	{TOPOLOGY_ROW(AT(llm.topology))},
	{UNCALIBRATED_ROW(AT(uncalibrated))},
	{"world-size", OPTION_TEXT, AT(world_sizes), "N[,N...]",
	 .help = "numbers of ranks", .usual = "as many as the platform holds",
	 .also = "nproc-per-node"},
	{PROFILE_ROW(AT(profile), "")},
	{"algorithm", OPTION_TEXT, AT(algorithm), "A",
	 .help = "algorithm, instead of the profile's choice"},
	{FIDELITY_ROW(OPTION_CHOICE, AT(fidelity), "", "collectives are")},
	{ENGINE_ROW(OPTION_CHOICE, AT(engine), "")},
	{"trace", OPTION_TEXT, AT(trace), "FILE",
	 .help = "write a trace of the step"},
	{"no-explain", OPTION_SWITCH, AT(no_explain), NULL,
	 .help = "do not print the critical path"},
	{DRY_RUN_ROW(AT(dry_run))},
	{.name = NULL}};

const struct manual manual_predict = {
	.usage = "[--workload W] [--model MODEL] --platform PLATFORM "
		 "[OPTION...]\n[--workload W] [--model MODEL] --machine NAME "
		 "--world-size N [OPTION...]",
	.about = "Predicts one training step and its parts. Below the table "
		 "is the critical path of the last world size, which says "
		 "why its step takes so long.\n\nAn option for links "
		 "changes all links between nodes, or all within nodes, by the "
		 "same factor. A step that needs more memory than the GPU has, "
		 "or computes faster than its peak, is marked as impossible.",
	.examples = {"lockstep predict --model resnet50 --gpu A100 --platform "
		     "star-64 --world-size 8,16,32,64"},
	.groups = GROUPS({.options = network_options},
			 {"Training step", workload_options, AT(arguments)},
			 {"Links", rewiring_options, AT(rewiring)},
			 {"Tables", form_options, AT(form)})};

/* ---- of a language model ---------------------------------------------- */

static const struct option language_options[] = {
	{"workload", OPTION_CHOICE, AT(workload_name), "llm",
	 .help = "as lockstep run calls it; not needed"},
	{"world-size", OPTION_TEXT, AT(world_sizes), "N", .help = "GPUs",
	 .also = "gpus|nproc|num-gpus|nproc-per-node|nodes|num-nodes|nnodes|"
		 "dp"},
	{"fidelity", OPTION_CHOICE, AT(fidelity), "auto|flow|message|formula",
	 .help = "formula adds calls up by a closed form; flow and "
		 "message simulate them",
	 .usual = "formula"},
	{ENGINE_ROW(OPTION_TEXT, AT(engine), "")},
	{"trace", OPTION_TEXT, AT(trace), "FILE",
	 .help = "write a trace of the simulated step"},
	{"picture", OPTION_TEXT, AT(picture), "FILE.svg",
	 .help = "draw the pipeline, with a row for each stage"},
	{DRY_RUN_ROW(AT(dry_run))},
	{"no-explain", OPTION_SWITCH, AT(no_explain), NULL,
	 .help = "do not print the critical path of simulated calls"},
	{.name = NULL}};

#define IN_REQUEST(field)                                                      \
	(offsetof(struct predict_options, llm) +                               \
	 offsetof(struct llm_request, field))

const struct manual manual_predict_llm = {
	.usage = "--model MODEL --machine NAME --world-size N [OPTION...]",
	.about = "Predicts a training step of a language model in a layout: "
		 "tokens a second, MFU, where the time goes, what a GPU holds, "
		 "what it costs.\n\nA layout that is not legal is refused with "
		 "the legal values. What does not fit into the GPUs' memory is "
		 "marked as impossible. lockstep plan searches for the "
		 "fastest layout.\n\nAny option may have several values, "
		 "--shard ddp,fsdp or --overlap grad --overlap none: then all "
		 "combinations are compared.",
	.examples = {"lockstep predict --model llama3-8b --machine "
		     "hgx-h100-400g --world-size 256 --shard fsdp",
		     "lockstep predict --model llama3-70b --machine "
		     "hgx-h100-400g --world-size 512 --tp 8 --pp 4 "
		     "--inter-bandwidth 400G,800G"},
	.groups = GROUPS({.options = llm_place_options, .offset = AT(llm)},
			 {"Prediction", language_options, 0},
			 {"Layout", llm_options, IN_REQUEST(layout)},
			 {"Computing", llm_rate_options, AT(llm)},
			 {"Measured", llm_step_options, AT(llm)},
			 {"Cost", llm_answer_options, AT(llm)},
			 {"Links", rewiring_options, IN_REQUEST(rewiring)},
			 {"Tables", form_options, AT(form)})};

/* ---- reading them ------------------------------------------------------ */

/* A model that there is not is told before options of language models are,
 * which other networks have not. */
static enum dist_error check_model(const char *name,
				   struct dist__refusal *refusal)
{
	struct model model;
	enum dist_error error = model_load(&model, name, &refusal->message);

	refusal->option = "model";
	refusal->number = 0;
	if (!error)
		model_release(&model);
	return error;
}

enum dist_error predict_options_init(struct predict_options *line,
				     const char *workload, const char *model,
				     struct dist__refusal *refusal)
{
	struct dist__spelling near;

	*line = (struct predict_options){
		.workload =
			workload ? workload_find(workload) : &workload_ddp_step,
		.language = !workload && model && llm_is_language_model(model)};
	if (line->workload) {
		workload_arguments_init(&line->arguments, line->workload->name);
		return model && *model && !line->language
			       ? check_model(model, refusal)
			       : DIST_OK;
	}
	refusal->number = 0;
	return dist__refuse_option(
		refusal, "workload",
		"--workload %s: expected one of " WORKLOAD_NAMES "%s", workload,
		dist__spelling_hint_of(&near, workload, WORKLOAD_NAMES));
}

struct manual predict_manual(const struct predict_options *line)
{
	struct manual manual =
		line->language ? manual_predict_llm : manual_predict;

	manual.taker = line->workload->name;
	return manual;
}

enum dist_error predict_read_sizes(const char *text,
				   int sizes[PREDICTION_SIZES], size_t *num,
				   struct dist__refusal *refusal)
{
	const char *next = text;

	refusal->option = "world-size";
	do {
		size_t len = strcspn(next, ",");
		char number[32];
		int64_t n;

		refusal->number = *num;
		snprintf(number, sizeof number, "%.*s", (int)len, next);
		if (!dist__count_read(number, 1, 1 << 24, &n))
			return dist__refuse(&refusal->message,
					    "--world-size: expected numbers of "
					    "1 to 16777216 such as 8 or "
					    "8,16,32, not \"%s\"",
					    text);
		if (*num == PREDICTION_SIZES)
			return dist__refuse(&refusal->message,
					    "--world-size: expected at most "
					    "64 numbers");
		sizes[(*num)++] = (int)n;
		next += len;
	} while (*next++);
	return DIST_OK;
}
