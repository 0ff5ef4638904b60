/* llm_question.c - what is asked about training a language model, looked up and
 * answered by the closed form of model/llm/step.h. */
#include "cli/llm_question.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/data.h"
#include "base/quantity.h"
#include "base/refuse.h"
#include "cli/option_rows.h"
#include "cli/usual_profile.h"
#include "model/cluster/machine.h"
#include "model/library/library.h"

#define AT(field) offsetof(struct llm_request, field)

/* Names of enum llm_software. */
#define SOFTWARE "graphed|eager|tuned|old"

const struct option llm_place_options[] = {
	{"model", OPTION_TEXT, AT(model), "MODEL",
	 .help = "language model: a name, or Hugging Face's config.json",
	 .list = "models"},
	{"machine", OPTION_TEXT, AT(machine), "NAME[:TRANSPORT]",
	 .help = "a measured machine, with as many nodes as needed, on its "
		 "first network or on TRANSPORT",
	 .list = "machines", .also = "platform"},
	{"gpu", OPTION_TEXT, AT(gpu), "NAME", .help = "device",
	 .usual = "the machine's"},
	{"ranks-per-node", OPTION_COUNT, AT(ranks_per_node), "R",
	 .help = "GPUs used of each node", .usual = "all", .min = 1,
	 .max = 256},
	{TOPOLOGY_ROW(AT(topology))},
	{PROFILE_ROW(AT(profile), "")},
	{UNCALIBRATED_ROW(AT(uncalibrated))},
	{.name = NULL}};

const struct option llm_rate_options[] = {
	{"software", OPTION_CHOICE, AT(software), SOFTWARE,
	 .help = "how kernels are launched: by CUDA graphs or a compiler; one "
		 "by one from Python; tuned for one model, as in MLPerf; as by "
		 "DeepSpeed of 2022",
	 .usual = "graphed"},
	{"exchange", OPTION_CHOICE, AT(exchange), "once|plain",
	 .help = "how tokens are sent to experts: once to a rank and a node, "
		 "like DeepEP, or to each expert by an all-to-all",
	 .usual = "once"},
	{"compute", OPTION_TEXT, AT(compute), "FILE",
	 .help = "take kernel rates from a step measured on such a GPU: a "
		 "trace of torch.profiler (.json, .json.gz) or a table of "
		 "kernels (.tsv)"},
	{"compute-layout", OPTION_TEXT, AT(compute_layout), "FLAG VALUE ...",
	 .help = "layout of that step as flags of predict: \"--seq 4096 "
		 "--micro-batch 2\"; with --model if it is another one, and "
		 "--world-size if it is not 1"},
	{.name = NULL}};

const struct option llm_step_options[] = {
	{"mfu", OPTION_PERCENT, AT(mfu), "PERCENT",
	 .help = "measured MFU of one GPU's computing, instead of kernel "
		 "times"},
	{"step-ms", OPTION_NUMBER, AT(step_ms), "T",
	 .help = "measured computing time of one GPU in a step, in ms, instead "
		 "of kernel times",
	 .above = true},
	{.name = NULL}};

const struct option llm_answer_options[] = {
	{"price", OPTION_NUMBER, AT(price), "P",
	 .help = "price of a GPU for an hour: prints the cost of a step and of "
		 "a million tokens",
	 .above = true},
	{"tokens", OPTION_TEXT, AT(tokens), "N",
	 .help = "tokens to train on, such as 300B or 15T: prints the time for "
		 "them"},
	{.name = NULL}};

/* ---- software ----------------------------------------------------------- */

static enum llm_software software_of(const char *name)
{
	static const char *const names[LLM_SOFTWARES] = {[LLM_GRAPHED] =
								 "graphed",
							 [LLM_EAGER] = "eager",
							 [LLM_TUNED] = "tuned",
							 [LLM_OLD] = "old"};
	const char *const *found = DIST__NAMED(names, name);

	return found ? (enum llm_software)(found - names) : LLM_GRAPHED;
}

struct llm_cluster llm_question_cluster(const struct llm_question *question,
					const struct fabric *fabric)
{
	return (struct llm_cluster){
		.software = question->software,
		.device = &question->device,
		.profile = &question->profile,
		.fabric = fabric,
		.pace = question->own.is_known ? &question->own.pace : NULL,
		.efficiency = 1};
}

struct llm_pace llm_question_pace(const struct llm_question *question,
				  enum llm_precision precision)
{
	if (question->own.is_known)
		return question->own.pace;
	return llm_constants_pace(llm_constants_known(), &question->device,
				  precision, question->software);
}

enum dist_error llm_question_can(const struct llm_question *question,
				 enum llm_precision precision,
				 struct dist__refusal *refusal)
{
	const struct llm_own *own = &question->own;

	if (own->is_known && own->precision != precision)
		return dist__refuse_option(
			refusal, "precision",
			"--precision: expected %s, whose rates %s has, got %s",
			llm_precision_name(own->precision),
			question->request->compute,
			llm_precision_name(precision));
	refusal->option = "precision";
	return llm_device_can(&question->device, precision, &refusal->message);
}

/* ---- looking up --------------------------------------------------------- */

bool llm_is_language_model(const char *name)
{
	struct dist_message message;
	struct stat status;
	char path[4096];

	if (dist__ends_in(name, ".json") ||
	    (strchr(name, '/') && stat(name, &status) == 0 &&
	     S_ISDIR(status.st_mode)))
		return true;
	if (!dist__data_find("models", name, ".csv", path, sizeof path,
			     &message) ||
	    dist__ends_in(name, ".csv"))
		return false;
	return llm_catalogue_has_near(name);
}

/* Reads "300B" or "15T". */
static enum dist_error read_tokens(const char *text, double *tokens,
				   struct dist_message *message)
{
	static const char units[] = "KMBT";
	size_t len = strlen(text);
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;
	char number[32];

	snprintf(number, sizeof number, "%.*s", (int)(unit ? len - 1 : len),
		 text);
	if (len == 0 || len >= sizeof number ||
	    !dist__number_read(number, tokens) || *tokens <= 0)
		return dist__refuse(message,
				    "--tokens: expected a number of tokens "
				    "such as 300B or 15T, not \"%.80s\"",
				    text);
	if (unit)
		*tokens *= pow(1e3, (double)(unit - units) + 1);
	return DIST_OK;
}

static bool is_amd(const char *gpu)
{
	return dist__begins(gpu, "MI");
}

static enum dist_error find_profile(struct llm_question *question,
				    struct dist_message *message)
{
	const char *name = question->request->profile;
	const char *gpu = question->other_gpu ? question->device.name
					      : question->room.machine.gpu;

	if (!name)
		name = usual_profile(gpu, 2, DIST__FIDELITY_FORMULA);
	/* RCCL is NCCL's for AMD (github.com/ROCm/rccl); steps of its GPUs are
	 * validated so. */
	if (!name && is_amd(gpu))
		name = "nccl";
	if (!name)
		return DIST_OK;
	snprintf(question->profile_name, sizeof question->profile_name, "%s",
		 name);
	return dist__profile_find(&question->profile, name, message);
}

static enum dist_error find_device(struct llm_question *question,
				   struct dist__refusal *refusal)
{
	const struct llm_request *request = question->request;
	const char *name = request->gpu;
	struct llm_device own = {.efficiency = NULL};
	struct dist_message unused;
	enum dist_error error;

	refusal->option = "gpu";
	if (!name)
		name = question->room.machine.gpu;
	if (!*name)
		return dist__refuse(
			&refusal->message,
			"--gpu is needed: %s does not say which GPUs it has",
			request->machine);
	error = llm_device_find(&question->device, name, &refusal->message);
	if (error || !request->gpu)
		return error;
	/* A machine of any GPUs has these. */
	if (!*question->room.machine.gpu) {
		snprintf(question->room.machine.gpu,
			 sizeof question->room.machine.gpu, "%s",
			 question->device.name);
		return DIST_OK;
	}
	question->other_gpu =
		llm_device_find(&own, question->room.machine.gpu, &unused) ||
		strcmp(own.name, question->device.name) != 0;
	/* What was measured with its GPUs says nothing of others. */
	if (question->other_gpu)
		question->room.machine.num_calibrations = 0;
	llm_device_release(&own);
	return DIST_OK;
}

/* Appends the names of machines that have the GPU to a text of size. */
static void name_machines(const char *gpu, char *names, size_t size)
{
	struct dist__files files;

	(void)dist__data_files(&files, "machines", ".yaml");
	for (size_t i = 0; i < files.num; i++) {
		struct machine machine;
		struct llm_device own;
		struct dist_message unused;
		char name[64];

		dist__stem(name, sizeof name, files.paths[i], ".yaml");
		if (!machine_load(&machine, files.paths[i], &unused) &&
		    !llm_device_published(&own, machine.gpu, &unused) &&
		    strcmp(own.name, gpu) == 0)
			(void)dist__append(names, size, "%s%s",
					   *names ? ", " : "", name);
	}
	dist__files_release(&files);
}

static enum dist_error refuse_gpu(const char *gpu, struct dist_message *message)
{
	char names[320] = "";

	name_machines(gpu, names, sizeof names);
	if (*names)
		return dist__refuse(message,
				    "--machine: %s is a GPU; expected a "
				    "machine that has it: %s",
				    gpu, names);
	return dist__refuse(message,
			    "--machine: %s is a GPU that no machine of "
			    "lockstep list machines has; expected one of "
			    "them, whose GPUs --gpu %s replaces",
			    gpu, gpu);
}

static enum dist_error open_machine(struct llm_question *question,
				    struct dist_message *message)
{
	const char *name = question->request->machine;
	struct dist_message unused;
	struct llm_device gpu = {.efficiency = NULL};
	enum dist_error error =
		machine_platform_open(&question->room, name, message);

	if (error && llm_device_find(&gpu, name, &unused) == DIST_OK)
		error = refuse_gpu(gpu.name, message);
	llm_device_release(&gpu);
	return error;
}

/* What cannot be asked together. */
static enum dist_error check_request(const struct llm_request *request,
				     struct dist__refusal *refusal)
{
	if (request->model && !request->machine && request->gpu)
		return dist__refuse_option(
			refusal, NULL,
			"expected --machine, for --gpu does not say what joins "
			"GPUs: such as pcie-8, one server of 8 on PCIe, or "
			"hgx-h100-400g; see lockstep list machines");
	if (!request->model || !request->machine)
		return dist__refuse_option(
			refusal, NULL,
			"expected --model and --machine; see lockstep "
			"list models, lockstep list machines");
	if ((request->mfu > 0) + (request->step_ms > 0) +
		    (request->compute != NULL) >
	    1)
		return dist__refuse_option(
			refusal, NULL,
			"expected one of --mfu, --step-ms and --compute");
	if (request->mfu > 0 && request->mfu < 0.01)
		return dist__refuse_option(
			refusal, "mfu",
			"expected a percentage of 1 or more, such as 45, got "
			"%g",
			100 * request->mfu);
	if (!request->compute != !request->compute_layout)
		return dist__refuse_option(
			refusal, NULL,
			"expected --compute and --compute-layout, the flags of "
			"the step that was measured, or neither");
	return DIST_OK;
}

enum dist_error llm_question_open(struct llm_question *question,
				  const struct llm_request *request,
				  struct dist__refusal *refusal)
{
	const struct llm_arguments *asked = &request->layout;
	struct platform_fabric switches;
	struct dist_message *message = &refusal->message;
	enum dist_error error;

	memset(question, 0, sizeof *question);
	question->request = request;
	question->software = software_of(request->software);
	dist__profile_init(&question->profile);
	error = check_request(request, refusal);
	if (!error && request->tokens) {
		refusal->option = "tokens";
		error = read_tokens(request->tokens, &question->tokens,
				    message);
	}
	if (!error) {
		refusal->option = "model";
		error = llm_architecture_find(&question->model, request->model,
					      message);
	}
	if (!error)
		error = llm_arguments_check(asked, &question->model, refusal);
	if (!error && request->exchange && question->model.experts == 0)
		error = dist__refuse_option(
			refusal, "exchange",
			"--exchange: expected with experts, which the model "
			"has not");
	else if (!error && request->exchange && asked->ep <= 1 &&
		 !asked->varied && !(asked->searched && asked->ep == 0))
		error = dist__refuse_option(
			refusal, "exchange",
			"--exchange: expected with --ep above 1");
	if (!error) {
		refusal->option = "machine";
		error = open_machine(question, message);
	}
	if (error)
		return error;
	refusal->option = "topology";
	if (request->topology &&
	    platform_read_topology(request->topology, &switches, message))
		return DIST_ERR_INVALID_ARGUMENT;
	question->room.ranks_per_node = request->ranks_per_node;
	if (request->uncalibrated)
		question->room.machine.num_calibrations = 0;
	error = find_device(question, refusal);
	if (!error) {
		refusal->option = "profile";
		error = find_profile(question, message);
	}
	return error;
}

void llm_question_close(struct llm_question *question)
{
	machine_platform_close(&question->room);
	dist__profile_release(&question->profile);
	llm_device_release(&question->device);
}

/* ---- the place ---------------------------------------------------------- */

static void change(const struct dist__change *change, double *value)
{
	if (change->value > 0)
		*value = change->is_factor ? *value * change->value
					   : change->value;
}

static bool is_rate(const struct dist__change *change)
{
	return change->value > 0 && !change->is_factor;
}

/* Links as asked for; of a machine the narrowest between nodes are its cards.
 */
static enum dist_error rewire(const struct llm_question *question,
			      struct fabric *fabric,
			      struct dist__refusal *refusal)
{
	struct dist__link_overrides links = {.name = ""};
	char text[DIST__LINKS_SIZE];
	enum dist_error error = rewiring_read(&question->request->rewiring,
					      &links, text, refusal);
	double latency_s;

	if (!error && !question->request->layout.varied)
		error = rewiring_check(&links, fabric->nodes > 1,
				       fabric->node_ranks > 1, refusal);
	if (error)
		return error;
	refusal->option = NULL;
	error = library_check_latency(
		&question->profile, dist__change_is_any(&links.inter.latency),
		dist__change_is_any(&links.intra.latency), &refusal->message);
	if (error)
		return error;
	if ((fabric->nodes == 1 || is_rate(&links.inter.bandwidth)) &&
	    (fabric->node_ranks == 1 || is_rate(&links.intra.bandwidth)))
		fabric->guessed = false;
	change(&links.inter.bandwidth, &fabric->card_Bps);
	change(&links.intra.bandwidth, &fabric->intra_Bps);
	latency_s = fabric->inter_latency_ns / 1e9;
	change(&links.inter.latency, &latency_s);
	fabric->inter_latency_ns = latency_s * 1e9;
	latency_s = fabric->intra_latency_ns / 1e9;
	change(&links.intra.latency, &latency_s);
	fabric->intra_latency_ns = latency_s * 1e9;
	return DIST_OK;
}

/* The fastest that PCIe is: x16 of generation 5, each way. No NVLink or
 * Infinity Fabric of a node is as slow. */
#define PCIE_BPS 64e9

/* The links of a GPU that the machine has not: its own. Those of AMD's join
 * each two GPUs, without switches. */
static void change_gpu(const struct llm_device *device, struct fabric *fabric)
{
	snprintf(fabric->gpu, sizeof fabric->gpu, "%s", device->name);
	fabric->intra_Bps = device->link_Bps;
	if (fabric->intra == FABRIC_NVLINK || fabric->intra == FABRIC_PCIE ||
	    fabric->intra == FABRIC_NVSWITCH)
		fabric->intra = device->link_Bps <= PCIE_BPS ? FABRIC_PCIE
				: is_amd(device->name)       ? FABRIC_NVLINK
							     : FABRIC_NVSWITCH;
}

enum dist_error llm_question_fabric(const struct llm_question *question,
				    int gpus, struct fabric *fabric,

				    struct dist__refusal *refusal)
{
	const struct machine_platform *room = &question->room;
	int node_ranks = machine_platform_node_ranks(room, gpus);
	enum dist_error error = machine_fabric(
		&room->machine, room->transport[0] ? room->transport : NULL,
		(gpus + node_ranks - 1) / node_ranks, node_ranks, fabric,
		&refusal->message);

	refusal->option = "machine";
	if (!error && question->other_gpu)
		change_gpu(&question->device, fabric);
	if (!error)
		error = rewire(question, fabric, refusal);
	if (!error && fabric->guessed &&
	    !library_calibration(&question->profile, fabric))
		error = dist__refuse(&refusal->message,
				     "machine %s: the rate of its links is not "
				     "known; expected --inter-bandwidth and "
				     "--intra-bandwidth, or another machine",
				     room->name);
	return error;
}

/* ---- the layout --------------------------------------------------------- */

enum dist_error llm_question_layout(const struct llm_question *question,
				    int gpus, struct llm_layout *layout,

				    struct dist__refusal *refusal)
{
	struct llm_arguments asked = question->request->layout;
	const char *exchange = question->request->exchange;
	enum dist_error error;

	if (!asked.precision && question->device.peak[LLM_BF16] == 0)
		asked.precision = llm_precision_name(LLM_FP16);
	error = llm_arguments_layout(&asked, gpus, &question->model, layout,
				     refusal);
	layout->fused_experts = question->software == LLM_GRAPHED;
	layout->plain_exchange = exchange && strcmp(exchange, "plain") == 0;
	return error;
}

/* ---- the answer --------------------------------------------------------- */

/* What a GPU computes in a step but for the optimizer. */
static double computing_ns(const struct llm_breakdown *breakdown)
{
	return breakdown->compute_ns[LLM_GEMM] +
	       breakdown->compute_ns[LLM_ATTENTION] +
	       breakdown->compute_ns[LLM_ELEMENTWISE] + breakdown->recompute_ns;
}

/* What it is to compute where that was measured; 0: it was not. */
static double measured_ns(const struct llm_question *question,
			  const struct llm_work *work)
{
	const struct llm_layout *layout = &work->layout;
	double peak = question->device.peak[layout->precision];

	if (question->request->step_ms > 0)
		return question->request->step_ms * 1e6;
	if (question->request->mfu > 0)
		return work->flops / layout->gpus /
		       (peak * question->request->mfu) * 1e9;
	return 0;
}

/* Answers at a pace. */
static enum dist_error answer_at(const struct llm_question *question,
				 const struct llm_pace *pace,
				 struct llm_outcome *outcome,
				 struct dist_message *message)
{
	const struct llm_cluster cluster =
		llm_question_cluster(question, &outcome->fabric);
	enum dist_error error = llm_work_init(&outcome->work, &question->model,
					      &outcome->layout,
					      &question->device, pace, message);

	outcome->pace = *pace;
	return error ? error
		     : llm_step(&outcome->answer, &outcome->work, &cluster,
				message);
}

static void judge(struct llm_outcome *outcome)
{
	const struct llm_answer *answer = &outcome->answer;
	char *text = outcome->impossible;
	size_t size = sizeof outcome->impossible;

	*text = '\0';
	if (!answer->memory.fits)
		snprintf(text, size,
			 "does not fit: stage %d needs %.1f GB of the %.1f GB "
			 "that a GPU has",
			 answer->memory.stage, answer->memory.total / 1e9,
			 answer->memory.capacity / 1e9);
	else if (answer->hfu > 1)
		snprintf(text, size,
			 "computes faster than the GPU's peak: HFU %.1f %%",
			 100 * answer->hfu);
}

enum dist_error llm_question_answer(const struct llm_question *question,
				    struct llm_outcome *outcome,
				    struct dist__refusal *refusal)
{
	struct llm_layout *layout = &outcome->layout;
	struct llm_pace pace = llm_question_pace(question, layout->precision);
	struct dist_message *message = &refusal->message;
	enum dist_error error =
		llm_question_can(question, layout->precision, refusal);

	if (!error && layout->recompute == LLM_RECOMPUTE_AUTO)
		error = llm_recompute_choose(layout, &question->model,
					     &question->device, &pace, message);
	if (!error) {
		refusal->option = NULL;
		error = answer_at(question, &pace, outcome, message);
	}
	/* Launches keep their time, so a few rounds. */
	for (int i = 0; i < 4 && !error; i++) {
		double wanted = measured_ns(question, &outcome->work);
		double factor = computing_ns(&outcome->answer.breakdown);

		if (wanted <= 0)
			break;
		factor /= wanted;
		pace.gemm *= factor;
		pace.attention *= factor;
		pace.memory *= factor;
		error = answer_at(question, &pace, outcome, message);
	}
	outcome->fidelity = DIST__FIDELITY_FORMULA;
	if (!error)
		judge(outcome);
	return error;
}

enum dist_error llm_question_ask(const struct llm_question *question, int gpus,
				 struct llm_outcome *outcome,
				 struct dist__refusal *refusal)
{
	enum dist_error error =
		llm_question_fabric(question, gpus, &outcome->fabric, refusal);

	if (!error)
		error = llm_question_layout(question, gpus, &outcome->layout,
					    refusal);
	return error ? error : llm_question_answer(question, outcome, refusal);
}
