/* llm_reply.c - what an answer about training a language model is based on, and
 * where the time of its step goes. */
#include "cli/llm.h"

#include <stdio.h>
#include <string.h>

#include "model/library/library.h"

/* ---- parts -------------------------------------------------------------- */

static void add_part(struct llm_part *part, const char *lead, const char *name,
		     double ns)
{
	snprintf(part->name, sizeof part->name, "%s%s", lead, name);
	part->ns = ns;
}

void llm_parts(const struct llm_breakdown *b, struct llm_part parts[LLM_PARTS])
{
	static const char *const kinds[LLM_KINDS] = {
		"gemm", "attention", "elementwise", "optimizer"};
	size_t n = 0;

	for (int k = 0; k < LLM_KINDS; k++)
		add_part(&parts[n++], "", kinds[k], b->compute_ns[k]);
	add_part(&parts[n++], "", "recompute", b->recompute_ns);
	for (int a = 0; a < LLM_AXES; a++)
		add_part(&parts[n++], "exposed ",
			 llm_axis_name((enum llm_axis)a), b->exposed_ns[a]);
	add_part(&parts[n++], "exposed ", "offload", b->offload_ns);
	add_part(&parts[n++], "", "bubble", b->bubble_ns);
	add_part(&parts[n++], "", "other", b->other_ns);
}

size_t llm_parts_of(const struct llm_outcome *outcome,
		    struct llm_part parts[LLM_PARTS])
{
	const struct workload_result *r = &outcome->simulated;

	if (outcome->fidelity == DIST__FIDELITY_FORMULA) {
		llm_parts(&outcome->answer.breakdown, parts);
		return LLM_PARTS;
	}
	/* Of a simulation: means over the ranks. */
	add_part(&parts[0], "", "computing", (double)r->compute_ns);
	add_part(&parts[1], "", "exposed calls", (double)r->exposed_ns);
	add_part(&parts[2], "", "waiting for others", (double)r->idle_ns);
	add_part(&parts[3], "", "other",
		 outcome->answer.step_ns - (double)r->compute_ns -
			 (double)r->exposed_ns - (double)r->idle_ns);
	return 4;
}

/* ---- conditions --------------------------------------------------------- */

static json_t *model_text(const struct llm_question *question)
{
	const struct llm_architecture *m = &question->model;
	struct llm_parameters p;
	char experts[64] = "", active[48] = "";

	llm_count_parameters(m, &p);
	if (m->experts > 0) {
		snprintf(experts, sizeof experts, ", %d experts, %d a token",
			 m->experts, m->top_k);
		snprintf(active, sizeof active, ", %.4g G of them active",
			 p.active / 1e9);
	}
	return json_sprintf(
		"%s: %.4g G parameters%s, %d layers of %d, %d heads%s", m->name,
		p.total / 1e9, active, m->layers, m->hidden, m->heads, experts);
}

static json_t *batch_text(const struct llm_layout *layout)
{
	return json_sprintf("%d sequences of %d tokens a step, %d a "
			    "micro-batch, %d micro-batches; %s; recompute %s",
			    layout->global_batch, layout->seq,
			    layout->micro_batch, llm_micro_batches(layout),
			    llm_precision_name(layout->precision),
			    llm_recompute_name(layout->recompute));
}

static json_t *layout_text(const struct llm_layout *layout)
{
	char text[512];

	llm_flags_layout(layout, text, sizeof text);
	return json_sprintf("%d GPUs, dp %d:%s", layout->gpus, layout->dp,
			    text);
}

static json_t *rate_text(const struct llm_question *question,
			 enum llm_precision precision)
{
	const struct llm_device *device = &question->device;
	const struct llm_request *request = question->request;
	const char *software = request->software;
	char given[sizeof question->own.text];

	snprintf(given, sizeof given,
		 "kernels by measured efficiency, %s%space of %s%s software "
		 "fitted",
		 device->assumed, device->assumed[0] ? ", " : "",
		 software ? software : "today", software ? "" : "'s");
	if (question->own.is_known)
		snprintf(given, sizeof given, "%s", question->own.text);
	if (request->mfu > 0)
		snprintf(given, sizeof given, "computing at an MFU of %.4g %%",
			 100 * request->mfu);
	else if (request->step_ms > 0)
		snprintf(given, sizeof given, "computing %.6g ms a step",
			 request->step_ms);
	return json_sprintf(
		"%s: %.4g TFLOP/s in %s, %.4g GB, %.4g TB/s; %s", device->name,
		device->peak[precision] / 1e12, llm_precision_name(precision),
		device->memory_bytes / 1e9, device->memory_Bps / 1e12, given);
}

static json_t *machine_text(const struct llm_question *question,
			    const struct llm_outcome *outcome)
{
	const struct fabric *fabric = &outcome->fabric;
	char title[600], network[96] = "", links[128] = "";

	machine_platform_title(&question->room, title, sizeof title);
	if (fabric->nodes > 1)
		snprintf(network, sizeof network,
			 ", %d cards of %.4g Gbit/s a node", fabric->cards,
			 fabric->card_Bps * 8 / 1e9);
	if (question->other_gpu)
		snprintf(links, sizeof links,
			 ", %.4g GB/s between GPUs, as %s has it",
			 fabric->intra_Bps / 1e9, question->device.name);
	return json_sprintf("%.200s: %d node%s of %d GPUs%s%s", title,
			    fabric->nodes, fabric->nodes == 1 ? "" : "s",
			    fabric->node_ranks, links, network);
}

/* What MFU counts, and what it would be as others count. */
static json_t *mfu_text(const struct llm_question *question,
			const struct llm_outcome *outcome)
{
	int seq = outcome->layout.seq;
	double whole = llm_model_flops(&question->model, seq, false);
	double half = llm_model_flops(&question->model, seq, true);
	char others[64] = "";

	if (outcome->answer.mfu > 0)
		snprintf(others, sizeof others, ": that is %.1f %%",
			 100 * outcome->answer.mfu * whole / half);
	return json_sprintf(
		"6 FLOP a parameter of the matrices and token, and the causal "
		"half of attention's scores, over the dense peak (PaLM and "
		"torchtitan count all scores%s); HFU: recomputation too",
		others);
}

json_t *llm_conditions(const struct llm_question *question,
		       const struct llm_outcome *outcome)
{
	const struct llm_layout *layout = &outcome->layout;
	char text[256];
	json_t *conditions = json_object();

	(void)library_calibration_say(&question->profile, &outcome->fabric,
				      text, sizeof text);
	json_object_set_new(conditions, "model", model_text(question));
	json_object_set_new(conditions, "machine",
			    machine_text(question, outcome));
	json_object_set_new(conditions, "layout", layout_text(layout));
	json_object_set_new(conditions, "batch", batch_text(layout));
	json_object_set_new(conditions, "device",
			    rate_text(question, layout->precision));
	json_object_set_new(conditions, "profile",
			    json_string(question->profile_name[0]
						? question->profile_name
						: "default"));
	json_object_set_new(conditions, "calibration", json_string(text));
	json_object_set_new(conditions, "mfu", mfu_text(question, outcome));
	return conditions;
}
