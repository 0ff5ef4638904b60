/*
 * stage_link.h - what a stage of a pipeline sends to the one beside it, one
 * way: activations forward, their gradients backward.
 */
#ifndef LOCKSTEP_SCENARIOS_STAGE_LINK_H
#define LOCKSTEP_SCENARIOS_STAGE_LINK_H

#include "scenarios/training.h"

/* One way. A stage at its end has none to send to, or to receive from. */
struct stage_link {
	struct dist_group *group; /* of the stages, in their order */
	int from, to;             /* ranks of it; -1: none */
	int tag;
	struct dist_tensor received; /* the last message */
	struct dist_tensor *sent;    /* by micro-batch */
	struct pending *sends;       /* so too */
	int num;                     /* micro-batches a step */
	int64_t *sent_ns;            /* of all steps: when each was sent */
	struct wait *waits;          /* so too: for each that was received */
	size_t num_sent, num_received;
	double wrong; /* elements received that are */
};

/* stage_link_init gives a link whose group, from, to, tag and num are set its
 * tensors, of these numels, and its records. Errors: DIST_ERR_NO_MEMORY; either
 * way stage_link_release frees what it holds. */
DIST_MUST_CHECK enum dist_error stage_link_init(struct training *t,
						struct stage_link *link,
						size_t received_numel,
						size_t sent_numel);
void stage_link_release(struct stage_link *link);

/* stage_link_receive waits for the next micro-batch, number index. No stage
 * there: nothing to do. Errors: those of dist_recv. */
DIST_MUST_CHECK enum dist_error
stage_link_receive(struct training *t, struct stage_link *link, int index);

/* stage_link_send sends micro-batch index. Errors: those of dist_isend. */
DIST_MUST_CHECK enum dist_error
stage_link_send(struct training *t, struct stage_link *link, int index);

/* stage_link_finish waits for what was sent in the step. Errors: those of the
 * messages. */
DIST_MUST_CHECK enum dist_error stage_link_finish(struct training *t,
						  struct stage_link *link);

/* stage_link_idle adds to *idle_ns how long the rank waited for messages that
 * had not been sent. All stages call it. Errors: any group error. */
DIST_MUST_CHECK enum dist_error
stage_link_idle(struct training *t, struct stage_link *link, int64_t *idle_ns);

#endif
