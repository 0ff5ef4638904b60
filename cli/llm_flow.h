/* llm_flow.h - a language model's step with its calls simulated: what a closed
 * form does not know, of groups that share links and switches that are
 * tapered. */
#ifndef LOCKSTEP_CLI_LLM_FLOW_H
#define LOCKSTEP_CLI_LLM_FLOW_H

#include "cli/llm_question.h"
#include "cli/predict.h"

/*
 * llm_flow_make simulates what outcome was answered for, as line says
 * (fidelity, engine, trace, links), and puts the step that comes out in its
 * answer. explanation, unless it is NULL, becomes why, for the caller to
 * release; without a path where line asks for none or ranks are too many.
 * Returns one of enum dist_exit, after a line on stderr when it is not OK. With
 * an explanation or a trace once per process.
 */
DIST_MUST_CHECK int llm_flow_make(const struct llm_question *question,
				  struct llm_outcome *outcome,
				  const struct predict_options *line,
				  struct explanation *explanation);

#endif
