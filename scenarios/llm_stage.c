/*
 * What stages of a pipeline send each other: activations forward, of the last
 * stage to the first one's next chunk, and their gradients backward.
 *
 * Ahead (Megatron's overlap_p2p_comm, torch's schedules) a receive is posted
 * one exchange before it is needed, and nobody waits for a send. Otherwise a
 * stage waits after each exchange, for what it sent and for what the next one
 * needs (Megatron-LM, core/pipeline_parallel/schedules.py:
 * send_forward_recv_backward and its like).
 */
#include "scenarios/llm_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "scenarios/grid.h"
#include "scenarios/pattern.h"

#define WAYS 2

/* Where the data of an action comes from, or goes to. */
struct place {
	int stage, chunk; /* stage -1: nowhere */
};

/* The model's chunk so many behind that of an action. */
static struct place beside(const struct llm_stages *s,
			   const struct llm_action *action, int behind)
{
	int at = action->chunk * s->num + s->stage + behind;

	if (action->way == LLM_WEIGHTS || at < 0 || at >= s->chunks * s->num)
		return (struct place){-1, 0};
	return (struct place){at % s->num, at / s->num};
}

static struct place source(const struct llm_stages *s,
			   const struct llm_action *action)
{
	return beside(s, action, action->way == LLM_FORWARD ? -1 : 1);
}

static struct place target(const struct llm_stages *s,
			   const struct llm_action *action)
{
	return beside(s, action, action->way == LLM_FORWARD ? 1 : -1);
}

static size_t message_at(const struct llm_stages *s, enum llm_way way,
			 int chunk, int micro_batch)
{
	return (size_t)((way * s->chunks + chunk) * s->micro_batches +
			micro_batch);
}

static size_t num_messages(const struct llm_stages *s)
{
	return (size_t)(WAYS * s->chunks * s->micro_batches);
}

/* Messages of a way between two chunks have a tag of their own. */
static int tag_of(const struct llm_stages *s, enum llm_way way, int chunk)
{
	return way * s->chunks + chunk;
}

/* What an action needs, and gives out; NULL: nothing. */
static struct llm_message *input_of(const struct llm_stages *s,
				    const struct llm_action *action)
{
	if (source(s, action).stage < 0)
		return NULL;
	return &s->received[message_at(s, action->way, action->chunk,
				       action->micro_batch)];
}

static struct llm_message *output_of(const struct llm_stages *s,
				     const struct llm_action *action)
{
	if (target(s, action).stage < 0)
		return NULL;
	return &s->sent[message_at(s, action->way, action->chunk,
				   action->micro_batch)];
}

/* Bytes that pass between a chunk and the one behind it. */
static double boundary(const struct llm *llm, int stage, int chunk)
{
	struct llm_chunk at = {.layers = 0};

	llm_stage_layers(llm->work, stage, chunk, at.num);
	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		at.layers += at.num[k];
	return llm->work->layers[llm_layer_kind(&at, at.layers - 1)]
		.boundary_bytes;
}

static enum dist_error
make_message(struct training *t, struct llm_message *message, struct place from)
{
	const struct llm *llm = t->state;
	int bytes = llm_element(llm);

	return llm_tensor(t,
			  ceil(boundary(llm, from.stage, from.chunk) / bytes),
			  bytes, &message->tensor);
}

/* The tensors of one action's messages. */
static enum dist_error make_messages(struct training *t,
				     const struct llm_action *action)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	struct place here = {s->stage, action->chunk};
	struct place from = source(s, action), to = target(s, action);
	size_t at =
		message_at(s, action->way, action->chunk, action->micro_batch);
	bool forward = action->way == LLM_FORWARD;
	enum dist_error error = DIST_OK;

	/* Gradients are as large as what went forward. */
	if (from.stage >= 0)
		error = make_message(t, &s->received[at],
				     forward ? from : here);
	if (!error && to.stage >= 0)
		error = make_message(t, &s->sent[at], forward ? here : to);
	return error;
}

enum dist_error llm_stages_init(struct training *t)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	const struct llm_layout *layout = llm->layout;
	size_t i, num, steps = (size_t)t->job->arguments->steps;
	enum dist_error error;

	s->num = layout->pp;
	s->stage = llm->order.stage;
	s->chunks = llm->order.chunks;
	s->micro_batches = llm->order.num;
	s->ahead = layout->overlap_p2p || layout->schedule == LLM_ZERO_BUBBLE;
	if (s->num == 1)
		return DIST_OK;
	num = num_messages(s);
	s->sent = calloc(num, sizeof *s->sent);
	s->received = calloc(num, sizeof *s->received);
	s->sent_ns = calloc(num * steps, sizeof *s->sent_ns);
	s->waits = calloc(num * steps, sizeof *s->waits);
	s->awaited = calloc(num * steps, sizeof *s->awaited);
	if (!s->sent || !s->received || !s->sent_ns || !s->waits || !s->awaited)
		return DIST_ERR_NO_MEMORY;
	error = grid_group(t->group, t->world_size / s->num, s->num, "pp",
			   &s->group);
	for (i = 0; !error && i < llm->num_actions; i++)
		if (llm->actions[i].way != LLM_WEIGHTS)
			error = make_messages(t, &llm->actions[i]);
	return error;
}

void llm_stages_release(struct llm_stages *s)
{
	for (size_t i = 0; s->sent && s->received && i < num_messages(s); i++) {
		dist_work_free(s->sent[i].pending.work);
		dist_work_free(s->received[i].pending.work);
	}
	free(s->sent);
	free(s->received);
	free(s->sent_ns);
	free(s->waits);
	free(s->awaited);
}

/* What a message holds. */
static struct pattern pattern_of(const struct llm_message *message)
{
	return (struct pattern){.dtype = message->tensor.dtype};
}

static int shift_of(const struct training *t, const struct llm_action *action)
{
	return action->micro_batch + 3 * (int)action->way + 5 * t->step;
}

/* Posts the receive of what an action needs, once a step. */
static enum dist_error post(struct training *t, const struct llm_action *action)
{
	const struct llm *llm = t->state;
	const struct llm_stages *s = &llm->stages;
	struct llm_message *message = input_of(s, action);

	if (!message || message->step == t->step + 1)
		return DIST_OK;
	message->step = t->step + 1;
	return dist_irecv(s->group, message->tensor, source(s, action).stage,
			  tag_of(s, action->way, action->chunk),
			  &message->pending.work);
}

/* Posts the receives of an exchange, from action i on. */
static enum dist_error post_exchange(struct training *t, size_t i, int exchange)
{
	const struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	for (; !error && i < llm->num_actions; i++) {
		if (llm->actions[i].exchange > exchange)
			break;
		error = post(t, &llm->actions[i]);
	}
	return error;
}

/* Waits for what an action needs, and notes for how long. */
static enum dist_error receive(struct training *t,
			       const struct llm_action *action)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	struct llm_message *message = input_of(s, action);
	size_t at =
		message_at(s, action->way, action->chunk, action->micro_batch);
	struct pattern p;
	struct wait *wait;
	enum dist_error error;

	if (!message || !message->pending.work)
		return DIST_OK;
	p = pattern_of(message);
	s->awaited[s->num_waits] = (size_t)t->step * num_messages(s) + at;
	wait = &s->waits[s->num_waits++];
	wait->from_ns = dist_now_ns(t->group);
	error = training_wait(t, &message->pending);
	wait->to_ns = dist_now_ns(t->group);
	if (!error && t->job->check)
		llm->wrong += (double)pattern_count_wrong(
			&p, message->tensor, source(s, action).stage,
			shift_of(t, action));
	return error;
}

enum dist_error llm_stages_before(struct training *t, size_t i)
{
	const struct llm *llm = t->state;
	const struct llm_stages *s = &llm->stages;
	const struct llm_action *action = &llm->actions[i];
	enum dist_error error;

	if (!s->group)
		return DIST_OK;
	error = post_exchange(t, i, action->exchange + (s->ahead ? 1 : 0));
	return error ? error : receive(t, action);
}

static enum dist_error send(struct training *t, const struct llm_action *action)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	struct place to = target(s, action);
	struct llm_message *message = output_of(s, action);
	size_t at =
		message_at(s, action->way, action->chunk, action->micro_batch);
	struct pattern p;

	if (!message)
		return DIST_OK;
	p = pattern_of(message);
	if (t->job->check)
		pattern_fill(&p, message->tensor, s->stage,
			     shift_of(t, action));
	s->sent_ns[(size_t)t->step * num_messages(s) + at] =
		dist_now_ns(t->group);
	(void)training_begin(t, &message->pending, WORKLOAD_SEND, NULL,
			     message->tensor);
	return dist_isend(s->group, message->tensor, to.stage,
			  tag_of(s, action->way, to.chunk),
			  &message->pending.work);
}

/* Sends what the actions of an exchange gave out, of which i is the last, asks
 * for what the next one needs, and waits for both. */
static enum dist_error exchange(struct training *t, size_t i)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	int number = llm->actions[i].exchange;
	size_t first = i, k;
	enum dist_error error = DIST_OK;

	while (first > 0 && llm->actions[first - 1].exchange == number)
		first--;
	for (k = first; !error && k <= i; k++)
		error = send(t, &llm->actions[k]);
	if (!error)
		error = post_exchange(t, i + 1, number + 1);
	for (k = i + 1; !error && k < llm->num_actions &&
			llm->actions[k].exchange == number + 1;
	     k++)
		error = receive(t, &llm->actions[k]);
	for (k = first; !error && k <= i; k++) {
		struct llm_message *message = output_of(s, &llm->actions[k]);

		if (message)
			error = training_wait(t, &message->pending);
	}
	return error;
}

enum dist_error llm_stages_after(struct training *t, size_t i)
{
	const struct llm *llm = t->state;

	if (!llm->stages.group)
		return DIST_OK;
	if (llm->stages.ahead)
		return send(t, &llm->actions[i]);
	if (i + 1 == llm->num_actions ||
	    llm->actions[i + 1].exchange > llm->actions[i].exchange)
		return exchange(t, i);
	return DIST_OK;
}

enum dist_error llm_stages_finish(struct training *t)
{
	struct llm *llm = t->state;
	struct llm_stages *s = &llm->stages;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; s->group && !error && i < num_messages(s); i++)
		error = training_wait(t, &s->sent[i].pending);
	return error;
}

enum dist_error llm_stages_idle(struct training *t, int64_t *idle_ns)
{
	const struct llm *llm = t->state;
	const struct llm_stages *s = &llm->stages;
	size_t i, num = num_messages(s) * (size_t)t->job->arguments->steps;
	enum dist_error error;
	int64_t *all;

	if (!s->group)
		return DIST_OK;
	all = calloc((size_t)s->num * num, sizeof *all);
	if (!all)
		return DIST_ERR_NO_MEMORY;
	error = dist_all_gather_single(
		s->group, dist_tensor(all, (size_t)s->num * num, DIST_INT64),
		dist_tensor(s->sent_ns, num, DIST_INT64), NULL);
	for (i = 0; !error && i < s->num_waits; i++) {
		/* Which of its messages the sender knows it as. */
		size_t at = s->awaited[i] % num_messages(s);
		struct llm_action action = {
			.way = (enum llm_way)(at / (size_t)s->micro_batches /
					      (size_t)s->chunks),
			.chunk = (int)(at / (size_t)s->micro_batches %
				       (size_t)s->chunks),
			.micro_batch = (int)(at % (size_t)s->micro_batches),
		};
		struct place from = source(s, &action);

		*idle_ns += wait_idle_ns(
			&s->waits[i],
			all[(size_t)from.stage * num + s->awaited[i] - at +
			    message_at(s, action.way, from.chunk,
				       action.micro_batch)]);
	}
	free(all);
	return error;
}
