/*
 * architecture.h - a language model (transformer), in the few numbers of its
 * config.json: its parameters, FLOP and activations.
 */
#ifndef LOCKSTEP_MODEL_LLM_ARCHITECTURE_H
#define LOCKSTEP_MODEL_LLM_ARCHITECTURE_H

#include "lockstep/dist.h"

struct llm_architecture {
	char name[64];
	int layers, hidden;
	int heads, kv_heads;
	int head_dim; /* of a query and a key, without rope_dim */
	int ffn;      /* width of a dense layer's MLP; 0: no layer is dense */
	bool gated;   /* MLPs and experts have three matrices, not two */
	bool biases;  /* its matrices have biases */
	bool qkv_biases; /* the matrices of query, key and value have biases */
	int vocab;
	bool tied;     /* the output projection is the embedding */
	int positions; /* number of learned positions; 0: rotary or none */
	int window;    /* tokens that a local layer attends to; 0: all layers
			* attend to all */
	int local_of;  /* with window: one layer of so many attends to all;
			* 0: none */
	bool chunked;  /* the window is not the last tokens but a fixed block of
			* the sequence: those of it that came before */

	/* Mixture of experts; experts 0: none. */
	int experts, top_k;
	int expert_ffn;   /* width of one expert */
	int shared_ffn;   /* of all shared experts together; 0: none */
	int dense_layers; /* the first layers, without experts; or: */
	int dense_every;  /* every dense_every-th layer has experts, the others
			     are dense; 0: the first dense_layers are dense */

	/* Multi-head latent attention; kv_rank 0: none. */
	int q_rank; /* 0: queries are made from the hidden state */
	int kv_rank;
	int rope_dim;  /* of a query and a key, added to head_dim */
	int value_dim; /* of a value; without MLA it is head_dim */

	double published; /* parameters that its authors state; 0: none */
	double published_active; /* active parameters that they state; 0: none
				  */
	char source[128];
};

/* Parameters by part, elements. */
struct llm_parameters {
	double embedding; /* and learned positions */
	double head;      /* output projection; 0: tied */
	double norm;      /* the last one */
	double attention; /* of one layer, with the norms of the layer */
	double mlp;       /* of a dense layer */
	double experts;   /* all of a layer's */
	double router;    /* of a layer with experts, with its shared experts */
	double total;
	double active; /* used by one token */
};

/* llm_expert_layers returns the number of layers with experts; llm_has_experts
 * whether layer (from 0) has experts. */
int llm_expert_layers(const struct llm_architecture *model);
bool llm_has_experts(const struct llm_architecture *model, int layer);

/* llm_mean_keys returns how many keys a token of a sequence attends to on
 * average in a local layer, or in one that attends to all. */
double llm_mean_keys(const struct llm_architecture *model, double seq,
		     bool local);

/* llm_local_layers returns the number of layers that attend only to the window.
 */
int llm_local_layers(const struct llm_architecture *model);

/* llm_count_parameters counts matrices, biases and norms, but not a layer's
 * small tensors such as norms of queries and keys. */
void llm_count_parameters(const struct llm_architecture *model,
			  struct llm_parameters *parameters);

/*
 * llm_model_flops returns the FLOP of one token in training without
 * recomputation, 2 a multiply-add, backward twice forward: 6 a parameter of the
 * matrices (the input embedding is none) and attention over seq tokens, of
 * which causal halves the scores (A. Chowdhery et al., "PaLM", 2022, appendix
 * B, which counts them whole). llm_forward_flops are those of one token's
 * forward pass, by part.
 */
double llm_model_flops(const struct llm_architecture *model, int seq,
		       bool causal);

/* FLOP of one token's forward pass, by part. */
struct llm_flops {
	double projections; /* of one layer's attention: its matrices */
	double scores;      /* of one layer that attends to all: query x key,
			     * weights x value */
	double local;       /* the same of a layer with the window */
	double mlp;         /* of a dense layer */
	double experts;     /* of a layer: the top_k, shared ones, the router */
	double head;        /* output projection */
	double total;       /* of all layers and the head */
};

void llm_forward_flops(const struct llm_architecture *model, int seq,
		       bool causal, struct llm_flops *flops);

/*
 * llm_architecture_find reads the model of that name: a path that holds a '/'
 * or ends in ".json" is a config.json as Hugging Face writes it, else a row of
 * the catalogue (data file "models/llm.tsv"), whose names and aliases are
 * compared without case, '-', '_', ':' and spaces. "owner/name" that is no path
 * is a repository of Hugging Face: a row that is from it, or whose name it has,
 * but for a last -Instruct and the like. Errors: INVALID_ARGUMENT (message:
 * "file:line: what was expected", or near names), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_architecture_find(struct llm_architecture *model, const char *name,
		      struct dist_message *message);

/* llm_architecture_check checks the numbers against each other. Errors:
 * INVALID_ARGUMENT (message: the field and what was expected). */
DIST_MUST_CHECK enum dist_error
llm_architecture_check(const struct llm_architecture *model,
		       struct dist_message *message);

/* llm_catalogue_has_near returns whether the catalogue has a model of that name
 * or of a similar one, or one with whose first word the name begins. */
bool llm_catalogue_has_near(const char *name);

/* llm_catalogue reads the whole catalogue into *models, which the caller frees.
 * Errors: as llm_architecture_find. */
DIST_MUST_CHECK enum dist_error llm_catalogue(struct llm_architecture **models,
					      size_t *num,
					      struct dist_message *message);

#endif
