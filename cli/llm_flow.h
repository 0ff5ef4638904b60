/* llm_flow.h - a language model's step with its calls simulated: shows what a
 * closed form does not, groups that share links and tapered switches. */
#ifndef LOCKSTEP_CLI_LLM_FLOW_H
#define LOCKSTEP_CLI_LLM_FLOW_H

#include "cli/llm_question.h"
#include "cli/predict_options.h"

/*
 * llm_flow_make simulates the layout of outcome, by the options in line
 * (fidelity, engine, trace, links), and stores the simulated step in its
 * answer. explanation, if not NULL, is filled in, and released by the caller;
 * it has no path if line asks for none or ranks are too many. Returns one of
 * enum dist_exit, after a line on stderr when it is not OK. With an explanation
 * or a trace: only once per process.
 */
DIST_MUST_CHECK int llm_flow_make(const struct llm_question *question,
				  struct llm_outcome *outcome,
				  const struct predict_options *line,
				  struct explanation *explanation);

#endif
