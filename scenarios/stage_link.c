#include "scenarios/stage_link.h"

#include <stdlib.h>

#include "scenarios/fill.h"

/* Messages of all steps. */
static size_t num_messages(const struct training *t,
			   const struct stage_link *link)
{
	return (size_t)link->num * (size_t)t->job->arguments->steps;
}

enum dist_error stage_link_init(struct training *t, struct stage_link *link,
				size_t received_numel, size_t sent_numel)
{
	size_t num = (size_t)link->num, all = num_messages(t, link);
	enum dist_error error;

	link->sent = calloc(num, sizeof *link->sent);
	link->sends = calloc(num, sizeof *link->sends);
	link->sent_ns = calloc(all, sizeof *link->sent_ns);
	link->waits = calloc(all, sizeof *link->waits);
	if (!link->sent || !link->sends || !link->sent_ns || !link->waits)
		return DIST_ERR_NO_MEMORY;
	error = training_tensor(t, link->from < 0 ? 0 : received_numel,
				&link->received);
	for (size_t i = 0; !error && link->to >= 0 && i < num; i++)
		error = training_tensor(t, sent_numel, &link->sent[i]);
	return error;
}

void stage_link_release(struct stage_link *link)
{
	for (int i = 0; link->sends && i < link->num; i++)
		dist_work_free(link->sends[i].work);
	free(link->sent);
	free(link->sends);
	free(link->sent_ns);
	free(link->waits);
}

enum dist_error stage_link_receive(struct training *t, struct stage_link *link,
				   int index)
{
	struct wait *wait;
	enum dist_error error;

	if (link->from < 0)
		return DIST_OK;
	wait = &link->waits[link->num_received++];
	wait->from_ns = dist_now_ns(t->group);
	error = dist_recv(link->group, link->received, link->from, link->tag);
	wait->to_ns = dist_now_ns(t->group);
	if (!error && t->job->check)
		link->wrong += count_wrong_values(link->received, (size_t)index,
						  link->from, t->step);
	return error;
}

enum dist_error stage_link_send(struct training *t, struct stage_link *link,
				int index)
{
	struct dist_tensor tensor;

	if (link->to < 0)
		return DIST_OK;
	tensor = link->sent[index];
	if (t->job->check)
		fill_gradients(tensor, (size_t)index,
			       dist_get_rank(link->group), t->step);
	link->sent_ns[link->num_sent++] = dist_now_ns(t->group);
	(void)training_begin(t, &link->sends[index], WORKLOAD_SEND, NULL,
			     tensor);
	return dist_isend(link->group, tensor, link->to, link->tag,
			  &link->sends[index].work);
}

enum dist_error stage_link_finish(struct training *t, struct stage_link *link)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < link->num; i++)
		error = training_wait(t, &link->sends[i]);
	return error;
}

enum dist_error stage_link_idle(struct training *t, struct stage_link *link,
				int64_t *idle_ns)
{
	size_t i, num = num_messages(t, link);
	size_t stages = (size_t)dist_get_world_size(link->group);
	int64_t *all = calloc(stages * num, sizeof *all);
	enum dist_error error;

	if (!all)
		return DIST_ERR_NO_MEMORY;
	error = dist_all_gather_single(
		link->group, dist_tensor(all, stages * num, DIST_INT64),
		dist_tensor(link->sent_ns, num, DIST_INT64), NULL);
	for (i = 0; !error && i < link->num_received; i++)
		*idle_ns += wait_idle_ns(&link->waits[i],
					 all[(size_t)link->from * num + i]);
	free(all);
	return error;
}
