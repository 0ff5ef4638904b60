/*
 * llm.h - training steps of a language model in a layout (model/llm/work.h), as
 * a workload: what `lockstep run llm` and `lockstep predict --workload llm`
 * run.
 *
 *	struct llm_run run = {&work, &device, &pace};
 *	struct workload_setup setup;
 *
 *	error = llm_setup_init(&setup, &run, &arguments, &refusal);
 *	status = dist_launch(&options, workload_rank, &setup.job);
 *	workload_setup_release(&setup);
 *
 * There are work.layout.gpus ranks. The options of the launch say on which
 * cluster they run and how finely it is simulated, as with any workload.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_H
#define LOCKSTEP_SCENARIOS_LLM_H

#include "model/llm/work.h"
#include "scenarios/arguments.h"
#include "scenarios/workload.h"

/* The llm field of a job. Simulated ranks share it, so it is constant. */
struct llm_run {
	const struct llm_work *work;
	const struct llm_device *device; /* for the time of the optimizer */
	const struct llm_pace *pace;     /* likewise */
	const struct llm_labels *labels; /* llm_setup_init sets it; NULL */
};

/*
 * llm_setup_init makes a setup from run, like workload_setup_init: the job is
 * complete, except the fields about how it is run. Of arguments only jitter,
 * stragglers, seed and steps are used. arguments, and what run points to, are
 * borrowed. setup->model has no rows, but name, numel and forward FLOP of a
 * sequence. In any case workload_setup_release frees what *setup holds. Errors:
 * INVALID_ARGUMENT, NO_MEMORY; refusal says why.
 */
DIST_MUST_CHECK enum dist_error
llm_setup_init(struct workload_setup *setup, const struct llm_run *run,
	       const struct workload_arguments *arguments,
	       struct dist__refusal *refusal);

/* Kinds of computing spans in a trace. */
enum llm_label_kind {
	LLM_LABEL_FORWARD, /* as enum llm_way */
	LLM_LABEL_BACKWARD,
	LLM_LABEL_WEIGHTS,
	LLM_LABEL_RECOMPUTED,
	LLM_LABEL_KINDS
};

/* llm_label returns a label such as "forward layer 12 mb 3", which lives as
 * long as run's setup: for layer `layer` of the model, from 0, or for its
 * embedding or head, in a micro-batch. */
const char *llm_label(const struct llm_run *run, enum llm_label_kind what,
		      enum llm_layer_kind kind, int layer, int micro_batch);

/* ---- from the command line to a layout -------------------------------- */

/* The flags of a layout. NULL, 0: not given, the default of llm_layout_init. */
struct llm_arguments {
	int tp, pp, cp, ep, etp, vpp;
	const char *shard;   /* ddp, zero1, zero2, fsdp, hsdp */
	int shard_ranks;     /* of hsdp */
	int keep_parameters; /* fsdp: no gather again in backward */
	int no_sync;         /* fsdp: gradients whole until the last
				micro-batch */
	int no_sequence;     /* no sequence parallelism */
	int fused_loss, loss_chunks;
	const char *context;   /* ring, gather */
	const char *schedule;  /* gpipe, 1f1b, zero-bubble */
	const char *recompute; /* none, selective, operators, full, auto */
	const char *recompute_modules; /* llm_modules_find's */
	int recompute_layers, offload_layers;
	int no_headroom;
	int seq, micro_batch, global_batch;
	const char *precision; /* llm_precision_name's */
	int gradient_bytes, state_bytes;
	const char *attention; /* llm_attention_library_name's */
	int lora;
	const char *overlap; /* "grad,param,tp,p2p,ep", "none", "all" */
	double imbalance;

	/* Not of the command line: degrees that are not given are searched for;
	 * it is one of several points, in some of which an option may have no
	 * effect. */
	bool searched, varied;
};

/* The options, each a field of struct llm_arguments. */
extern const struct option llm_options[];

/* llm_arguments_check refuses what no layout of model can have: learned
 * positions beyond the last, experts' options without experts; and options
 * that have no effect without another. Errors: INVALID_ARGUMENT; refusal names
 * the flag. */
DIST_MUST_CHECK enum dist_error
llm_arguments_check(const struct llm_arguments *arguments,
		    const struct llm_architecture *model,
		    struct dist__refusal *refusal);

/*
 * llm_arguments_layout makes a layout of so many GPUs for model from arguments,
 * completed by llm_layout_complete. Errors: its, and those of
 * llm_arguments_check.
 */
DIST_MUST_CHECK enum dist_error
llm_arguments_layout(const struct llm_arguments *arguments, int gpus,
		     const struct llm_architecture *model,
		     struct llm_layout *layout, struct dist__refusal *refusal);

#endif
