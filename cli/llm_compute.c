/* llm_compute.c - a GPU's rates from the kernels of a step that ran on it. The
 * closed form is solved for the rates at which it takes as long, by class. */
#define _GNU_SOURCE /* strcasestr */

#include "cli/llm.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "base/tsv_table.h"
#include "model/llm/kernels.h"
#include "trace/stream.h"

/* ---- kernels ------------------------------------------------------------ */

/* Kinds of kernels that each have a rate. */
enum llm_class {
	LLM_CLASS_GEMM,
	LLM_CLASS_ATTENTION, /* fused */
	LLM_CLASS_MEMORY,    /* all else: element-wise, optimizer */
	LLM_CLASSES,
	LLM_CLASS_CALL = LLM_CLASSES /* of a library of calls: left out */
};

static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

/* Tells by its name which a kernel is: those of PyTorch, Inductor, cuBLAS,
 * CUTLASS, cuDNN, FlashAttention, Transformer Engine, NCCL, and of ROCm's
 * libraries. *forward: a forward pass of attention. */
static enum llm_class class_of(const char *kernel, bool *forward)
{
	static const char *const calls[] = {"nccl", "rccl", "nvshmem",
					    "deep_ep", NULL};
	static const char *const attention[] = {"flash",     "fmha", "sdpa",
						"attention", "attn", NULL};
	static const char *const forwards[] = {"fwd", "fprop", "forward",
					       "cutlassF", NULL};
	static const char *const gemm[] = {"gemm",   "cutlass", "xmma", "nvjet",
					   "cublas", "matmul",  "cijk", NULL};
	/* Inductor calls a kernel after all that it fused; its products are
	 * templates. */
	bool fused = strncmp(kernel, "triton_", 7) == 0;

	*forward = false;
	if (has_any(kernel, calls))
		return LLM_CLASS_CALL;
	if (fused && strncmp(kernel, "triton_tem_", 11) != 0)
		return LLM_CLASS_MEMORY;
	if (has_any(kernel, attention)) {
		*forward = has_any(kernel, forwards) &&
			   !strcasestr(kernel, "combine");
		return LLM_CLASS_ATTENTION;
	}
	return fused || has_any(kernel, gemm) ? LLM_CLASS_GEMM
					      : LLM_CLASS_MEMORY;
}

/* What a file says of its steps. */
struct profile {
	double ns[LLM_CLASSES + 1];
	double forwards; /* passes of attention */
	double steps;
	double kernels;
	int device; /* that has kernels; -1: none yet */
	char gpu[64];
};

static void add_kernel(struct profile *profile, const char *name, double times,
		       double ns)
{
	bool forward;

	profile->ns[class_of(name, &forward)] += times * ns;
	profile->forwards += forward ? times : 0;
	profile->kernels += times;
}

/* ---- a trace of torch.profiler ------------------------------------------ */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static enum dist_error take_member(const char *key, const json_t *value,
				   void *arg, struct dist_message *message)
{
	struct profile *profile = arg;

	(void)message;
	if (strcmp(key, "deviceProperties") == 0)
		snprintf(profile->gpu, sizeof profile->gpu, "%s",
			 text_of(json_array_get(value, 0), "name"));
	return DIST_OK;
}

static enum dist_error take_event(const json_t *event, void *arg,
				  struct dist_message *message)
{
	struct profile *profile = arg;
	const char *category = text_of(event, "cat");
	const char *name = text_of(event, "name");
	const json_t *details = json_object_get(event, "args");
	double us = json_number_value(json_object_get(event, "dur"));
	int device;

	/* Of a step the host and the GPU have an annotation each. The step that
	 * follows the last one has one, too: it has only begun. */
	if (strncmp(name, "ProfilerStep#", 13) == 0 &&
	    strcmp(category, "gpu_user_annotation") != 0 &&
	    !json_is_false(json_object_get(details, "finished")))
		profile->steps++;
	if (strcmp(category, "kernel") != 0 &&
	    (strcmp(category, "gpu_memcpy") != 0 || !strstr(name, "DtoD")))
		return DIST_OK;
	device = (int)json_integer_value(json_object_get(details, "device"));
	if (profile->device >= 0 && device != profile->device)
		return dist__refuse(
			message,
			"expected kernels of one GPU, got those of %d and %d",
			profile->device, device);
	profile->device = device;
	add_kernel(profile, name, 1, 1e3 * us);
	return DIST_OK;
}

static enum dist_error read_trace(const char *path, struct profile *profile,
				  struct dist_message *message)
{
	const struct dist__trace_visitor visitor = {
		.member = take_member, .event = take_event, .arg = profile};
	enum dist_error error = dist__trace_visit(path, &visitor, message);

	if (!error && profile->kernels == 0)
		error = dist__refuse(
			message,
			"%.200s: expected kernels of a GPU, as torch.profiler "
			"records with ProfilerActivity.CUDA; there are none",
			path);
	if (!error && profile->steps == 0)
		error = dist__refuse(
			message,
			"%.200s: expected steps (ProfilerStep#), as "
			"torch.profiler's step() marks them; there are none",
			path);
	return error;
}

/* ---- a table of kernels ------------------------------------------------- */

struct row {
	const char *kernel, *gpu;
	double times, us;
};

static enum dist_error read_table(const char *path, struct profile *profile,
				  struct dist_message *message)
{
	static const struct tsv_field fields[] = {
		{"kernel", dist__tsv_text, offsetof(struct row, kernel), true},
		{"times", dist__tsv_positive, offsetof(struct row, times),
		 true},
		{"us", dist__tsv_positive, offsetof(struct row, us), true},
		{"gpu", dist__tsv_text, offsetof(struct row, gpu), false},
		{.name = NULL}};
	struct tsv_table table;
	enum dist_error error = dist__tsv_load_rows(
		&table, path, fields, sizeof(struct row), NULL, message);
	const struct row *rows = table.rows;

	if (error)
		return error;
	profile->steps = 1;
	for (size_t i = 0; i < table.num_rows; i++) {
		add_kernel(profile, rows[i].kernel, rows[i].times,
			   1e3 * rows[i].us);
		if (rows[i].gpu)
			snprintf(profile->gpu, sizeof profile->gpu, "%s",
				 rows[i].gpu);
	}
	dist__tsv_release(&table);
	return DIST_OK;
}

/* ---- the step that was measured ----------------------------------------- */

/* As its flags say. */
struct run {
	const char *model;
	int gpus;
	struct llm_arguments layout;
	char words[1024]; /* cut into flags */
	const char *flags[64];
};

#define AT(field) offsetof(struct run, field)

static const struct option run_options[] = {
	{"model", OPTION_TEXT, AT(model), "MODEL", .help = "that was trained"},
	{"world-size", OPTION_COUNT, AT(gpus), "N", .help = "GPUs", .min = 1,
	 .max = 1 << 20},
	{.name = NULL}};

/* Errors: INVALID_ARGUMENT. */
static enum dist_error read_flags(struct run *run, const char *text,
				  struct dist_message *message)
{
	const struct manual manual = {
		.groups = GROUPS({.options = run_options},
				 {"Layout", llm_options, AT(layout)})};
	int num = 0;
	bool helped = false;
	char *save, *word;

	if (strlen(text) >= sizeof run->words)
		return dist__refuse(message, "expected less than %zu letters",
				    sizeof run->words);
	snprintf(run->words, sizeof run->words, "%s", text);
	run->flags[num++] = "";
	for (word = strtok_r(run->words, " \t\n", &save);
	     word && num < (int)(sizeof run->flags / sizeof *run->flags) - 1;
	     word = strtok_r(NULL, " \t\n", &save))
		run->flags[num++] = word;
	if (arguments_read(&manual, &num, run->flags, run, &helped, message) &&
	    !helped)
		return DIST_OK;
	return helped ? dist__refuse(message, "expected flags of a layout")
		      : DIST_ERR_INVALID_ARGUMENT;
}

/* The run's question: that of its model and layout on the same machine. */
struct measured {
	struct run run;
	struct llm_request request;
	struct llm_question question;
	struct llm_outcome outcome;
};

static enum dist_error open_run(struct measured *m,
				const struct llm_question *question,
				struct dist__refusal *refusal)
{
	struct llm_layout *layout = &m->outcome.layout;
	struct dist_message *message = &refusal->message;
	enum dist_error error;

	m->run.gpus = 1;
	error = read_flags(&m->run, question->request->compute_layout, message);
	if (error)
		return error;
	m->request = *question->request;
	m->request.layout = m->run.layout;
	m->question = *question;
	m->question.request = &m->request;
	if (m->run.model)
		error = llm_architecture_find(&m->question.model, m->run.model,
					      message);
	if (!error)
		error = llm_question_fabric(question, m->run.gpus,
					    &m->outcome.fabric, refusal);
	if (!error)
		error = llm_question_layout(&m->question, m->run.gpus, layout,
					    refusal);
	return error ? error
		     : llm_device_can(&question->device, layout->precision,
				      message);
}

/* Whose kernels cannot be held against the closed form's. */
static enum dist_error check_run(const struct llm_layout *l,
				 struct dist_message *message)
{
	const char *what =
		l->pp > 1   ? "--pp 1: whose stage it is is not said"
		: l->cp > 1 ? "--cp 1: attention in parts is not modelled"
		: l->attention == LLM_UNFUSED
			? "fused attention: other's kernels have no names of "
			  "their own"
		: l->recompute == LLM_RECOMPUTE_AUTO
			? "what was recomputed, not auto"
			: NULL;

	return what ? dist__refuse(message, "expected %s", what) : DIST_OK;
}

/* ---- rates -------------------------------------------------------------- */

/* Times that the closed form has each class take. */
static enum dist_error predict(struct measured *m, const struct llm_pace *pace,
			       double ns[LLM_CLASSES],
			       struct dist_message *message)
{
	struct llm_cluster cluster =
		llm_question_cluster(&m->question, &m->outcome.fabric);
	struct llm_answer *answer = &m->outcome.answer;
	const struct llm_breakdown *b = &answer->breakdown;
	enum dist_error error = llm_work_init(
		&m->outcome.work, &m->question.model, &m->outcome.layout,
		&m->question.device, pace, message);

	cluster.pace = pace;
	if (!error)
		error = llm_step(answer, &m->outcome.work, &cluster, message);
	if (error)
		return error;
	ns[LLM_CLASS_GEMM] = b->compute_ns[LLM_GEMM] + b->again_ns[LLM_GEMM];
	ns[LLM_CLASS_ATTENTION] =
		b->compute_ns[LLM_ATTENTION] + b->again_ns[LLM_ATTENTION];
	ns[LLM_CLASS_MEMORY] = b->compute_ns[LLM_ELEMENTWISE] +
			       b->again_ns[LLM_ELEMENTWISE] +
			       b->compute_ns[LLM_OPTIMIZER];
	return DIST_OK;
}

static const char *const classes[LLM_CLASSES] = {"matrix products",
						 "fused attention", "others"};

/* Launches and what memory bounds stay as they are, so in rounds. */
#define ROUNDS 60
#define CLOSE  1e-6

static enum dist_error fit(struct measured *m, const struct profile *profile,
			   struct llm_pace *pace, const char *path,
			   struct dist_message *message)
{
	double *const rates[LLM_CLASSES] = {&pace->gemm, &pace->attention,
					    &pace->memory};
	double ns[LLM_CLASSES], far = 1;
	int farthest = 0;

	*pace = llm_question_pace(&m->question, m->outcome.layout.precision);
	for (int i = 0; i < ROUNDS && far > CLOSE; i++) {
		enum dist_error error = predict(m, pace, ns, message);

		if (error)
			return error;
		far = 0;
		for (int c = 0; c < LLM_CLASSES; c++) {
			double ratio =
				ns[c] / (profile->ns[c] / profile->steps);

			*rates[c] *= ratio;
			if (fabs(ratio - 1) > far) {
				far = fabs(ratio - 1);
				farthest = c;
			}
		}
	}
	if (far > CLOSE)
		return dist__refuse(
			message,
			"%.200s: expected kernels of such a step: %s take %.4g "
			"ms, less than at any rate; see --compute-layout",
			path, classes[farthest],
			profile->ns[farthest] / profile->steps / 1e6);
	return DIST_OK;
}

/* A step of another model or layout has other launches, or cannot be so fast.
 */
static enum dist_error check_profile(const struct measured *m,
				     const struct profile *profile,
				     const char *path,
				     struct dist_message *message)
{
	const struct llm_layout *l = &m->outcome.layout;
	const struct llm_architecture *model = &m->question.model;
	double layers = model->layers;
	double wanted;

	if (l->recompute == LLM_RECOMPUTE_FULL)
		layers += l->recompute_layers > 0 ? l->recompute_layers
						  : model->layers;
	wanted = layers * llm_micro_batches(l);
	for (int c = 0; c < LLM_CLASSES; c++)
		if (profile->ns[c] <= 0)
			return dist__refuse(
				message,
				"%.200s: expected kernels of all kinds; by "
				"their names there are none of %s",
				path, classes[c]);
	if (*profile->gpu &&
	    !llm_device_is_kind(m->question.device.name, profile->gpu))
		return dist__refuse(message,
				    "%.200s: measured on %s, expected %s", path,
				    profile->gpu, m->question.device.name);
	if (fabs(profile->forwards / (wanted * profile->steps) - 1) > 0.02)
		return dist__refuse(message,
				    "%.200s: a step has %.6g forward passes of "
				    "attention, expected %.6g of %s with %d "
				    "micro-batches; see --compute-layout",
				    path, profile->forwards / profile->steps,
				    wanted, model->name, llm_micro_batches(l));
	return DIST_OK;
}

static enum dist_error check_rates(struct measured *m,
				   const struct llm_pace *pace,
				   const char *path, char *text, size_t size,
				   struct dist_message *message)
{
	const struct llm_device *device = &m->question.device;
	const struct llm_efficiency *reach = device->efficiency;
	enum llm_precision precision = m->outcome.layout.precision;
	double peak = device->peak[precision];
	double plain = fmax(device->peak[LLM_BF16], device->peak[LLM_FP16]);
	double gemm = pace->gemm * reach->gemm[precision];
	double attention =
		pace->attention * reach->forward[m->outcome.layout.attention];

	if (gemm > 1 || attention > 1)
		return dist__refuse(
			message,
			"%.200s: %s would compute at %.3g %% of the peak: "
			"another model or layout; see --compute-layout",
			path,
			classes[gemm > 1 ? LLM_CLASS_GEMM
					 : LLM_CLASS_ATTENTION],
			100 * (gemm > 1 ? gemm : attention));
	snprintf(text, size,
		 "rates measured from %.160s: large products %.4g TFLOP/s, "
		 "attention %.4g, memory %.4g TB/s",
		 path, gemm * peak / 1e12, attention * plain / 1e12,
		 pace->memory * device->copy_share * device->memory_Bps / 1e12);
	return DIST_OK;
}

/* ---- the whole ---------------------------------------------------------- */

static enum dist_error read_profile(const char *path, struct profile *profile,
				    struct dist_message *message)
{
	*profile = (struct profile){.device = -1};
	if (dist__ends_in(path, ".tsv"))
		return read_table(path, profile, message);
	if (dist__ends_in(path, ".json") || dist__ends_in(path, ".json.gz"))
		return read_trace(path, profile, message);
	return dist__refuse(message,
			    "%.200s: expected a .json or .json.gz of "
			    "torch.profiler, or a .tsv of kernels",
			    path);
}

static enum dist_error measure(struct llm_question *question,
			       struct dist__refusal *refusal)
{
	const char *path = question->request->compute;
	struct llm_own *own = &question->own;
	struct measured *m = calloc(1, sizeof *m);
	struct dist_message *message = &refusal->message;
	struct profile profile;
	enum dist_error error;

	if (!m)
		return DIST_ERR_NO_MEMORY;
	error = open_run(m, question, refusal);
	refusal->option = "compute-layout";
	if (!error)
		error = check_run(&m->outcome.layout, message);
	if (!error) {
		refusal->option = "compute";
		error = read_profile(path, &profile, message);
	}
	if (!error)
		error = check_profile(m, &profile, path, message);
	if (!error)
		error = fit(m, &profile, &own->pace, path, message);
	if (!error)
		error = check_rates(m, &own->pace, path, own->text,
				    sizeof own->text, message);
	own->precision = m->outcome.layout.precision;
	own->is_known = !error;
	free(m);
	return error;
}

enum dist_error llm_compute_open(struct llm_question *question,
				 const struct llm_request *request,
				 struct dist__refusal *refusal)
{
	enum dist_error error = llm_question_open(question, request, refusal);

	return error || !request->compute ? error : measure(question, refusal);
}
