/*
 * lanes.c - lanes that run one job after another, and are reused.
 */
#include <stdlib.h>

#include "core/rpc/state.h"

static void work(void *arg)
{
	struct dist__rpc_helper *helper = arg;
	struct dist_rpc *rpc = helper->rpc;

	helper->run(rpc, helper->arg);
	dist__rpc_lock(rpc);
	if (!helper->ends) {
		helper->next_idle = rpc->idle;
		rpc->idle = helper;
	}
	dist__rpc_unlock(rpc);
}

static enum dist_error helper_new(struct dist_rpc *rpc,
				  struct dist__rpc_helper **helper)
{
	struct dist__transport *t = rpc->transport;
	struct dist__rpc_helper *fresh = calloc(1, sizeof *fresh);
	enum dist_error error = fresh ? t->ops->lanes->create(t, &fresh->lane)
				      : DIST_ERR_NO_MEMORY;

	if (error) {
		free(fresh);
		return error;
	}
	fresh->rpc = rpc;
	fresh->by = CHECK_BY_OTHER;
	fresh->claims = 1;
	dist__rpc_lock(rpc);
	fresh->next = rpc->helpers;
	rpc->helpers = fresh;
	dist__rpc_unlock(rpc);
	*helper = fresh;
	return DIST_OK;
}

enum dist_error dist__rpc_spawn(struct dist_rpc *rpc,
				void (*run)(struct dist_rpc *rpc, void *arg),
				void *arg)
{
	struct dist__rpc_helper *helper;
	enum dist_error error = DIST_OK;

	dist__rpc_lock(rpc);
	helper = rpc->idle;
	if (helper) {
		rpc->idle = helper->next_idle;
		helper->claims++;
	}
	dist__rpc_unlock(rpc);
	if (!helper)
		error = helper_new(rpc, &helper);
	if (error)
		return error;
	helper->run = run;
	helper->arg = arg;
	helper->job = (struct dist__job){.run = work, .arg = helper};
	error = rpc->transport->ops->lanes->submit(helper->lane, &helper->job);
	dist__rpc_lock(rpc);
	helper->claims--;
	dist__rpc_unlock(rpc);
	return error;
}

struct dist__rpc_helper *dist__rpc_helper_here(struct dist_rpc *rpc)
{
	const struct dist__lane *lane =
		rpc->transport->ops->lanes->here(rpc->transport);
	struct dist__rpc_helper *helper;

	if (!lane)
		return NULL;
	dist__rpc_lock(rpc);
	helper = rpc->helpers;
	while (helper && helper->lane != lane)
		helper = helper->next;
	dist__rpc_unlock(rpc);
	return helper;
}

/* Takes a lane that nobody is about to give something to out of both lists;
 * NULL: there is none. Who is about to is a lane, too, and there. Locked. */
static struct dist__rpc_helper *take_out(struct dist_rpc *rpc)
{
	struct dist__rpc_helper **link = &rpc->helpers, *helper;

	while (*link && (*link)->claims > 0)
		link = &(*link)->next;
	helper = *link;
	if (!helper)
		return NULL;
	*link = helper->next;
	helper->ends = true;
	for (link = &rpc->idle; *link; link = &(*link)->next_idle)
		if (*link == helper) {
			*link = helper->next_idle;
			break;
		}
	return helper;
}

void dist__rpc_lanes_end(struct dist_rpc *rpc)
{
	struct dist__rpc_helper *helper;

	for (;;) {
		dist__rpc_lock(rpc);
		helper = take_out(rpc);
		dist__rpc_unlock(rpc);
		if (!helper)
			return;
		rpc->transport->ops->lanes->free(helper->lane);
		free(helper);
	}
}
