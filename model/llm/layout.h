/*
 * layout.h - how a model is distributed over GPUs and trained there, in the
 * terms of Megatron-LM and torchtitan.
 */
#ifndef LOCKSTEP_MODEL_LLM_LAYOUT_H
#define LOCKSTEP_MODEL_LLM_LAYOUT_H

#include "base/refuse.h"
#include "model/llm/architecture.h"
#include "model/llm/device.h"

/* What is sharded over data-parallel ranks (S. Rajbhandari et al., "ZeRO",
 * 2020). */
enum llm_shard {
	LLM_DDP,   /* nothing */
	LLM_ZERO1, /* optimizer state: Megatron's distributed optimizer */
	LLM_ZERO2, /* and gradients */
	LLM_FSDP,  /* and parameters: ZeRO-3, FSDP2 */
	LLM_HSDP,  /* FSDP over shard_ranks, and replicas of it */
	LLM_SHARDS
};

enum llm_schedule {
	LLM_GPIPE,
	LLM_1F1B,        /* interleaved if vpp > 1 */
	LLM_ZERO_BUBBLE, /* ZB-H1: P. Qi et al., 2024 */
	LLM_SCHEDULES
};

enum llm_recompute {
	LLM_RECOMPUTE_NONE,
	LLM_RECOMPUTE_SELECTIVE, /* the modules in recompute_modules */
	LLM_RECOMPUTE_OPERATORS, /* all but attention and every second matrix
				    (torchtitan's "selective op") */
	LLM_RECOMPUTE_FULL,      /* recompute_layers whole layers */
	LLM_RECOMPUTE_AUTO,      /* the least that leaves headroom in memory */
	LLM_RECOMPUTES
};

/* Modules that SELECTIVE recomputes, bits (Megatron's --recompute-modules). */
enum llm_module {
	LLM_MODULE_SCORES = 1,     /* core_attn: without its matrices */
	LLM_MODULE_HEADS = 2,      /* mla_up_proj: of latents */
	LLM_MODULE_MLP = 4,        /* mlp: of dense layers */
	LLM_MODULE_ACTIVATION = 8, /* moe_act: of experts */
	LLM_MODULE_NORM = 16,      /* layernorm */
	LLM_MODULE_SHARED = 32,    /* shared_experts */
	LLM_MODULE_DENSE_ACTIVATION =
		64 /* mlp_act: of dense layers, by the kernel of its gradient;
		      Megatron-LM has no such module */
};

/* The matrices with LoRA adapters: all of a layer (Megatron-Bridge, NeMo
 * AutoModel), those of attention (MLPerf), or those of queries, keys and values
 * (NeMo 1). */
enum llm_adapters { LLM_ADAPT_ALL, LLM_ADAPT_ATTENTION, LLM_ADAPT_QKV };

struct llm_layout {
	int gpus;
	int tp, pp, cp, ep,
		etp; /* etp: tensor parallelism of experts, 1 or tp; 0: tp */
	int vpp;     /* model chunks of a stage */
	int dp;      /* gpus / (tp x pp x cp); llm_layout_complete sets it */
	enum llm_shard shard;
	int shard_ranks;  /* HSDP, and ZERO1 in groups; else 0 */
	bool reshard;     /* FSDP: gather parameters again in backward */
	bool defer_sums;  /* FSDP: sum gradients in the last micro-batch alone,
			     and hold them whole until then (no_sync) */
	bool flat_shards; /* FSDP: what is gathered and summed lies in one
			     buffer (FSDP1, Megatron-FSDP); FSDP2 copies
			     parameters out of it, and gradients in */
	bool sequence;    /* sequence parallelism, with tp */
	bool gather_cp;   /* cp: gather keys and values, no ring */
	enum llm_schedule schedule;
	enum llm_recompute recompute;
	int recompute_layers;  /* FULL: layers of a stage; 0: all */
	int recompute_modules; /* SELECTIVE: enum llm_module */
	bool no_headroom;      /* AUTO and the search of plan.h also accept
				  tight layouts (memory.h) */
	int offload_layers;    /* layers of a stage whose activations are kept
				  in the host's memory */

	int seq;          /* tokens of a sequence */
	int micro_batch;  /* sequences */
	int global_batch; /* sequences of a step, of all ranks */
	enum llm_precision precision;
	/* Bytes of a parameter: */
	int parameter_bytes; /* used in computing: 2 */
	int gradient_bytes;  /* accumulated and reduced: 4, FSDP2 4 or 2 */
	int state_bytes;     /* master copy and moments: 12; with moments in 16
				bits 8; with a copy of the gradient 16
				(DeepSpeed) */
	int copy_bytes;      /* more on each rank: 0; backward's gradients that
				are kept 2 (DeepSpeed's bf16); weights in 8 bits
				and their transpose 2, if 16-bit weights are
				kept */
	enum llm_attention_library attention;
	bool plain_exchange; /* tokens are sent to each expert by an all-to-all;
				else only once to a rank and once to a node
				(DeepEP, HybridEP) */
	bool fused_experts;  /* both GEMMs of experts, the activation between
				them and its casts are one kernel, where there
				is one */
	bool fused_kernels;  /* the gate's multiplication and the loss are
				fused: by compilers and Transformer Engine, not
				by eager PyTorch; OPERATORS keeps nothing that
				backward does not read */
	bool copied_heads; /* heads are turned as complex numbers of 32 bits, in
			      kernels of their own, and keys and values copied
			      for each head of queries: torchtitan */
	bool dtensors;    /* calls of tp are PyTorch's own: the second dimension
			     is copied before or behind each, and computing
			     waits for it: torchtitan, KempnerForge */
	bool lone_inputs; /* each matrix sums its input's gradient by itself,
			     and gathers that input, unless kernels are
			     fused: KempnerForge */
	bool eager_norms; /* operators of 32 bits make norms one by one */
	bool early_stop;  /* what is recomputed of a dense layer ends before
			     its last matrix, whose output backward does not
			     read: PyTorch's checkpoints
			     (torch/utils/checkpoint.py,
			     set_checkpoint_early_stop) */
	bool cast_norms;  /* norms take a copy of their input in 32 bits, which
			     a kernel of its own makes: InternEvo */
	bool fused_loss;  /* one kernel makes the loss of logits, one their
			     gradient of these: no exponentials are kept
			     (flash-attn's losses/cross_entropy.py) */
	int eager_loss;   /* PyTorch's operators make the loss one by one, of
			     so many bytes an element: 4 of a copy of the
			     logits (torchtitan), 2; 0: not so */
	bool whole_logits;  /* each rank of tp has the whole embedding and
			       gathers all logits; in a pipeline it has the
			       whole head, too: KempnerForge */
	int loss_chunks;    /* loss and gradient are made in so many parts,
			       each gradient in the place of its logits
			       (Liger Kernel, llm.q); 0: not so */
	bool keep_outputs;  /* a stage keeps its outputs until their backward
			       pass, as DeepSpeed does; Megatron frees them */
	bool whole_sums;    /* all ranks get all summed gradients, though they
			       divide the optimizer's state: InternEvo */
	bool piecewise;     /* zero1: a rank copies the piece that each rank has
			       of each parameter by itself, into and out of
			       what is reduced and gathered: nanotron */
	bool even_matrices; /* stages have as much of the matrices each, the
			       head's too: nanotron (work.h) */
	bool overlap_grad;  /* gradient reductions overlap with backward */
	bool overlap_param; /* parameter gathers overlap with forward */
	bool overlap_tp;    /* tensor-parallel calls overlap with GEMMs */
	bool overlap_p2p;   /* pipeline messages overlap with computing */
	bool overlap_ep;    /* exchanges of tokens overlap with another
			       micro-batch's computing */
	bool even_experts;  /* experts take as many tokens each, those beyond
				 are dropped: the host needs no counts of them
				 to launch what follows */
	double imbalance;   /* tokens of the fullest expert rank divided by the
			       mean; 1: balanced */
	bool lora;          /* LoRA: base weights are frozen */
	enum llm_adapters adapters; /* LoRA: the matrices with adapters */
	int document;          /* tokens that attend to each other when examples
				  are packed into a sequence; 0: the whole
				  sequence */
	bool small_activation; /* the input of an MLP's activation is kept in 8
				  bits (Transformer Engine's
				  fp8_activation_input_store) */
	bool dropout;          /* dropout of scores, and of the outputs of
				  attention and MLP */
};

/* Names as in flags: "zero1", "zero-bubble", "selective". _find returns the
 * number of names if name is unknown; "zero3" and "fsdp2" are FSDP. */
const char *llm_shard_name(enum llm_shard shard);
enum llm_shard llm_shard_find(const char *name);
const char *llm_schedule_name(enum llm_schedule schedule);
enum llm_schedule llm_schedule_find(const char *name);
const char *llm_attention_library_name(enum llm_attention_library library);
enum llm_attention_library llm_attention_library_find(const char *name);
const char *llm_recompute_name(enum llm_recompute recompute);
enum llm_recompute llm_recompute_find(const char *name);

/* llm_modules_find returns the modules of a list such as "mla_up_proj+mlp"; 0:
 * one is unknown. */
int llm_modules_find(const char *names);

/* llm_modules_name stores that list, with `between` between its names. */
void llm_modules_name(int modules, char between, char text[80]);

/* llm_layout_init sets the defaults: each GPU has a copy of the model, ZeRO-1,
 * sequence parallelism, 1F1B, bf16, all calls overlapped except tp and ep. */
void llm_layout_init(struct llm_layout *layout);

/* llm_micro_batches returns the number of micro-batches of each pipeline in a
 * step. */
int llm_micro_batches(const struct llm_layout *layout);

/*
 * llm_gradient_sums returns how often in a step a rank's gradients are summed,
 * without FSDP: once; with ZeRO-2, which keeps a shard of the sums, in each
 * micro-batch; where chunks of a stage take turns, behind each turn, of pp
 * micro-batches, of which a chunk's gradients are summed where they are made
 * (A. Grattafiori et al., "The Llama 3 Herd of Models", 2024, section 3.3.2:
 * gradients in shards, summed in 32 bits over micro-batches, under an
 * interleaved schedule).
 */
int llm_gradient_sums(const struct llm_layout *layout);

/* llm_layout_is_fsdp returns whether parameters are sharded. */
bool llm_layout_is_fsdp(const struct llm_layout *layout);

/*
 * llm_fsdp_sums_late returns whether FSDP sums gradients once a step, and holds
 * them whole until then: as told, and in a pipeline
 * (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync). Else it
 * sums in each micro-batch: the default of FSDP1, FSDP2 and torchtitan.
 */
bool llm_fsdp_sums_late(const struct llm_layout *layout);

/*
 * llm_layout_complete computes dp, and etp if it is 0, and refuses illegal
 * layouts. In a legal one
 * - tp divides heads, key-value heads, hidden, ffn, shared experts' ffn; etp an
 *   expert's;
 * - pp is not more than layers, pp x vpp not more than layers and embedding and
 *   loss; stages may be uneven (work.h); only 1F1B is interleaved;
 * - seq is a multiple of 2 x cp, and of cp x tp under sequence parallelism;
 * - tp x pp x cp divides gpus; ep x etp divides tp x cp x dp; ep the experts;
 * - experts beside tp have sequence parallelism (Megatron's arguments.py);
 * - micro_batch x dp divides global_batch, and x pp where vpp > 1:
 * micro-batches of an interleaved schedule come pp at a time;
 * - overlap_ep: one stage or vpp > 1, recompute not FULL;
 * - shard_ranks divides dp; recompute_layers and offload_layers are not more
 *   than a stage has.
 *
 * Errors: INVALID_ARGUMENT; refusal has the offending flag ("tp", "pp", "vpp",
 * "cp", "ep", "etp", "gpus", "seq", "micro-batch", "global-batch",
 * "shard-ranks", "recompute-layers", "imbalance", "no-sequence"...) and gives
 * the legal values.
 */
DIST_MUST_CHECK enum dist_error
llm_layout_complete(struct llm_layout *layout,
		    const struct llm_architecture *model,
		    struct dist__refusal *refusal);

/* Groups of ranks. Neighbouring ranks differ in tp, then cp, (ep within cp x
 * dp), dp, pp: Megatron's order "tp-cp-ep-dp-pp". */
enum llm_axis {
	LLM_TP,
	LLM_CP,
	LLM_EP,
	LLM_PP,        /* two neighbouring stages */
	LLM_DP,        /* dp x cp, for parameters other than experts; with HSDP
			  shard_ranks x cp */
	LLM_EXPERT_DP, /* copies of an expert */
	LLM_REPLICAS,  /* HSDP, ZERO1 in groups: copies of a shard */
	LLM_AXES
};

const char *llm_axis_name(enum llm_axis axis);

/* The placement of a group: `ranks` in all, `node_ranks` of them on a node (of
 * the group that is spread the most); `stride` between neighbours; `sharers`:
 * groups on a node that use its network at the same time. */
struct llm_group {
	int ranks, node_ranks, stride, sharers;
};

/* llm_layout_group returns the groups of an axis on nodes of gpus_per_node
 * GPUs. Of these a job uses a number that divides its GPUs (64 of a domain of
 * 72). */
struct llm_group llm_layout_group(const struct llm_layout *layout,
				  enum llm_axis axis, int gpus_per_node);

#endif
