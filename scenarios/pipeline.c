#include "scenarios/pipeline.h"

#include <stdlib.h>

#include "scenarios/grid.h"
#include "scenarios/pattern.h"

#define WAYS 2

struct pipeline_message {
	struct dist_tensor tensor;
	int step; /* the last step in which it was posted, plus 1 */
	struct pending pending;
};

/* Where the data of an action comes from, or goes to. */
struct place {
	int stage, chunk; /* stage -1: nowhere */
};

/* The model's chunk so many behind that of an action. */
static struct place beside(const struct pipeline *p,
			   const struct llm_action *action, int behind)
{
	const struct llm_order *o = &p->order;
	int at = action->chunk * o->stages + o->stage + behind;

	if (action->way == LLM_WEIGHTS || at < 0 || at >= o->chunks * o->stages)
		return (struct place){-1, 0};
	return (struct place){at % o->stages, at / o->stages};
}

static struct place source(const struct pipeline *p,
			   const struct llm_action *action)
{
	return beside(p, action, action->way == LLM_FORWARD ? -1 : 1);
}

static struct place target(const struct pipeline *p,
			   const struct llm_action *action)
{
	return beside(p, action, action->way == LLM_FORWARD ? 1 : -1);
}

static size_t message_at(const struct pipeline *p,
			 const struct llm_action *action, int chunk)
{
	return (size_t)(((int)action->way * p->order.chunks + chunk) *
				p->order.num +
			action->micro_batch);
}

static size_t num_messages(const struct pipeline *p)
{
	return (size_t)(WAYS * p->order.chunks * p->order.num);
}

/* Messages of a way between two chunks have a tag of their own. */
static int tag_of(const struct pipeline *p, enum llm_way way, int chunk)
{
	return (int)way * p->order.chunks + chunk;
}

/* What an action needs, and gives out; NULL: nothing. */
static struct pipeline_message *input_of(const struct pipeline *p,
					 const struct llm_action *action)
{
	return source(p, action).stage < 0
		       ? NULL
		       : &p->received[message_at(p, action, action->chunk)];
}

static struct pipeline_message *output_of(const struct pipeline *p,
					  const struct llm_action *action)
{
	return target(p, action).stage < 0
		       ? NULL
		       : &p->sent[message_at(p, action, action->chunk)];
}

/* The tensors of one action's messages. */
static enum dist_error make_messages(struct training *t, struct pipeline *p,
				     const struct llm_action *action)
{
	struct place here = {p->order.stage, action->chunk};
	struct place from = source(p, action), to = target(p, action);
	enum dist_error error = DIST_OK;

	/* Gradients are as large as what went forward. */
	if (action->way != LLM_FORWARD) {
		from.stage = from.stage < 0 ? -1 : here.stage;
		from.chunk = here.chunk;
	} else {
		to.stage = to.stage < 0 ? -1 : here.stage;
		to.chunk = here.chunk;
	}
	if (from.stage >= 0)
		error = p->make(t, from.stage, from.chunk,
				&input_of(p, action)->tensor);
	if (!error && to.stage >= 0)
		error = p->make(t, to.stage, to.chunk,
				&output_of(p, action)->tensor);
	return error;
}

enum dist_error pipeline_init(struct training *t, struct pipeline *p)
{
	size_t i, num, steps = (size_t)t->job->arguments->steps;
	int stages = p->order.stages;
	enum dist_error error;

	t->pipeline = p;
	p->num_actions = llm_order_size(&p->order);
	p->actions = calloc(p->num_actions, sizeof *p->actions);
	if (!p->actions)
		return DIST_ERR_NO_MEMORY;
	llm_order_fill(&p->order, p->actions);
	if (stages == 1)
		return DIST_OK;
	num = num_messages(p);
	p->sent = calloc(num, sizeof *p->sent);
	p->received = calloc(num, sizeof *p->received);
	p->sent_ns = calloc(num * steps, sizeof *p->sent_ns);
	p->waits = calloc(num * steps, sizeof *p->waits);
	p->awaited = calloc(num * steps, sizeof *p->awaited);
	if (!p->sent || !p->received || !p->sent_ns || !p->waits || !p->awaited)
		return DIST_ERR_NO_MEMORY;
	error = grid_group(t->group, t->world_size / stages, stages, p->name,
			   &p->group);
	for (i = 0; !error && i < p->num_actions; i++)
		if (p->actions[i].way != LLM_WEIGHTS)
			error = make_messages(t, p, &p->actions[i]);
	return error;
}

void pipeline_release(struct pipeline *p)
{
	for (size_t i = 0; p->sent && p->received && i < num_messages(p); i++) {
		dist_work_free(p->sent[i].pending.work);
		dist_work_free(p->received[i].pending.work);
	}
	free(p->actions);
	free(p->sent);
	free(p->received);
	free(p->sent_ns);
	free(p->waits);
	free(p->awaited);
}

/* What a message holds. */
static struct pattern pattern_of(const struct pipeline_message *message)
{
	return (struct pattern){.dtype = message->tensor.dtype};
}

static int shift_of(const struct training *t, const struct llm_action *action)
{
	return action->micro_batch + 3 * (int)action->way + 5 * t->step;
}

/* Posts the receives of an exchange, from action i on, each once a step. */
static enum dist_error post_exchange(struct training *t, size_t i, int exchange)
{
	const struct pipeline *p = t->pipeline;
	enum dist_error error = DIST_OK;

	for (; !error && i < p->num_actions; i++) {
		const struct llm_action *action = &p->actions[i];
		struct pipeline_message *message = input_of(p, action);

		if (action->exchange > exchange)
			break;
		if (!message || message->step == t->step + 1)
			continue;
		message->step = t->step + 1;
		error = dist_irecv(p->group, message->tensor,
				   source(p, action).stage,
				   tag_of(p, action->way, action->chunk),
				   &message->pending.work);
	}
	return error;
}

/* Waits for what an action needs, and notes for how long. */
static enum dist_error receive(struct training *t,
			       const struct llm_action *action)
{
	struct pipeline *p = t->pipeline;
	struct pipeline_message *message = input_of(p, action);
	struct pattern pattern;
	struct wait *wait;
	enum dist_error error;

	if (!message || !message->pending.work)
		return DIST_OK;
	pattern = pattern_of(message);
	p->awaited[p->num_waits] = (size_t)t->step * num_messages(p) +
				   message_at(p, action, action->chunk);
	wait = &p->waits[p->num_waits++];
	wait->from_ns = dist_now_ns(t->group);
	error = training_wait(t, &message->pending);
	wait->to_ns = dist_now_ns(t->group);
	if (!error && t->job->check)
		t->wrong += (double)pattern_count_wrong(
			&pattern, message->tensor, source(p, action).stage,
			shift_of(t, action));
	return error;
}

enum dist_error pipeline_before(struct training *t, size_t i)
{
	const struct pipeline *p = t->pipeline;
	const struct llm_action *action = &p->actions[i];
	enum dist_error error;

	if (!p->group)
		return DIST_OK;
	error = post_exchange(t, i, action->exchange + (p->asks_ahead ? 1 : 0));
	return error ? error : receive(t, action);
}

static enum dist_error send(struct training *t, const struct llm_action *action)
{
	struct pipeline *p = t->pipeline;
	struct place to = target(p, action);
	struct pipeline_message *message = output_of(p, action);
	struct pattern pattern;

	if (!message)
		return DIST_OK;
	pattern = pattern_of(message);
	if (t->job->check)
		pattern_fill(&pattern, message->tensor, p->order.stage,
			     shift_of(t, action));
	p->sent_ns[(size_t)t->step * num_messages(p) +
		   message_at(p, action, action->chunk)] =
		dist_now_ns(t->group);
	(void)training_begin(t, &message->pending, WORKLOAD_SEND, NULL,
			     message->tensor);
	return dist_isend(p->group, message->tensor, to.stage,
			  tag_of(p, action->way, to.chunk),
			  &message->pending.work);
}

/* Sends what the actions of an exchange gave out, of which i is the last, asks
 * for what the next one needs, and waits for both. */
static enum dist_error exchange(struct training *t, size_t i)
{
	struct pipeline *p = t->pipeline;
	int number = p->actions[i].exchange;
	size_t first = i, k;
	enum dist_error error = DIST_OK;

	while (first > 0 && p->actions[first - 1].exchange == number)
		first--;
	for (k = first; !error && k <= i; k++)
		error = send(t, &p->actions[k]);
	if (!error)
		error = post_exchange(t, i + 1, number + 1);
	for (k = i + 1; !error && k < p->num_actions &&
			p->actions[k].exchange == number + 1;
	     k++)
		error = receive(t, &p->actions[k]);
	for (k = first; !error && k <= i; k++) {
		struct pipeline_message *message = output_of(p, &p->actions[k]);

		if (message)
			error = training_wait(t, &message->pending);
	}
	return error;
}

enum dist_error pipeline_after(struct training *t, size_t i)
{
	const struct pipeline *p = t->pipeline;

	if (!p->group)
		return DIST_OK;
	if (p->sends_on)
		return send(t, &p->actions[i]);
	if (i + 1 == p->num_actions ||
	    p->actions[i + 1].exchange > p->actions[i].exchange)
		return exchange(t, i);
	return DIST_OK;
}

enum dist_error pipeline_finish(struct training *t)
{
	struct pipeline *p = t->pipeline;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; p->group && !error && i < num_messages(p); i++)
		error = training_wait(t, &p->sent[i].pending);
	return error;
}

enum dist_error pipeline_idle(const struct training *t, int64_t *idle_ns)
{
	const struct pipeline *p = t->pipeline;
	const struct llm_order *o = &p->order;
	size_t i, num = num_messages(p) * (size_t)t->job->arguments->steps;
	enum dist_error error;
	int64_t *all;

	if (!p->group)
		return DIST_OK;
	all = calloc((size_t)o->stages * num, sizeof *all);
	if (!all)
		return DIST_ERR_NO_MEMORY;
	error = dist_all_gather_single(
		p->group, dist_tensor(all, (size_t)o->stages * num, DIST_INT64),
		dist_tensor(p->sent_ns, num, DIST_INT64), NULL);
	for (i = 0; !error && i < p->num_waits; i++) {
		/* Which of its messages the sender knows it as. */
		size_t at = p->awaited[i] % num_messages(p);
		int from_first = (int)at / o->num;
		struct llm_action action = {
			.way = (enum llm_way)(from_first / o->chunks),
			.chunk = from_first % o->chunks,
			.micro_batch = (int)at % o->num,
		};
		struct place from = source(p, &action);

		*idle_ns += wait_idle_ns(
			&p->waits[i],
			all[(size_t)from.stage * num + p->awaited[i] - at +
			    message_at(p, &action, from.chunk)]);
	}
	free(all);
	return error;
}
