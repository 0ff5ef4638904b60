/*
 * llm.h - training steps of a language model in a layout (model/llm/work.h), as
 * a workload: what `lockstep run llm` and `lockstep predict --workload llm`
 * run.
 *
 *	struct llm_run run = {&work, &device, &pace};
 *	struct workload_setup setup;
 *
 *	error = llm_setup_init(&setup, &run, &arguments, &message);
 *	status = dist_launch(&options, workload_rank, &setup.job);
 *	workload_setup_release(&setup);
 *
 * The ranks are work.layout.gpus; which cluster they run on, and how finely it
 * is simulated, the launch's options say, as with any workload.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_H
#define LOCKSTEP_SCENARIOS_LLM_H

#include "model/llm/work.h"
#include "scenarios/arguments.h"
#include "scenarios/workload.h"

/* What the ranks run: a job's llm. Shared by simulated ranks, so constant. */
struct llm_run {
	const struct llm_work *work;
	const struct llm_device *device; /* of the optimizer's time */
	const struct llm_pace *pace;     /* so too */
	const struct llm_labels *labels; /* llm_setup_init sets it; NULL */
};

/*
 * llm_setup_init makes of run a setup as workload_setup_init does, with the job
 * complete but for what is run with it. Of arguments the jitter, stragglers,
 * seed and steps count. What run points to, and arguments, must stay where they
 * are. setup->model has no
 * rows: its name, numel and forward FLOP of a sequence. Either way
 * workload_setup_release frees what *setup holds. Errors: INVALID_ARGUMENT,
 * NO_MEMORY; message says what, setup->refused the option.
 */
DIST_MUST_CHECK enum dist_error
llm_setup_init(struct workload_setup *setup, const struct llm_run *run,
	       const struct workload_arguments *arguments,
	       struct dist_message *message);

/* What a span of computing in a trace may be. */
enum llm_label_kind {
	LLM_LABEL_FORWARD, /* as enum llm_way */
	LLM_LABEL_BACKWARD,
	LLM_LABEL_WEIGHTS,
	LLM_LABEL_RECOMPUTED,
	LLM_LABEL_KINDS
};

/* llm_label returns "forward layer 12 mb 3" as long as run's setup lives: of
 * layer `layer` of the model, from 0, or its embedding or head, in a micro-
 * batch. */
const char *llm_label(const struct llm_run *run, enum llm_label_kind what,
		      enum llm_layer_kind kind, int layer, int micro_batch);

/* ---- from the command line to a layout -------------------------------- */

/* The flags of a layout. NULL, 0: not given, and llm_layout_init's holds. */
struct llm_arguments {
	int tp, pp, cp, ep, etp, vpp;
	const char *shard;     /* ddp, zero1, zero2, fsdp, hsdp */
	int shard_ranks;       /* of hsdp */
	int keep_parameters;   /* fsdp: no gather again in backward */
	int no_sequence;       /* no sequence parallelism */
	const char *context;   /* ring, gather */
	const char *schedule;  /* gpipe, 1f1b, zero-bubble */
	const char *recompute; /* none, selective, operators, full, auto */
	int recompute_layers, offload_layers;
	int no_headroom;
	int seq, micro_batch, global_batch;
	const char *precision; /* llm_precision_name's */
	int gradient_bytes, state_bytes;
	const char *attention; /* llm_attention_library_name's */
	int lora;
	const char *overlap; /* "grad,param,tp,p2p,ep", "none", "all" */
	double imbalance;
};

/* The options; a field of a struct llm_arguments each. */
extern const struct option llm_options[];

/*
 * llm_arguments_layout makes of them a layout of so many ranks for model, which
 * llm_layout_complete has completed: its errors; *option names the flag.
 */
DIST_MUST_CHECK enum dist_error
llm_arguments_layout(const struct llm_arguments *arguments, int gpus,
		     const struct llm_architecture *model,
		     struct llm_layout *layout, const char **option,
		     struct dist_message *message);

#endif
