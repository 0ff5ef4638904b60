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
 * A ddp object belongs to one rank and one thread of it, as its group does.
 * All ranks register the same parameters in the same order and mark the same
 * gradients in each step; the order of marking may differ between ranks,
 * because buckets are sent in their own order. "Any group error" is explained
 * in dist.h.
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
 * memory is the caller's and must stay valid until dist_ddp_free(). Either
 * view may be a phantom (data NULL) in simulation, then all of its kind are.
 * With gradient_as_bucket_view the gradient's data is not looked at.
 */
struct dist_ddp_parameter {
	const char *name; /* for messages; borrowed like the memory */
	struct dist_tensor parameter;
	struct dist_tensor gradient;
};

/*
 * How buckets are cut. All-zero (or a NULL pointer) means PyTorch's defaults.
 * Sizes are in units of 2^20 bytes and may be fractions.
 */
struct dist_ddp_options {
	double bucket_cap_mb;         /* 0: DIST_DDP_BUCKET_CAP_MB */
	double first_bucket_mb;       /* 0: DIST_DDP_FIRST_BUCKET_MB */
	bool gradient_as_bucket_view; /* gradients live in their buckets, see
					 dist_ddp_gradient() */
	struct dist_message *message; /* NULL, or receives a sentence about a
					 failure of dist_ddp_new */
};

/*
 * dist_ddp_new registers num parameters, broadcasts them from rank 0, cuts the
 * buckets and stores the state in *ddp; the caller owns it until
 * dist_ddp_free(). The group is borrowed and must outlive it; params itself is
 * copied. Blocks until this rank has rank 0's values.
 *
 * The broadcast packs parameters of one dtype into messages that close once
 * they hold 250 MiB, in registration order, as PyTorch does.
 *
 * Buckets hold gradients of one dtype in reverse registration order. A bucket
 * is closed by the gradient with which its size reaches the limit; the first
 * bucket of each dtype has the limit first_bucket_mb, all others
 * bucket_cap_mb. Buckets stand in the order in which they closed; what was
 * never closed comes last.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also for num 0, a NULL
 * pointer, an unknown dtype, a gradient of another shape than its parameter,
 * phantoms mixed with memory, a negative size; DIST_ERR_UNSUPPORTED (phantom
 * in a real world). On error *ddp is untouched.
 */
DIST_MUST_CHECK enum dist_error
dist_ddp_new(struct dist_group *group, const struct dist_ddp_parameter *params,
	     size_t num, const struct dist_ddp_options *options,
	     struct dist_ddp **ddp);

/*
 * dist_ddp_gradient_ready says that the gradient of parameter index
 * (registration order) is complete for this step. It is copied into its
 * bucket, so that its memory is free again at once (unless it lives in the
 * bucket: see dist_ddp_gradient()). When this fills the bucket
 * and all buckets before it are under way, the bucket's average over the ranks
 * is started. Does not block.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also for an index outside
 * the parameters and for a gradient marked a second time in one step.
 */
DIST_MUST_CHECK enum dist_error dist_ddp_gradient_ready(struct dist_ddp *ddp,
							size_t index);

/*
 * dist_ddp_finish ends the step: it waits for the buckets in their order,
 * copies the averages back into the gradients and makes ready for the next
 * step. Blocks.
 *
 * Errors: any group error; DIST_ERR_INVALID_ARGUMENT also when a gradient was
 * not marked ready in this step (the message names the parameter; nothing is
 * waited for and the step goes on, so that the caller may mark it and finish
 * again).
 */
DIST_MUST_CHECK enum dist_error dist_ddp_finish(struct dist_ddp *ddp);

/*
 * dist_ddp_free frees the state; parameters, gradients and the group stay. Ends
 * an unfinished step by waiting for its buckets. ddp may be NULL.
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
 * dist_ddp_at notes that the next call on ddp stands at file:line, and returns
 * ddp (NULL passes through). The collectives that this call starts carry that
 * line, so that a verdict names the training loop and not this library.
 */
struct dist_ddp *dist_ddp_at(struct dist_ddp *ddp, const char *file, int line);

/* dist_ddp_new_at is dist_ddp_new, called at file:line. Errors: its. */
DIST_MUST_CHECK enum dist_error
dist_ddp_new_at(const char *file, int line, struct dist_group *group,
		const struct dist_ddp_parameter *params, size_t num,
		const struct dist_ddp_options *options, struct dist_ddp **ddp);

#define dist_ddp_new(...) dist_ddp_new_at(__FILE__, __LINE__, __VA_ARGS__)
#define dist_ddp_gradient_ready(ddp, index)                                    \
	(dist_ddp_gradient_ready)(dist_ddp_at((ddp), __FILE__, __LINE__),      \
				  (index))
#define dist_ddp_finish(ddp)                                                   \
	(dist_ddp_finish)(dist_ddp_at((ddp), __FILE__, __LINE__))

#ifdef __cplusplus
}
#endif

#endif
