/*
 * ddp.h - data-parallel training: gradients averaged over the ranks of a
 * group while backward still computes.
 *
 * The design is that of PyTorch's DistributedDataParallel (S. Li et al.,
 * "PyTorch Distributed: Experiences on Accelerating Data Parallel Training",
 * Proc. VLDB Endowment 13(12), 2020, section 3): parameters are broadcast once
 * from rank 0; gradients are packed into buckets, in about the order in which
 * backward yields them; a bucket is averaged as soon as it is full, while
 * backward goes on; the optimizer waits for all of them.
 *
 *	struct dist_ddp_parameter params[2] = {
 *		{"weight", dist_tensor(w, 4096, DIST_FLOAT32),
 *		 dist_tensor(dw, 4096, DIST_FLOAT32)},
 *		{"bias", dist_tensor(b, 64, DIST_FLOAT32),
 *		 dist_tensor(db, 64, DIST_FLOAT32)},
 *	};
 *	struct dist_ddp *ddp;
 *
 *	if (dist_ddp_new(group, params, 2, NULL, &ddp))
 *		return 1;
 *	for (step = 0; step < steps; step++) {
 *		... forward, then backward from the last layer on:
 *		dist_ddp_gradient_ready(ddp, 1);
 *		dist_ddp_gradient_ready(ddp, 0);
 *		if (dist_ddp_finish(ddp))
 *			return 1;
 *		... optimizer
 *	}
 *	dist_ddp_free(ddp);
 *
 * Gradients are averaged once a micro-batch, which lasts from one
 * dist_ddp_finish() to the next. A step of the optimizer has one micro-batch,
 * or several: then all but the last only add to the gradients:
 *
 *	for (i = 0; i < num; i++) {
 *		if (i < num - 1 && dist_ddp_no_sync(ddp))
 *			return 1;
 *		... backward, which adds to the gradients; mark them
 *		if (dist_ddp_finish(ddp))
 *			return 1;
 *	}
 *	if (dist_ddp_optimizer_step(ddp))
 *		return 1;
 *	... optimizer; zero the gradients
 *
 * A ddp object belongs to one rank and one thread of it, as its group does. All
 * ranks register the same parameters, with the same names, in the same order,
 * and mark the same gradients in each micro-batch (except with
 * find_unused_parameters). The order of marking may differ between ranks,
 * because buckets are sent in their own order. Every collective of ddp has a
 * label (dist.h): its bucket, parameters, step and micro-batch. Ranks with
 * different buckets, parameters or steps get DIST_ERR_MISMATCH, even if sizes
 * are equal. "Any group error" is explained in dist.h.
 */
#ifndef LOCKSTEP_DDP_H
#define LOCKSTEP_DDP_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What PyTorch gives its first bucket and all others, in units of 2^20
 * bytes. */
#define DIST_DDP_FIRST_BUCKET_MB 1.0
#define DIST_DDP_BUCKET_CAP_MB   25.0

/* The data-parallel state of one rank. Opaque. */
struct dist_ddp;

/*
 * One parameter and its gradient: two views of the same numel and dtype. The
 * memory is the caller's and must stay valid until dist_ddp_free(). In
 * simulation all parameters, all gradients, or both may be phantoms (data
 * NULL). With gradient_as_bucket_view the gradient's data is ignored.
 */
struct dist_ddp_parameter {
	const char *name; /* the same on every rank, or NULL; borrowed like
			     the memory */
	struct dist_tensor parameter;
	struct dist_tensor gradient;
};

/*
 * How a bucket travels: PyTorch's communication hooks. The compressing ones
 * send a float32 bucket as float16 or bfloat16, in half the bytes: every rank
 * divides by the number of ranks and rounds, and the sum is the average.
 * Buckets of other types are not compressed.
 */
enum dist_ddp_comm_hook {
	DIST_DDP_ALLREDUCE,     /* as it is */
	DIST_DDP_FP16_COMPRESS, /* fp16_compress_hook */
	DIST_DDP_BF16_COMPRESS  /* bf16_compress_hook */
};

/*
 * How buckets are made. A field that is zero (or a NULL pointer to the struct)
 * means PyTorch's default. Sizes are in units of 2^20 bytes and may be
 * fractions.
 */
struct dist_ddp_options {
	double bucket_cap_mb;         /* 0: DIST_DDP_BUCKET_CAP_MB */
	double first_bucket_mb;       /* 0: DIST_DDP_FIRST_BUCKET_MB */
	bool gradient_as_bucket_view; /* gradients live in their buckets, see
					 dist_ddp_gradient() */
	/* A micro-batch may leave parameters unmarked. They are averaged with
	 * what their gradients hold (zero, if the caller cleared them), and the
	 * ranks exchange which parameters were used. The gradient of a
	 * parameter that no rank used is not changed, unless it lives in a
	 * bucket. Without this option an unmarked parameter is refused. */
	bool find_unused_parameters;
	/* Every micro-batch marks the same parameters as the first, on all
	 * ranks; the others are never averaged. The first micro-batch is
	 * averaged at its end. Overrides find_unused_parameters. */
	bool static_graph;
	enum dist_ddp_comm_hook comm_hook; /* the same on every rank */
	/* dist_ddp_new serves the measurement and is not measured: see
	 * dist_untimed (lockstep/measure.h). */
	bool untimed;
	/* params stays in its place until dist_ddp_free(), and need not be
	 * copied: of phantoms all ranks of a simulation may share one. */
	bool params_stay;
	struct dist_message *message; /* NULL, or receives a sentence about a
					 failure of dist_ddp_new */
};

/*
 * dist_ddp_new registers num parameters, broadcasts them from rank 0, cuts the
 * buckets and stores the state in *ddp; the caller owns it until
 * dist_ddp_free(). The group is borrowed and must outlive it; params itself is
 * copied, unless it stays. Blocks until this rank has rank 0's values.
 *
 * The broadcast packs parameters of one dtype into messages that close once
 * they hold 250 MiB, in registration order, as PyTorch does.
 *
 * Buckets hold gradients of one dtype in reverse registration order. A bucket
 * is closed by the gradient with which its size reaches the limit; the first
 * bucket of each dtype has the limit first_bucket_mb, all others
 * bucket_cap_mb. Buckets are averaged in the order in which they closed; those
 * that never closed come last.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also for num 0, a NULL
 * pointer, an unknown dtype, a gradient of another shape than its parameter,
 * phantoms mixed with memory, a negative size, no such comm_hook;
 * DIST_ERR_UNSUPPORTED (phantom in a real world). On error *ddp is untouched.
 */
DIST_MUST_CHECK enum dist_error
dist_ddp_new(struct dist_group *group, const struct dist_ddp_parameter *params,
	     size_t num, const struct dist_ddp_options *options,
	     struct dist_ddp **ddp);

/*
 * dist_ddp_gradient_ready marks the gradient of parameter index (registration
 * order) as complete for this micro-batch. It is copied into its bucket, so
 * that its memory may be reused at once (unless it lives in the bucket: see
 * dist_ddp_gradient()). When the bucket is full and all buckets before it have
 * started, its average over the ranks is started. Under dist_ddp_no_sync() the
 * gradient is only marked. Blocks only with throw_on_early_termination.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also for an index outside
 * the parameters, for a gradient marked a second time in one micro-batch, and
 * with static_graph for one that the first left out; DIST_ERR_PEER_LOST also as
 * in dist_ddp_join_begin().
 */
DIST_MUST_CHECK enum dist_error dist_ddp_gradient_ready(struct dist_ddp *ddp,
							size_t index);

/*
 * dist_ddp_finish ends the micro-batch: it waits for the buckets in their
 * order, copies the averages back into the gradients and prepares the next one.
 * Blocks. Under dist_ddp_no_sync() gradients are not changed.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also if a gradient was not
 * marked that should have been (the message names the parameters; the call does
 * not wait and the micro-batch goes on, so that the caller may mark them and
 * finish again); DIST_ERR_PEER_LOST also as in dist_ddp_join_begin().
 */
DIST_MUST_CHECK enum dist_error dist_ddp_finish(struct dist_ddp *ddp);

/*
 * dist_ddp_no_sync makes the micro-batch that begins now accumulate: it is not
 * averaged. The next dist_ddp_finish() ends that. All ranks do the same. The
 * caller's backward adds to the gradients, so that they hold the sum when the
 * last micro-batch averages them.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL; something of the micro-batch has
 * been marked).
 */
DIST_MUST_CHECK enum dist_error dist_ddp_no_sync(struct dist_ddp *ddp);

/*
 * dist_ddp_optimizer_step announces that the optimizer will use the gradients
 * now, and fails if they are not averages. If all ranks call it, messages and
 * verdicts count optimizer steps and their micro-batches, and ranks that
 * average in different steps get DIST_ERR_MISMATCH. Without it every average
 * counts as a step. Not a collective; does not block.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL; a micro-batch has begun; the last
 * micro-batches were accumulated under dist_ddp_no_sync() and not averaged).
 */
DIST_MUST_CHECK enum dist_error dist_ddp_optimizer_step(struct dist_ddp *ddp);

/* What to do with uneven inputs; all-zero is PyTorch's default. */
struct dist_ddp_join_options {
	/* Average over the ranks that have inputs left, rather than over all
	 * (divide_by_initial_world_size=False there). Floats only. */
	bool divide_by_remaining;
	/* Fail on all ranks as soon as one has no inputs left. */
	bool throw_on_early_termination;
};

/*
 * dist_ddp_join_begin allows ranks to have different numbers of micro-batches
 * from now on. Each micro-batch begins with a small all-reduce that counts the
 * ranks with inputs left. All ranks call it, with the same options (NULL: the
 * default), and dist_ddp_join_end() when their inputs have ended. Does not
 * block.
 *
 * With throw_on_early_termination the first call of a micro-batch, and
 * dist_ddp_join_end(), return DIST_ERR_PEER_LOST on every rank when some rank's
 * inputs have ended before those of others; the group stays usable.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL; begun already; a micro-batch has
 * begun).
 */
DIST_MUST_CHECK enum dist_error
dist_ddp_join_begin(struct dist_ddp *ddp,
		    const struct dist_ddp_join_options *options);

/*
 * dist_ddp_join_end takes part, with zeros, in the averages of ranks that have
 * inputs left, until none has. Then all ranks get the parameters of the rank
 * that had inputs longest (the highest of these). It takes part in no other
 * collective, also of this group. What this rank's gradients hold in their
 * buckets is lost. Blocks.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also when not begun or
 * when a micro-batch has begun; DIST_ERR_PEER_LOST also as in
 * dist_ddp_join_begin().
 */
DIST_MUST_CHECK enum dist_error dist_ddp_join_end(struct dist_ddp *ddp);

/*
 * dist_ddp_free frees the state; parameters, gradients and the group stay. Ends
 * an unfinished micro-batch by waiting for its buckets. ddp may be NULL.
 */
void dist_ddp_free(struct dist_ddp *ddp);

/*
 * dist_ddp_gradient returns the view of the gradient of parameter index: the
 * caller's own or, with gradient_as_bucket_view, one into its bucket, which
 * lives until dist_ddp_free() and saves the copies to the bucket and back. Such
 * a gradient must not be touched between dist_ddp_gradient_ready() and
 * dist_ddp_finish(). It is a phantom when the parameters are. An empty tensor
 * for NULL or an index past the end.
 */
struct dist_tensor dist_ddp_gradient(const struct dist_ddp *ddp, size_t index);

/* dist_ddp_is_used returns whether any rank used parameter index in the last
 * average. False for NULL or an index past the end. */
bool dist_ddp_is_used(const struct dist_ddp *ddp, size_t index);

/* dist_ddp_num_buckets returns the number of buckets; 0 for NULL. */
size_t dist_ddp_num_buckets(const struct dist_ddp *ddp);

/* dist_ddp_bucket_numel returns the number of elements of bucket index, in the
 * order in which buckets are averaged; 0 for NULL or an index past the end. */
size_t dist_ddp_bucket_numel(const struct dist_ddp *ddp, size_t index);

/* dist_ddp_bucket_dtype returns the type of bucket index; DIST_FLOAT32 for
 * NULL or an index past the end. */
enum dist_dtype dist_ddp_bucket_dtype(const struct dist_ddp *ddp, size_t index);

/* dist_ddp_error_message returns a sentence about the last failure of a call
 * on ddp, "" if there was none or ddp is NULL. Valid until the next call on
 * ddp. */
const char *dist_ddp_error_message(const struct dist_ddp *ddp);

/* ---- source lines ----------------------------------------------------- */

/*
 * dist_ddp_at notes that the next call on ddp is at file:line, and returns ddp
 * (NULL as it is). The collectives of this call carry that line, so that a
 * verdict names the training loop and not this library.
 */
struct dist_ddp *dist_ddp_at(struct dist_ddp *ddp, const char *file, int line);

/* dist_ddp_new_at is dist_ddp_new, called at file:line. Errors: its. */
DIST_MUST_CHECK enum dist_error
dist_ddp_new_at(const char *file, int line, struct dist_group *group,
		const struct dist_ddp_parameter *params, size_t num,
		const struct dist_ddp_options *options, struct dist_ddp **ddp);

#define DIST_DDP_HERE(ddp) dist_ddp_at((ddp), __FILE__, __LINE__)
#define dist_ddp_new(...)  dist_ddp_new_at(__FILE__, __LINE__, __VA_ARGS__)
#define dist_ddp_gradient_ready(ddp, index)                                    \
	(dist_ddp_gradient_ready)(DIST_DDP_HERE(ddp), (index))
#define dist_ddp_finish(ddp)  (dist_ddp_finish)(DIST_DDP_HERE(ddp))
#define dist_ddp_no_sync(ddp) (dist_ddp_no_sync)(DIST_DDP_HERE(ddp))
#define dist_ddp_optimizer_step(ddp)                                           \
	(dist_ddp_optimizer_step)(DIST_DDP_HERE(ddp))
#define dist_ddp_join_begin(ddp, options)                                      \
	(dist_ddp_join_begin)(DIST_DDP_HERE(ddp), options)
#define dist_ddp_join_end(ddp) (dist_ddp_join_end)(DIST_DDP_HERE(ddp))

#ifdef __cplusplus
}
#endif

#endif
