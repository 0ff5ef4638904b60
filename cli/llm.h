/* llm.h - answers about training a language model, for predict and plan: how
 * they are made, what each is based on, and how they are printed. */
#ifndef LOCKSTEP_CLI_LLM_H
#define LOCKSTEP_CLI_LLM_H

#include <jansson.h>

#include "base/rows.h"
#include "cli/critical.h"
#include "cli/predict_options.h"
#include "cli/sweep/study.h"

/* ---- llm_reply.c ------------------------------------------------------- */

/* A part of a step's time. */
struct llm_part {
	char name[32]; /* "exposed tp" */
	double ns;
};

#define LLM_PARTS (LLM_KINDS + LLM_AXES + 4)

/* llm_parts stores the parts of a breakdown, which add up to the step. */
void llm_parts(const struct llm_breakdown *breakdown,
	       struct llm_part parts[LLM_PARTS]);

/* llm_conditions returns the conditions of an answer; NULL: no memory. */
json_t *llm_conditions(const struct llm_question *question,
		       const struct llm_outcome *outcome);

/* A question and its answer. */
struct llm_reply {
	struct predict_options options;
	struct llm_question question; /* request is options.llm */
	struct llm_outcome outcome;
};

/* Those of one command line: one, or a point of the study each. */
struct llm_replies {
	const struct study *study; /* borrowed; NULL: one */
	struct llm_reply *of;
	size_t num;
};

/* llm_parts_of stores the parts of an answer, simulated or not, and returns how
 * many there are; some are 0. */
size_t llm_parts_of(const struct llm_outcome *outcome,
		    struct llm_part parts[LLM_PARTS]);

/* ---- llm_compute.c ----------------------------------------------------- */

/*
 * llm_compute_open is llm_question_open that also reads request->compute, if
 * given, and sets question->own: by class, the pace at which the step of
 * request->compute_layout takes the measured time. Errors: those of
 * llm_question_open; INVALID_ARGUMENT (why the file cannot be used, "file: what
 * was expected"), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_compute_open(struct llm_question *question,
		 const struct llm_request *request,
		 struct dist__refusal *refusal);

/* ---- llm_flow.c -------------------------------------------------------- */

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

/* ---- llm_flags.c ------------------------------------------------------- */

/* llm_flags_layout writes a layout's flags for predict, each after a space: "
 * --tp 8 --pp 4". Defaults are left out. */
void llm_flags_layout(const struct llm_layout *layout, char *text, size_t size);

/* llm_flags_predict writes the `lockstep predict` command of layout. */
void llm_flags_predict(const struct llm_question *question,
		       const struct llm_layout *layout, char *text,
		       size_t size);

/* llm_flags_torchtitan and llm_flags_megatron write the flags by which these
 * train so, each behind a space, or if they cannot " has no flag for ...", and
 * return whether they can. Held against torchtitan/config/configs.py,
 * trainer.py and distributed/ at b5bcd76c66d0 (August 2026), Megatron-LM
 * megatron/training/arguments.py and core/transformer/transformer_config.py at
 * d98e8a64ddf3 (August 2026). layers: of the model. Where only some layers are
 * recomputed, torchtitan's flags recompute all. */
bool llm_flags_torchtitan(const struct llm_layout *layout, int layers,
			  char *text, size_t size);
bool llm_flags_megatron(const struct llm_layout *layout,
			const struct llm_architecture *model, char *text,
			size_t size);

/* ---- llm_picture.c ----------------------------------------------------- */

/* The most micro-batches times chunks times stages of a readable picture. */
#define LLM_PICTURE_MOST 20000

/*
 * llm_picture_write draws to path (SVG) a row for each stage over the time of a
 * step: forward, backward and weights of each micro-batch, and idle time. Calls
 * within a stage count as its work. Errors: INVALID_ARGUMENT (message: more
 * pieces than LLM_PICTURE_MOST), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_picture_write(const struct llm_outcome *outcome, const char *path,
		  struct dist_message *message);

/* ---- llm_compare.c ----------------------------------------------------- */

/* llm_common_conditions returns the conditions of all answers; those that
 * differ have a text for each, "layout of shard fsdp". NULL: no memory. */
json_t *llm_common_conditions(const struct llm_replies *replies);

/* llm_compare_print writes the parts of several answers side by side, which has
 * most tokens a second and GPU, what the others lose, and what bounds it.
 * Returns 0, or -1 without memory. */
int llm_compare_print(const struct llm_replies *replies, enum dist__form form,
		      FILE *out);

/* llm_describe_loss writes what the second loses against the first in as long a
 * step of as many tokens: the parts that differ most, "55.2 ms a step, 6.4 %:
 * exposed tp +55.2 ms, bubble -14.1 ms". */
void llm_describe_loss(const struct llm_part *first,
		       const struct llm_part *second, size_t num, char *text,
		       size_t size);

/* ---- llm_print.c ------------------------------------------------------- */

/* llm_print writes a row for each answer, in any form but TSV. Below it stand
 * the parts of the only one and its explanation, or what several differ by.
 * Returns 0, or -1 without memory. */
int llm_print(const struct llm_replies *replies,
	      const struct explanation *explanation, enum dist__form form,
	      FILE *out);

/* llm_write_tsv writes the rows to path, whole or not at all. Errors: of the
 * file, with message. */
enum dist_error llm_write_tsv(const struct llm_replies *replies,
			      const char *path, struct dist_message *message);

/* ---- predict_llm.c ----------------------------------------------------- */

/* predict_llm_check is predict_check for options of a language model. */
DIST_MUST_CHECK enum dist_error
predict_llm_check(const struct predict_options *options,
		  struct dist__refusal *refusal);

/* predict_llm_answer is predict_answer. Options with several values are the
 * axes of study (NULL: there are none); then it compares all their
 * combinations. */
DIST_MUST_CHECK int predict_llm_answer(const struct predict_options *options,
				       const struct study *study, FILE *out);

#endif
