/* llm_flow.c - a language model's step as the workload llm, simulated by the
 * machinery of the other workloads. */
#include "cli/llm.h"

#include <stdlib.h>

#include "base/refuse.h"
#include "cli/refuse.h"

/* A simulation with all that it is made of. */
struct flow {
	struct llm_run run;
	struct workload_arguments arguments;
	struct workload_setup setup;
	struct prediction_request request;
	struct prediction prediction;
};

static enum dist_error flow_open(struct flow *flow,
				 const struct llm_question *question,
				 const struct llm_outcome *outcome,
				 const struct predict_options *line,
				 struct dist__refusal *refusal)
{
	const struct llm_request *asked = question->request;
	struct prediction_request *request = &flow->request;
	enum dist_error error;

	*request = (struct prediction_request){
		.setup = &flow->setup,
		.machine = asked->machine,
		.ranks_per_node = asked->ranks_per_node,
		.topology = asked->topology,
		.uncalibrated = asked->uncalibrated,
		.profile = question->profile_name[0] ? question->profile_name
						     : NULL,
		.fidelity = DIST__FIDELITY_FLOW,
		.engine = line->engine,
		.trace = line->trace,
		.world_sizes = {outcome->layout.gpus},
		.num_world_sizes = 1,
	};
	if (line->fidelity)
		(void)dist__fidelity_parse(&request->fidelity, line->fidelity);
	if (request->fidelity == DIST__FIDELITY_AUTO)
		request->fidelity = DIST__FIDELITY_FLOW;
	error = rewiring_read(&asked->rewiring, &request->overrides,
			      request->links, refusal);
	/* The platform has the links of the machine's own GPUs. */
	if (question->other_gpu && outcome->fabric.intra == FABRIC_PCIE)
		return dist__refuse(&refusal->message,
				    "--gpu: %s on PCIe, which the machine's "
				    "GPUs are not, is not simulated: expected "
				    "--fidelity formula",
				    question->device.name);
	if (question->other_gpu &&
	    request->overrides.intra.bandwidth.value <= 0)
		request->overrides.intra.bandwidth.value =
			outcome->fabric.intra_Bps;
	if (!error)
		error = prediction_open(&flow->prediction, request, refusal);
	if (error)
		return error;
	flow->run = (struct llm_run){.work = &outcome->work,
				     .device = &question->device,
				     .pace = &outcome->pace};
	workload_arguments_init(&flow->arguments, "llm");
	error = llm_setup_init(&flow->setup, &flow->run, &flow->arguments,
			       refusal);
	return error ? error : prediction_check(&flow->prediction, refusal);
}

/* Puts what came out in the answer. Ranks run kernels and calls; what their
 * hosts take beside is the closed form's. */
static void take(const struct prediction_row *row, struct llm_outcome *outcome)
{
	struct llm_answer *answer = &outcome->answer;
	double step_ns = (double)row->step.step_ns + answer->breakdown.other_ns;
	double factor = answer->step_ns / step_ns;

	outcome->fidelity = row->fidelity;
	outcome->simulated = row->step;
	answer->step_ns = step_ns;
	answer->low_ns = answer->high_ns = 0;
	answer->tokens_per_s_gpu *= factor;
	answer->tflops_per_gpu *= factor;
	answer->mfu *= factor;
	answer->hfu *= factor;
}

int llm_flow_make(const struct llm_question *question,
		  struct llm_outcome *outcome,
		  const struct predict_options *line,
		  struct explanation *explanation)
{
	struct dist__refusal refusal = {.message = {"out of memory"}};
	struct flow *flow = calloc(1, sizeof *flow);
	bool explained = explanation && !line->no_explain &&
			 outcome->layout.gpus <= EXPLANATION_RANKS;
	int status = DIST_EXIT_OK;

	if (!flow)
		return out_of_memory("predict");
	if (flow_open(flow, question, outcome, line, &refusal))
		status = refuse("predict", "%s", refusal.message.text);
	if (!status)
		status =
			prediction_make(&flow->prediction,
					explained ? &explanation->trace : NULL);
	if (!status)
		take(&flow->prediction.rows[0], outcome);
	if (!status && explained &&
	    explanation_make(explanation, outcome->layout.gpus,
			     flow->prediction.rows[0].step.step_ns))
		status = out_of_memory("predict");
	prediction_release(&flow->prediction);
	workload_setup_release(&flow->setup);
	free(flow);
	return status;
}
