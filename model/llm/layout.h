/*
 * layout.h - how a model is spread over GPUs, and how it is trained there: in
 * Megatron's and torchtitan's words.
 */
#ifndef LOCKSTEP_MODEL_LLM_LAYOUT_H
#define LOCKSTEP_MODEL_LLM_LAYOUT_H

#include "model/llm/architecture.h"
#include "model/llm/device.h"

/* What data-parallel ranks divide among them (S. Rajbhandari et al., "ZeRO",
 * 2020). */
enum llm_shard {
	LLM_DDP,   /* nothing */
	LLM_ZERO1, /* optimizer state: Megatron's distributed optimizer */
	LLM_ZERO2, /* and gradients */
	LLM_FSDP,  /* and parameters: ZeRO-3, FSDP2 */
	LLM_HSDP,  /* FSDP among shard_ranks, copies of it summed */
	LLM_SHARDS
};

enum llm_schedule {
	LLM_GPIPE,
	LLM_1F1B,        /* with vpp > 1 interleaved */
	LLM_ZERO_BUBBLE, /* ZB-H1: P. Qi et al., 2024 */
	LLM_SCHEDULES
};

enum llm_recompute {
	LLM_RECOMPUTE_NONE,
	LLM_RECOMPUTE_SELECTIVE, /* of recompute_modules */
	LLM_RECOMPUTE_OPERATORS, /* of all but attention and every second
				  * matrix (torchtitan's "selective op") */
	LLM_RECOMPUTE_FULL,      /* of recompute_layers layers */
	LLM_RECOMPUTE_AUTO,      /* the least that leaves the headroom */
	LLM_RECOMPUTES
};

/* Of what SELECTIVE makes again, bits (Megatron's --recompute-modules). */
enum llm_module {
	LLM_MODULE_SCORES = 1,     /* core_attn: attention, not its matrices */
	LLM_MODULE_HEADS = 2,      /* mla_up_proj: of latents */
	LLM_MODULE_MLP = 4,        /* mlp: of dense layers */
	LLM_MODULE_ACTIVATION = 8, /* moe_act: of experts */
	LLM_MODULE_NORM = 16,      /* layernorm */
	LLM_MODULE_SHARED = 32     /* shared_experts */
};

/* What LoRA adds a low rank to: every matrix of a layer (Megatron-Bridge,
 * NeMo AutoModel), those of attention (MLPerf), or those of queries, keys and
 * values (NeMo 1). */
enum llm_adapters { LLM_ADAPT_ALL, LLM_ADAPT_ATTENTION, LLM_ADAPT_QKV };

struct llm_layout {
	int gpus;
	int tp, pp, cp, ep,
		etp; /* etp: of an expert's matrices: 1 or tp; 0: tp */
	int vpp;     /* model chunks of a stage */
	int dp;      /* gpus / (tp x pp x cp); llm_layout_complete sets it */
	enum llm_shard shard;
	int shard_ranks; /* HSDP; else 0 */
	bool reshard;    /* FSDP: gather again in backward */
	bool sequence;   /* sequence parallelism beside tp */
	bool gather_cp; /* context: all-gather of keys and values, not a ring */
	enum llm_schedule schedule;
	enum llm_recompute recompute;
	int recompute_layers;  /* FULL: of a stage; 0: all */
	int recompute_modules; /* SELECTIVE: enum llm_module */
	bool no_headroom;      /* AUTO, and the search of plan.h, take what is
				* tight (memory.h), too */
	int offload_layers;    /* of a stage, whose activations wait in the
				* host's memory */

	int seq;          /* tokens of a sequence */
	int micro_batch;  /* sequences */
	int global_batch; /* sequences of a step of all */
	enum llm_precision precision;
	/* Bytes of a parameter: */
	int parameter_bytes; /* as computed with: 2 */
	int gradient_bytes;  /* as accumulated and summed: 4, FSDP2 4 or 2 */
	int state_bytes;     /* master, moments: 12; moments in 16 bits 8; and
			      * a copy of the gradient 16 (DeepSpeed) */
	int copy_bytes;      /* beside, on each rank: 0; gradients of backward
			      * that stay 2 (DeepSpeed's bf16); weights in 8
			      * bits and their transpose 2, where those of 16
			      * stay */
	enum llm_attention_library attention;
	bool plain_exchange; /* tokens go to each expert by an all-to-all; else
			      * once to a rank and once to a node (DeepEP,
			      * HybridEP) */
	bool fused_experts;  /* both products of experts, what is between and
			      * its casts in one kernel, where there is one */
	bool fused_kernels;  /* a gate's product and the loss: compilers and
			      * Transformer Engine, not eager PyTorch */
	bool keep_outputs;   /* a stage's, until their backward pass: DeepSpeed;
			      * Megatron frees them */
	bool overlap_grad;   /* gradient sums beside backward */
	bool overlap_param;  /* parameter gathers beside forward */
	bool overlap_tp;     /* tensor-parallel calls beside GEMMs */
	bool overlap_p2p;    /* messages of the pipeline beside computing */
	bool overlap_ep;     /* exchanges of tokens beside computing */
	double imbalance;    /* tokens of the fullest expert rank over the
			      * mean; 1: balanced */
	bool lora;           /* base weights frozen */
	enum llm_adapters adapters; /* of LoRA: beside which matrices */
	int document;          /* tokens that attend to each other: of examples
				* packed into a sequence; 0: all of it */
	bool small_activation; /* what an MLP's activation takes is kept in 8
				* bits (Transformer Engine's
				* fp8_activation_input_store) */
	bool dropout;          /* of scores and of what attention and MLP add */
};

/* Names as flags have them: "zero1", "zero-bubble", "selective"; find returns
 * the number of names where there is no such. */
const char *llm_shard_name(enum llm_shard shard);
enum llm_shard llm_shard_find(const char *name);
const char *llm_schedule_name(enum llm_schedule schedule);
enum llm_schedule llm_schedule_find(const char *name);
const char *llm_attention_library_name(enum llm_attention_library library);
enum llm_attention_library llm_attention_library_find(const char *name);
const char *llm_recompute_name(enum llm_recompute recompute);
enum llm_recompute llm_recompute_find(const char *name);

/* llm_modules_find returns the modules of a list as "mla_up_proj+mlp"; 0: one
 * of them is none that is known. */
int llm_modules_find(const char *names);

/* llm_layout_init sets what users mean who say nothing: one GPU a copy of the
 * model, ZeRO-1, sequence parallelism, 1F1B, bf16, all overlapped but tp. */
void llm_layout_init(struct llm_layout *layout);

/* llm_micro_batches returns how many each pipeline works through in a step. */
int llm_micro_batches(const struct llm_layout *layout);

/*
 * llm_layout_complete computes dp, and etp where it is 0, and refuses what is
 * not legal:
 * - tp divides heads, key-value heads, hidden, ffn, shared experts' ffn; etp an
 *   expert's;
 * - pp is not more than layers, pp x vpp not more than layers and embedding and
 *   loss; stages may be uneven (work.h); only 1F1B is interleaved;
 * - seq is a multiple of 2 x cp, and of cp x tp under sequence parallelism;
 * - tp x pp x cp divides gpus; ep x etp divides tp x cp x dp; ep the experts;
 * - experts beside tp have sequence parallelism (Megatron's arguments.py);
 * - micro_batch x dp divides global_batch, and x pp where vpp > 1:
 * micro-batches of an interleaved schedule come pp at a time;
 * - shard_ranks divides dp; recompute_layers and offload_layers are not
 *   more than a stage has.
 * Errors: INVALID_ARGUMENT; *option is the flag that stands against it ("tp",
 * "pp", "vpp", "cp", "ep", "etp", "gpus", "seq", "micro-batch", "global-batch",
 * "shard-ranks", "recompute-layers", "imbalance", "no-sequence"...), message
 * says the legal values.
 */
DIST_MUST_CHECK enum dist_error
llm_layout_complete(struct llm_layout *layout,
		    const struct llm_architecture *model, const char **option,
		    struct dist_message *message);

/* Groups of ranks by what they divide. Ranks count fastest along tp, then cp,
 * (ep within cp x dp), dp, pp: Megatron's order "tp-cp-ep-dp-pp". */
enum llm_axis {
	LLM_TP,
	LLM_CP,
	LLM_EP,
	LLM_PP,        /* two neighbours of it */
	LLM_DP,        /* dp x cp: gradients of what is not an expert; under
			* HSDP shard_ranks x cp */
	LLM_EXPERT_DP, /* copies of an expert */
	LLM_REPLICAS,  /* HSDP: copies of a shard */
	LLM_AXES
};

const char *llm_axis_name(enum llm_axis axis);

/* Where the ranks of one axis sit: `ranks` of a group, `node_ranks` of them on
 * a node (of the group that is spread over most); `stride` between neighbours;
 * `sharers`: groups like it on a node, which use its network at once. */
struct llm_group {
	int ranks, node_ranks, stride, sharers;
};

/* llm_layout_group returns the groups of an axis on nodes of gpus_per_node, of
 * which a job uses as many as divide its gpus (64 of a domain of 72). */
struct llm_group llm_layout_group(const struct llm_layout *layout,
				  enum llm_axis axis, int gpus_per_node);

#endif
