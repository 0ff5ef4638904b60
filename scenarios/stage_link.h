/*
 * stage_link.h - messages in one direction between neighbouring stages of a
 * pipeline: activations forward, or their gradients backward.
 */
#ifndef LOCKSTEP_SCENARIOS_STAGE_LINK_H
#define LOCKSTEP_SCENARIOS_STAGE_LINK_H

#include "scenarios/training.h"

/* One direction. The last stage in it sends to none, the first receives from
 * none. */
struct stage_link {
	struct dist_group *group; /* of the stages, in their order */
	int from, to;             /* ranks of it; -1: none */
	int tag;
	struct dist_tensor received; /* the last message */
	struct dist_tensor *sent;    /* by micro-batch */
	struct pending *sends;       /* so too */
	int num;                     /* micro-batches a step */
	int64_t *sent_ns;            /* for all steps: when each was sent */
	struct wait *waits;          /* for all steps: the wait for each
					received message */
	size_t num_sent, num_received;
	double wrong; /* number of wrong elements received */
};

/* stage_link_init allocates the tensors, of these numels, and the records of a
 * link whose group, from, to, tag and num are set. Errors: DIST_ERR_NO_MEMORY;
 * in any case stage_link_release frees what it holds. */
DIST_MUST_CHECK enum dist_error stage_link_init(struct training *t,
						struct stage_link *link,
						size_t received_numel,
						size_t sent_numel);
void stage_link_release(struct stage_link *link);

/* stage_link_receive waits for micro-batch index, the next one. Without a stage
 * to receive from it does nothing. Errors: those of dist_recv. */
DIST_MUST_CHECK enum dist_error
stage_link_receive(struct training *t, struct stage_link *link, int index);

/* stage_link_send sends micro-batch index. Errors: those of dist_isend. */
DIST_MUST_CHECK enum dist_error
stage_link_send(struct training *t, struct stage_link *link, int index);

/* stage_link_finish waits for the sends of the step. Errors: those of the
 * messages. */
DIST_MUST_CHECK enum dist_error stage_link_finish(struct training *t,
						  struct stage_link *link);

/* stage_link_idle adds to *idle_ns the time that the rank waited for messages
 * not yet sent. All stages call it. Errors: any group error. */
DIST_MUST_CHECK enum dist_error
stage_link_idle(struct training *t, struct stage_link *link, int64_t *idle_ns);

#endif
