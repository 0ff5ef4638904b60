/* plan.c - lockstep plan: the layout in which a language model trains fastest
 * on so many GPUs, why not the next one, and the command line of each. */
#include "cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "base/text.h"
#include "base/refuse.h"
#include "cli/check_writable.h"
#include "cli/llm.h"
#include "cli/pool.h"
#include "cli/refuse.h"
#include "cli/study_point.h"
#include "cli/sweep/journal.h"
#include "cli/table_option.h"
#include "model/llm/plan.h"

/* Layouts that are simulated at most, searches that are compared, and rows
 * that are usual. */
#define CONFIRMED 20
#define COMPARED  16
#define ROWS      10

/* The command line. */
struct plan_options {
	struct llm_request llm;
	int gpus;
	int top;
	int confirm;
	const char *resume;
	struct table_options form;
};

#define AT(field) offsetof(struct plan_options, field)

static const struct option options[] = {
	{"gpus", OPTION_COUNT, AT(gpus), "N", .help = "GPUs to train on",
	 .min = 1, .max = 1 << 20, .also = "world-size|nproc|num-gpus"},
	{"top", OPTION_COUNT, AT(top), "N", .help = "layouts to print",
	 .usual = "10", .min = 1, .max = 1000},
	{"confirm", OPTION_COUNT, AT(confirm), "N",
	 .help = "also simulate the calls of the best N layouts with shared "
		 "links; takes a minute each with hundreds of GPUs",
	 .usual = "0", .min = 1, .max = CONFIRMED},
	{"resume", OPTION_TEXT, AT(resume), "FOLDER",
	 .help = "keep simulated layouts in FOLDER, and do not simulate them "
		 "again"},
	{.name = NULL}};

#define IN_REQUEST(field)                                                      \
	(offsetof(struct plan_options, llm) +                                  \
	 offsetof(struct llm_request, field))

const struct manual manual_plan = {
	.usage = "--model MODEL --machine NAME --gpus N --global-batch N "
		 "[OPTION...]",
	.about = "Searches all legal layouts of a language model on so many "
		 "GPUs: tensor groups within a node, stages, chunks, context "
		 "and expert groups, micro-batches, schedules, what "
		 "data-parallel ranks divide, and the least recomputation that "
		 "fits and leaves headroom. Prints the fastest of these, what "
		 "the second loses, and the command line of the first.\n\nAn "
		 "option of the layout fixes that dimension. Any option may "
		 "have several values, --gpus 256,512 or --tp 4,8: then the "
		 "fastest layouts with each are compared.",
	.examples = {"lockstep plan --model llama3-70b --machine hgx-h100-400g "
		     "--gpus 512 --global-batch 1024 --seq 8192",
		     "lockstep plan --model llama3-8b --machine hgx-h100-400g "
		     "--gpus 64 --global-batch 128 --precision bf16,fp8"},
	.groups = GROUPS({.options = llm_place_options, .offset = AT(llm)},
			 {"Plan", options, 0},
			 {"Layout", llm_options, IN_REQUEST(layout)},
			 {"Computing", llm_rate_options, AT(llm)},
			 {"Links", rewiring_options, IN_REQUEST(rewiring)},
			 {"Tables", form_options, AT(form)})};

/* ---- the search --------------------------------------------------------- */

/* What is asked, looked up, and found. */
struct inquiry {
	const struct plan_options *line;
	struct llm_question question;
	struct fabric fabric;
	struct llm_space space;
	struct llm_plan plan;
	double flow_ns[CONFIRMED]; /* of the first, simulated */
	size_t num_flows;
};

static void set_space(struct inquiry *inquiry)
{
	const struct llm_arguments *asked = &inquiry->line->llm.layout;
	struct llm_space *space = &inquiry->space;
	const struct llm_layout *base = &space->base;

	space->tp = asked->tp;
	space->pp = asked->pp;
	space->vpp = asked->vpp;
	space->cp = asked->cp;
	space->ep = asked->ep;
	space->micro_batch = asked->micro_batch;
	space->shard = asked->shard ? base->shard : LLM_SHARDS;
	space->schedule = asked->schedule ? base->schedule : LLM_SCHEDULES;
	space->recompute =
		asked->recompute ? base->recompute : LLM_RECOMPUTE_AUTO;
	space->node_ranks = inquiry->fabric.node_ranks;
}

static enum dist_error look_up(struct inquiry *inquiry,
			       struct dist__refusal *refusal)
{
	const struct plan_options *line = inquiry->line;
	struct dist_message *message = &refusal->message;
	enum dist_error error;

	if (line->llm.machine && strchr(line->llm.machine, '+'))
		return dist__refuse(
			message,
			"--machine: expected one: layouts over two kinds of "
			"GPUs are not modelled; plan each alone");
	error = llm_compute_open(&inquiry->question, &line->llm, refusal);
	if (error)
		return error;
	if (line->resume && !line->confirm)
		return dist__refuse(message,
				    "--resume: expected with --confirm: all "
				    "else takes seconds");
	if (line->llm.topology && !line->confirm)
		return dist__refuse(message,
				    "--topology: expected with --confirm: a "
				    "closed form has no switches");
	if (line->gpus == 0 || line->llm.layout.global_batch == 0)
		return dist__refuse(message,
				    "expected --gpus and --global-batch, the "
				    "sequences of a step");
	error = llm_question_fabric(&inquiry->question, line->gpus,
				    &inquiry->fabric, refusal);
	if (error)
		return error;
	/* One that is not legal as it stands may be so with others. */
	(void)!llm_question_layout(&inquiry->question, line->gpus,
				   &inquiry->space.base, refusal);
	set_space(inquiry);
	return llm_question_can(&inquiry->question,
				inquiry->space.base.precision, refusal);
}

static void show_progress(void *arg, size_t all)
{
	(void)all;
	dist__progress_step(arg, 1, NULL);
}

static enum dist_error search(struct inquiry *inquiry,
			      struct dist_message *message)
{
	const struct llm_question *question = &inquiry->question;
	struct dist__progress progress = {.shown = false};
	const struct llm_pace pace =
		llm_question_pace(question, inquiry->space.base.precision);
	const struct llm_cluster cluster =
		llm_question_cluster(question, &inquiry->fabric);
	const struct llm_search search = {.space = &inquiry->space,
					  .model = &question->model,
					  .cluster = &cluster,
					  .pace = &pace,
					  .threads = pool_cores(),
					  .done = show_progress,
					  .arg = &progress};
	enum dist_error error;

	dist__progress_begin(&progress, "looking at layouts", 0, 0);
	error = llm_plan_make(&inquiry->plan, &search, message);
	dist__progress_end(&progress);
	return error;
}

/* ---- the first ones, simulated ------------------------------------------- */

/* What was simulated before, and where what is now goes. */
struct kept {
	json_t *answers[CONFIRMED]; /* NULL: not yet */
	struct journal *journal;    /* NULL: nowhere */
};

/* What the answers follow from: the layouts in their order with their times by
 * closed form, in which all that model, machine and library say is. NULL: no
 * memory. */
static char *stamp_of(const struct inquiry *inquiry, size_t num)
{
	const char *topology = inquiry->line->llm.topology;
	char *text = NULL, command[1024];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "lockstep %s plan %s\n", LOCKSTEP_VERSION,
		topology ? topology : "-");
	for (size_t i = 0; i < num; i++) {
		const struct llm_candidate *candidate = &inquiry->plan.best[i];

		llm_flags_predict(&inquiry->question, &candidate->layout,
				  command, sizeof command);
		fprintf(out, "%s: %.17g\n", command, candidate->answer.step_ns);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static enum dist_error open_kept(const struct inquiry *inquiry, size_t num,
				 struct kept *kept,
				 struct dist_message *message)
{
	const char *folder = inquiry->line->resume;
	enum dist_error error;
	char *stamp;

	if (!folder)
		return DIST_OK;
	if (mkdir(folder, 0777) && errno != EEXIST)
		return dist__refuse_as(message, DIST_ERR_IO,
				       "--resume: %.300s: cannot be made: %s",
				       folder, strerror(errno));
	stamp = stamp_of(inquiry, num);
	if (!stamp)
		return DIST_ERR_NO_MEMORY;
	error = journal_load(folder, stamp, kept->answers, num, message);
	if (error == DIST_ERR_INVALID_ARGUMENT)
		error = dist__refuse(
			message,
			"--resume: %.300s has answers to another question, or "
			"of another version: expected another folder",
			folder);
	if (!error)
		error = journal_open(folder, stamp, 1, 1, &kept->journal,
				     message);
	free(stamp);
	return error;
}

/* Simulates layout i. */
static int simulate(struct inquiry *inquiry, struct llm_outcome *outcome,
		    size_t i)
{
	const struct predict_options flow = {.fidelity = "flow",
					     .no_explain = true};
	struct dist__refusal refusal;
	int status;

	outcome->layout = inquiry->plan.best[i].layout;
	outcome->fabric = inquiry->fabric;
	if (llm_question_answer(&inquiry->question, outcome, &refusal))
		return refuse("plan", "%s", refusal.message.text);
	status = llm_flow_make(&inquiry->question, outcome, &flow, NULL);
	inquiry->flow_ns[i] = round(outcome->answer.step_ns);
	return status;
}

static int confirm_all(struct inquiry *inquiry, struct kept *kept, size_t num)
{
	struct llm_outcome *outcome = calloc(1, sizeof *outcome);
	struct dist_message message = {"out of memory"};
	int status = DIST_EXIT_OK;

	if (!outcome)
		return out_of_memory("plan");
	if (open_kept(inquiry, num, kept, &message))
		status = refuse("plan", "%s", message.text);
	for (size_t i = 0; !status && i < num; i++) {
		if (kept->answers[i]) {
			inquiry->flow_ns[i] =
				json_number_value(kept->answers[i]);
		} else {
			status = simulate(inquiry, outcome, i);
			kept->answers[i] =
				json_integer((json_int_t)inquiry->flow_ns[i]);
			if (!status && kept->journal &&
			    journal_add(kept->journal, i, kept->answers[i],
					&message))
				status = refuse("plan", "%s", message.text);
		}
		inquiry->num_flows += !status;
	}
	free(outcome);
	return status;
}

static int confirm(struct inquiry *inquiry)
{
	struct kept kept = {.journal = NULL};
	size_t num = (size_t)inquiry->line->confirm;
	int status;

	if (num > inquiry->plan.num)
		num = inquiry->plan.num;
	status = num ? confirm_all(inquiry, &kept, num) : DIST_EXIT_OK;
	journal_close(kept.journal);
	for (size_t i = 0; i < num; i++)
		json_decref(kept.answers[i]);
	return status;
}

/* ---- the answer --------------------------------------------------------- */

static struct dist__rows rows_of(const struct inquiry *inquiry)
{
	static const char columns[] =
		"place|;tp;pp;vpp;cp;ep;dp;shard;schedule;micro_batch|mbs;"
		"recompute;step_ms;flow_ms|flow;tokens_per_s_gpu|tokens/s/"
		"GPU;mfu|MFU;memory_gb|needs GB;capacity_gb|of;command|";
	const struct llm_plan *plan = &inquiry->plan;
	struct dist__rows rows = {.columns = columns};
	size_t num = inquiry->line->top ? (size_t)inquiry->line->top : ROWS;
	char command[1024], recompute[32];

	for (size_t i = 0; i < num && i < plan->num; i++) {
		const struct llm_layout *layout = &plan->best[i].layout;
		const struct llm_answer *answer = &plan->best[i].answer;

		llm_flags_predict(&inquiry->question, layout, command,
				  sizeof command);
		snprintf(recompute, sizeof recompute, "%s",
			 llm_recompute_name(layout->recompute));
		if (layout->recompute == LLM_RECOMPUTE_FULL &&
		    layout->recompute_layers > 0)
			snprintf(recompute, sizeof recompute, "%d layers",
				 layout->recompute_layers);
		ADD_ROW(&rows, cell_size(i + 1), cell_int(layout->tp),
			cell_int(layout->pp), cell_int(layout->vpp),
			cell_int(layout->cp), cell_int(layout->ep),
			cell_int(layout->dp),
			cell_text(llm_shard_name(layout->shard)),
			cell_text(llm_schedule_name(layout->schedule)),
			cell_int(layout->micro_batch), cell_copy(recompute),
			cell_fixed(1, answer->step_ns / 1e6),
			cell_fixed(1, i < inquiry->num_flows
					      ? inquiry->flow_ns[i] / 1e6
					      : NAN),
			cell_fixed(1, answer->tokens_per_s_gpu),
			cell_percent(answer->mfu),
			cell_fixed(1, answer->memory.least / 1e9),
			cell_fixed(1, answer->memory.capacity / 1e9),
			cell_copy(command));
	}
	return rows;
}

/* Writes what the second loses against the first. */
static void describe_loss(const struct llm_plan *plan, char *text, size_t size)
{
	struct llm_part first[LLM_PARTS], second[LLM_PARTS];

	llm_parts(&plan->best[0].answer.breakdown, first);
	llm_parts(&plan->best[1].answer.breakdown, second);
	llm_describe_loss(first, second, LLM_PARTS, text, size);
}

/* Percent of the memory that stay free. */
static double spare(const struct llm_layout *layout)
{
	return layout->no_headroom ? 0 : 100 * LLM_HEADROOM;
}

enum library { TORCHTITAN, MEGATRON };

/* Writes the flags of another library for the fastest layout that it can do,
 * and returns its index; or, if it can do none, what the first needs. */
static size_t find_flags(const struct inquiry *inquiry, enum library library,
			 char *text, size_t size)
{
	const struct llm_architecture *model = &inquiry->question.model;
	const struct llm_plan *plan = &inquiry->plan;

	for (size_t i = 0; i <= plan->num; i++) {
		const size_t at = i % plan->num; /* the first again, if none */
		const struct llm_layout *layout = &plan->best[at].layout;

		if (library == MEGATRON
			    ? llm_flags_megatron(layout, model, text, size)
			    : llm_flags_torchtitan(layout, model->layers, text,
						   size))
			return at;
	}
	return 0;
}

/* Megatron-LM refuses tensor and context groups without this variable, and its
 * FSDP with it (megatron/training/arguments.py). */
static const char *environment_of(const struct llm_layout *layout)
{
	return (layout->tp > 1 || layout->cp > 1) &&
			       (layout->shard == LLM_DDP ||
				layout->shard == LLM_ZERO1)
		       ? ", CUDA_DEVICE_MAX_CONNECTIONS=1"
		       : "";
}

static void print_flags(const struct inquiry *inquiry, enum library library)
{
	const struct llm_candidate *best = inquiry->plan.best;
	char text[1024], place[64] = "";
	const size_t i = find_flags(inquiry, library, text, sizeof text);
	const struct llm_layout *layout = &best[i].layout;

	if (i > 0)
		snprintf(place, sizeof place, ", place %zu, %.1f %% slower",
			 i + 1,
			 fmax(0, 100 * best[i].answer.step_ns /
						 best[0].answer.step_ns -
					 100));
	if (library == MEGATRON)
		printf("Megatron-LM%s%s:%s\n", place, environment_of(layout),
		       text);
	else
		printf("torchtitan%s%s:%s\n", place,
		       layout->recompute_layers > 0 ? ", all layers recomputed"
						    : "",
		       text);
}

static json_t *answer_json(const struct inquiry *inquiry, json_t *conditions)
{
	const struct llm_plan *plan = &inquiry->plan;
	struct dist__rows rows = rows_of(inquiry);
	char loss[512] = "", titan[1024], megatron[1024];
	size_t titans, megatrons;

	if (plan->num > 1)
		describe_loss(plan, loss, sizeof loss);
	titans = find_flags(inquiry, TORCHTITAN, titan, sizeof titan);
	megatrons = find_flags(inquiry, MEGATRON, megatron, sizeof megatron);
	return json_pack("{s:o, s:I, s:I, s:o, s:s, s:s, s:I, s:s, s:I}",
			 "conditions", conditions, "layouts",
			 (json_int_t)plan->legal, "fit", (json_int_t)plan->num,
			 "rows", dist__rows_json(&rows), "second_loses", loss,
			 "torchtitan", titan, "torchtitan_place",
			 (json_int_t)titans + 1, "megatron", megatron,
			 "megatron_place", (json_int_t)megatrons + 1);
}

static void print_lines(const struct inquiry *inquiry)
{
	const struct llm_plan *plan = &inquiry->plan;
	char text[1024];

	if (plan->num > 1) {
		describe_loss(plan, text, sizeof text);
		printf("\nThe second loses %s\n", text);
	}
	llm_flags_predict(&inquiry->question, &plan->best[0].layout, text,
			  sizeof text);
	printf("\nThe first:\n%s\n", text);
	print_flags(inquiry, TORCHTITAN);
	print_flags(inquiry, MEGATRON);
}

static int show(const struct inquiry *inquiry)
{
	const struct plan_options *line = inquiry->line;
	const struct llm_plan *plan = &inquiry->plan;
	enum dist__form form = table_options_form(&line->form);
	struct llm_outcome outcome = {.layout = plan->best[0].layout,
				      .fabric = inquiry->fabric};
	json_t *conditions = llm_conditions(&inquiry->question, &outcome);
	struct dist__rows rows;
	int status;

	json_object_del(conditions, "layout");
	json_object_del(conditions, "batch");
	json_object_set_new(
		conditions, "batch",
		json_sprintf("%d sequences of %d tokens a step; %s",
			     outcome.layout.global_batch, outcome.layout.seq,
			     llm_precision_name(outcome.layout.precision)));
	json_object_set_new(
		conditions, "layouts",
		json_sprintf("%zu legal, %zu of them fit with %g %% of the "
			     "memory to spare, on %d GPUs",
			     plan->legal, plan->num, spare(&outcome.layout),
			     line->gpus));
	if (form == FORM_JSON)
		return dist__json_print(answer_json(inquiry, conditions),
					stdout)
			       ? out_of_memory("plan")
			       : DIST_EXIT_OK;
	conditions_print(conditions, form, stdout);
	fputs(form == FORM_MARKDOWN ? "\n" : "", stdout);
	rows = rows_of(inquiry);
	status = table_options_print(&line->form, "lockstep plan", &rows);
	if (!status)
		print_lines(inquiry);
	return status;
}

/* Where nothing fits. */
static int show_least(const struct inquiry *inquiry)
{
	const struct llm_candidate *least = &inquiry->plan.least;
	const struct llm_memory *m = &least->answer.memory;
	const char *help = least->layout.shard == LLM_FSDP
				   ? "more GPUs"
				   : "more GPUs, or --shard fsdp";
	char text[512];

	if (m->activations + m->temporary >
	    m->parameters + m->gradients + m->optimizer)
		help = least->layout.recompute == LLM_RECOMPUTE_FULL
			       ? "a shorter --seq, or more GPUs for --cp and "
				 "--tp"
			       : "a shorter --seq, more GPUs for --cp and "
				 "--tp, or --recompute full";
	llm_flags_layout(&least->layout, text, sizeof text);
	fprintf(stderr,
		"lockstep plan: none of %zu legal layouts fits: the least "
		"needs %.1f GB of the %.1f GB of a GPU, of which %g %% stay "
		"free,%s; what would help: %s\n",
		inquiry->plan.legal, m->least / 1e9, m->capacity / 1e9,
		spare(&least->layout), text, help);
	return DIST_EXIT_FAILED;
}

/* ---- several searches --------------------------------------------------- */

/* Answers for the fastest layout, or, where none fits, the one that needs the
 * least memory, which is marked as impossible. */
static enum dist_error answer_best(struct inquiry *inquiry,
				   struct llm_reply *reply,
				   struct dist__refusal *refusal)
{
	const struct llm_plan *plan = &inquiry->plan;
	struct llm_question *question = &reply->question;
	enum dist_error error = look_up(inquiry, refusal);

	if (!error)
		error = search(inquiry, &refusal->message);
	if (error)
		return error;
	reply->options.llm = inquiry->line->llm;
	error = llm_compute_open(question, &reply->options.llm, refusal);
	if (!error)
		error = llm_question_fabric(question, inquiry->line->gpus,
					    &reply->outcome.fabric, refusal);
	reply->outcome.layout =
		plan->num ? plan->best[0].layout : plan->least.layout;
	return error ? error
		     : llm_question_answer(question, &reply->outcome, refusal);
}

static void inquiry_release(struct inquiry *inquiry)
{
	llm_plan_release(&inquiry->plan);
	llm_question_close(&inquiry->question);
}

/* Searches for one point of the study. */
static enum dist_error answer_point(const struct plan_options *line,
				    const struct study *study, size_t point,
				    struct llm_reply *reply,
				    struct dist__refusal *refusal)
{
	struct plan_options own = *line;
	struct inquiry *inquiry = calloc(1, sizeof *inquiry);
	enum dist_error error = inquiry ? DIST_OK : DIST_ERR_NO_MEMORY;
	struct dist_message said;
	char where[256];

	for (size_t i = 0; i < study->num_axes && !error; i++) {
		const char *name = study->axes[i].name;
		const struct option_group *group;
		const struct option *option =
			option_find(&manual_plan, name, strlen(name), &group);

		if (!option_set(&manual_plan, &own, group, option,
				study_value(study, point, i),
				&refusal->message))
			error = DIST_ERR_INVALID_ARGUMENT;
	}
	own.llm.layout.varied = study_varies_layout(study);
	if (!error) {
		inquiry->line = &own;
		error = answer_best(inquiry, reply, refusal);
		inquiry_release(inquiry);
	}
	free(inquiry);
	if (error == DIST_ERR_INVALID_ARGUMENT) {
		said = refusal->message;
		study_describe(study, point, where, sizeof where);
		error = dist__refuse(&refusal->message, "with %s: %.400s",
				     where, said.text);
	}
	return error;
}

static int show_all(const struct plan_options *line,
		    const struct llm_replies *replies)
{
	const struct explanation none = {.ranks = 0};
	struct dist_message message = {""};

	if (line->form.tsv && llm_write_tsv(replies, line->form.tsv, &message))
		return refuse("plan", "%s", message.text);
	if (llm_print(replies, &none, table_options_form(&line->form), stdout))
		return out_of_memory("plan");
	for (size_t i = 0; i < replies->num; i++)
		if (!replies->of[i].outcome.impossible[0])
			return DIST_EXIT_OK;
	return DIST_EXIT_FAILED;
}

/* Compares the fastest layouts of all points of a study. */
static int compare_all(const struct plan_options *line,
		       const struct study *study)
{
	struct llm_replies replies = {.study = study,
				      .num = study_num_points(study)};
	struct dist__refusal refusal = {.message = {"out of memory"}};
	enum dist_error error = DIST_OK;
	int status;

	if (line->top || line->confirm || line->resume ||
	    study_axis(study, "top") < study->num_axes ||
	    study_axis(study, "confirm") < study->num_axes ||
	    study_axis(study, "resume") < study->num_axes)
		return refuse("plan", "--%s: expected one value of each option",
			      line->confirm || line->resume ? "confirm"
							    : "top");
	if (replies.num > COMPARED)
		return refuse("plan",
			      "expected at most %d combinations, got %zu",
			      COMPARED, replies.num);
	replies.of = calloc(replies.num, sizeof *replies.of);
	if (!replies.of)
		return out_of_memory("plan");
	for (size_t i = 0; i < replies.num && !error; i++)
		error = answer_point(line, study, i, &replies.of[i], &refusal);
	status = error ? refuse("plan", "%s", refusal.message.text)
		       : show_all(line, &replies);
	for (size_t i = 0; i < replies.num; i++)
		if (replies.of[i].question.request)
			llm_question_close(&replies.of[i].question);
	free(replies.of);
	return status;
}

/* ---- one ---------------------------------------------------------------- */

static int search_once(const struct plan_options *line)
{
	struct inquiry *inquiry = calloc(1, sizeof *inquiry);
	struct dist__refusal refusal = {.message = {"out of memory"}};
	enum dist_error error;
	int status;

	if (!inquiry)
		return out_of_memory("plan");
	inquiry->line = line;
	error = look_up(inquiry, &refusal);
	if (!error)
		error = search(inquiry, &refusal.message);
	if (error)
		status = refuse("plan", "%s", refusal.message.text);
	else if (inquiry->plan.num == 0)
		status = show_least(inquiry);
	else
		status = confirm(inquiry);
	if (!status && inquiry->plan.num > 0)
		status = show(inquiry);
	inquiry_release(inquiry);
	free(inquiry);
	return status;
}

int command_plan(int argc, const char **argv)
{
	struct plan_options line = {.llm.layout.searched = true};
	struct dist_message message = {"out of memory"};
	struct study study;
	int status;

	if (study_of_line(&study, &manual_plan, &argc, argv, &message))
		status = refuse("plan", "%s", message.text);
	else if (arguments_parse(&manual_plan, &argc, argv, &line, &status))
		status = !check_writable("plan",
					 (const char *[]){line.form.tsv}, 1)
				 ? DIST_EXIT_USAGE
			 : study.num_axes > 0 ? compare_all(&line, &study)
					      : search_once(&line);
	study_release(&study);
	return status;
}
