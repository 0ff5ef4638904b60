/* state.h - the state of a dist_ddp, shared by the files of ddp/. */
#ifndef LOCKSTEP_DDP_STATE_H
#define LOCKSTEP_DDP_STATE_H

#include "lockstep/ddp.h"
#include "ddp/bucket.h"

/* A line of the caller's source; file NULL: not known. */
struct dist__ddp_site {
	const char *file;
	int line;
};

/* One bucket: the flat buffer that its gradients are copied into, in cutting
 * order without gaps, and the all-reduce on it. */
struct dist__ddp_bucket {
	void *data;             /* owned; NULL: phantom, or no bytes */
	void *compressed;       /* owned; what the hook sends; NULL: data, or
				   phantom */
	size_t missing;         /* gradients of this micro-batch to come */
	struct dist_work *work; /* owned; NULL: not in flight */
	char text[72];          /* "bucket 2 (fc.bias, fc.weight)" */
	uint64_t terms;         /* hash of all its gradients, */
	uint64_t graph;         /* and of those that a static graph uses */
};

/* Where a gradient is stored. */
struct dist__ddp_slot {
	size_t offset_bytes;
	uint32_t bucket;
	bool ready;    /* marked in this micro-batch */
	bool in_graph; /* static_graph: marked in the first micro-batch */
	bool averaged; /* some rank used it for the last average */
};

/* How far training is. */
struct dist__ddp_place {
	uint64_t steps;      /* of the optimizer */
	bool steps_told;     /* the caller counts them; else averages count */
	uint64_t in_step;    /* micro-batches done since the last step */
	uint64_t averages;   /* micro-batches that were averaged */
	uint64_t unaveraged; /* micro-batches since then, under no_sync */
	bool no_sync;        /* the micro-batch is only accumulated */
	bool begun;          /* a gradient of the micro-batch was marked */
};

/* Uneven inputs: each micro-batch begins by counting the ranks that have inputs
 * left, and those of them that average. */
struct dist__ddp_join {
	bool on;
	struct dist_ddp_join_options options;
	bool ended;   /* throw_on_early_termination: a rank has no inputs */
	bool shadows; /* this rank has no inputs */
	int32_t counts[2];
	struct dist_work *work; /* owned; on counts; NULL: not in flight */
};

/* Buckets before num_launched are in flight or done. They start in their order
 * only, so that all ranks issue the same collectives in the same order,
 * whatever order their gradients come in. */
struct dist_ddp {
	struct dist_group *group; /* borrowed */
	const struct dist_ddp_parameter *params;
	struct dist_ddp_parameter *copy; /* owned; NULL: params is borrowed */
	struct dist__ddp_slot *slots;    /* one for each parameter */
	int32_t *used; /* by parameter: marked since the last average */
	size_t num;
	bool views;       /* the gradients are in the buckets */
	bool find_unused; /* and the graph is not static */
	bool static_graph;
	bool untimed;     /* the first broadcast takes no simulated time */
	bool graph_known; /* in_graph is set */
	enum dist_ddp_comm_hook hook;
	struct dist__ddp_partition partition;
	struct dist__ddp_bucket *buckets; /* partition.num_spans of them */
	size_t num_launched;
	struct dist__ddp_place place;
	struct dist__ddp_join join;
	struct dist__ddp_site next_site; /* from dist_ddp_at() */
	struct dist_message message;
};

/* ---- state.c ---------------------------------------------------------- */

/* dist__ddp_enter returns the site that dist_ddp_at() stored, and clears the
 * last message. */
struct dist__ddp_site dist__ddp_enter(struct dist_ddp *ddp);

/* dist__ddp_refuse stores why call ("ddp_finish" and so on) is refused, and
 * returns DIST_ERR_INVALID_ARGUMENT. */
enum dist_error dist__ddp_refuse(struct dist_ddp *ddp,
				 const struct dist__ddp_site *site,
				 const char *call, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* dist__ddp_failed stores a message: the operation `what` failed with error.
 * Returns error. */
enum dist_error dist__ddp_failed(struct dist_ddp *ddp, const char *what,
				 enum dist_error error);

/* dist__ddp_empty unmarks all gradients and empties all buckets. No work is in
 * flight. */
void dist__ddp_empty(struct dist_ddp *ddp);

/* ---- step.c ----------------------------------------------------------- */

/* dist__ddp_average starts the averages of all buckets that are not in flight,
 * which are full, and waits for all. Errors: any group error. */
enum dist_error dist__ddp_average(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site);

/* ---- broadcast.c ------------------------------------------------------ */

/* dist__ddp_broadcast sends src's parameters to all ranks, packed. Errors: any
 * group error; ddp's message explains it. */
enum dist_error dist__ddp_broadcast(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site, int src);

/* ---- label.c ---------------------------------------------------------- */

/* dist__ddp_describe sets the text and terms of bucket b. */
void dist__ddp_describe(struct dist_ddp *ddp, size_t b);

/* dist__ddp_at_bucket returns ddp's group, labelled for a call at site on
 * bucket b. */
struct dist_group *dist__ddp_at_bucket(struct dist_ddp *ddp,
				       const struct dist__ddp_site *site,
				       size_t b);

/* dist__ddp_at_parameters returns it labelled for a call on the parameters. */
struct dist_group *dist__ddp_at_parameters(struct dist_ddp *ddp,
					   const struct dist__ddp_site *site);

/* dist__ddp_at_call returns it labelled with what, a text that distinguishes
 * the call from others. */
struct dist_group *dist__ddp_at_call(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site,
				     const char *what);

/* dist__ddp_print_place writes "step 3, micro-batch 0". */
void dist__ddp_print_place(const struct dist_ddp *ddp, char *text, size_t size);

/* dist__ddp_name returns the name of parameter index, "?" if it has none. */
const char *dist__ddp_name(const struct dist_ddp *ddp, size_t index);

/* ---- unused.c --------------------------------------------------------- */

/* dist__ddp_check_used handles parameters that were not marked, at the end of a
 * micro-batch; the first one of a static graph defines its parameters. Errors:
 * INVALID_ARGUMENT (they should have been marked). */
enum dist_error dist__ddp_check_used(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site);

/* dist__ddp_share_used exchanges with all ranks which parameters were used
 * since the last average. Errors: any group error. */
enum dist_error dist__ddp_share_used(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site);

/* ---- join_count.c ----------------------------------------------------- */

/* dist__ddp_count starts the sum of join.counts over the ranks; it blocks if
 * work is NULL. Errors: any group error. */
enum dist_error dist__ddp_count(struct dist_ddp *ddp,
				const struct dist__ddp_site *site,
				struct dist_work **work);

/* dist__ddp_remaining returns how many ranks had inputs at the last count. */
int dist__ddp_remaining(const struct dist_ddp *ddp);

/* dist__ddp_end_early ends uneven inputs because a rank has none left; returns
 * PEER_LOST. */
enum dist_error dist__ddp_end_early(struct dist_ddp *ddp);

/* dist__ddp_announce begins a micro-batch of a rank that has inputs left, if
 * inputs are uneven. Errors: any group error; PEER_LOST (another rank has none,
 * and throw_on_early_termination is set). */
enum dist_error dist__ddp_announce(struct dist_ddp *ddp,
				   const struct dist__ddp_site *site);

/* dist__ddp_announced waits for the count that dist__ddp_announce() started, if
 * any. Errors: any group error. */
enum dist_error dist__ddp_announced(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site);

/* dist__ddp_divisor stores the number of ranks that an average counts. Errors:
 * any group error. */
enum dist_error dist__ddp_divisor(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site,
				  int *divisor);

/* ---- reduce.c --------------------------------------------------------- */

/* dist__ddp_compressed_bytes returns the bytes of bucket b that the hook sends
 * instead of its data; 0: none. */
size_t dist__ddp_compressed_bytes(const struct dist_ddp *ddp, size_t b);

/* dist__ddp_reduce_bucket starts the average of bucket b over the ranks that
 * count. Errors: any group error. */
enum dist_error dist__ddp_reduce_bucket(struct dist_ddp *ddp,
					const struct dist__ddp_site *site,
					size_t b);

/* dist__ddp_restore_bucket converts the received bytes of bucket b to data. */
void dist__ddp_restore_bucket(struct dist_ddp *ddp, size_t b);

#endif
