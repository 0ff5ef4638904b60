/*
 * pipeline.h - a rank as a stage of a pipeline: its actions in the order of
 * llm_order.h, and the messages between them: activations forward, of the last
 * stage to the first one's next chunk, and their gradients backward.
 *
 * Megatron-LM's overlap_p2p_comm and torch's schedules post a receive one
 * exchange before it is needed, and wait for no send (asks_ahead, sends_on).
 * Otherwise a stage waits after each exchange, for what it sent and for what
 * the next one needs (Megatron-LM, core/pipeline_parallel/schedules.py:
 * send_forward_recv_backward and its like); or, with sends_on alone, for what
 * it needs.
 */
#ifndef LOCKSTEP_SCENARIOS_PIPELINE_H
#define LOCKSTEP_SCENARIOS_PIPELINE_H

#include "scenarios/llm_order.h"
#include "scenarios/training.h"

struct pipeline_message;

struct pipeline {
	/* Set by the workload: */
	struct llm_order order;
	const char *name; /* of the group */
	bool asks_ahead, sends_on;

	/* Makes a tensor like what leaves a chunk of a stage. Errors:
	 * NO_MEMORY. */
	enum dist_error (*make)(struct training *t, int stage, int chunk,
				struct dist_tensor *tensor);

	/* Set by pipeline_init: */
	struct llm_action *actions; /* owned */
	size_t num_actions;
	struct dist_group *group; /* of the stages; NULL: there is one */
	/* One end of a message each, by direction, chunk and micro-batch. */
	struct pipeline_message *sent, *received;
	int64_t *sent_ns; /* the same, for all steps */
	struct wait *waits;
	size_t num_waits;
	size_t *awaited; /* by wait: the index of the message */
};

/* pipeline_init makes the pipeline that t->pipeline becomes. The stages are
 * equal parts of the world, one behind the other. In any case
 * pipeline_release frees what it holds. Errors: those of new groups. */
DIST_MUST_CHECK enum dist_error pipeline_init(struct training *t,
					      struct pipeline *pipeline);
void pipeline_release(struct pipeline *pipeline);

/* pipeline_before waits for the input of action i, pipeline_after sends its
 * output, pipeline_finish waits for sends. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error pipeline_before(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error pipeline_after(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error pipeline_finish(struct training *t);

/* pipeline_idle adds to *idle_ns the time in which the rank waited for messages
 * that were not yet sent. All stages call it. Errors: any group error. */
DIST_MUST_CHECK enum dist_error pipeline_idle(const struct training *t,
					      int64_t *idle_ns);

#endif
