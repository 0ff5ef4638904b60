/*
 * llm.h - measured steps of large language models (scenarios/measured/llm), and
 * settings of recipes that such tables leave out (llm-recipes): tables of one
 * form for every source.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LLM_H
#define LOCKSTEP_MODEL_MEASURED_LLM_H

#include "base/tsv_table.h"
#include "model/measured/value.h"

/* One measurement. Texts are the table's; NULL and 0: not published. */
struct llm_row {
	const char *id, *at; /* at: place in the source */
	const char *model;   /* in the catalogue, or described by the next
				numbers */
	int layers, hidden, heads, ffn, vocab;

	const char *gpu;
	int gpus;
	int domain; /* GPUs joined by NVLink or its like */
	int cards;  /* network cards of a domain */
	int card_gbit;
	const char *transport; /* "ib", "roce", "efa", "opa" */

	const char *framework, *version;
	const char *task; /* "pretrain", "sft", "lora" */
	const char *precision;
	int seq, batch, micro_batch;
	int tp, pp, vpp, cp, ep, etp;
	const char *schedule;
	const char *shard; /* "ddp", "zero1", "fsdp", "hsdp" */
	int shard_ranks;
	int loss_chunks;
	const char *recompute; /* "none", "full", "full=N", "selective=..." */
	const char *overlap;

	/* One or more of: */
	struct value_number step_s, tokens_per_s_gpu, tflops_gpu;
	struct value_number mfu; /* percent, by the source's convention */
	struct value_number memory_gib;
	const char *group; /* its rows differ in one setting */
	const char *unfit; /* why it cannot be compared */
	const char *remark;
};

struct llm_rows {
	struct tsv_table tsv;
	struct llm_row *rows; /* tsv.num_rows; the tsv's */
};

/*
 * llm_rows_load reads the table at path, for dist__tsv_release(&table->tsv);
 * every row has a step, a rate or an MFU. On failure *table is empty and
 * message says "file:line: what was expected". Errors: INVALID_ARGUMENT, IO,
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error llm_rows_load(struct llm_rows *table,
					      const char *path,
					      struct dist_message *message);

/* What a framework's recipe sets for a model on a GPU in a precision. */
struct llm_recipe {
	const char *framework; /* beginning of the rows' framework */
	const char *model, *task, *gpu, *precision;
	int gpus;
	const char *recompute; /* as of a row */
	const char *overlap;   /* "ep", "tp", "ep+tp", "none" */
	const char *shard;
	int offload_layers;
	const char *dispatcher; /* sends tokens to experts: "hybridep", ... */
	const char *version;    /* beginning of the rows' version; NULL: any */
};

struct llm_recipes {
	struct tsv_table tsv;
	struct llm_recipe *rows; /* tsv.num_rows; the tsv's */
};

/* llm_recipes_load does the same for recipes. */
DIST_MUST_CHECK enum dist_error llm_recipes_load(struct llm_recipes *table,
						 const char *path,
						 struct dist_message *message);

/* llm_recipe_of returns the recipe for row's model, GPU and precision, if
 * possible of its version, and with the same number of GPUs; NULL: none. */
const struct llm_recipe *llm_recipe_of(const struct llm_recipes *table,
				       const struct llm_row *row);

#endif
