#include "cli/prediction.h"

#include <stdlib.h>
#include <string.h>

#include "cli/child.h"
#include "core/backend.h"
#include "core/data.h"
#include "sim/platform.h"

#define PATH_SIZE 4096

/* One simulation: what its child process needs. */
struct simulation {
	const struct prediction_request *request;
	const char *platform; /* path */
	int world_size;
	struct schedule schedule;
	bool traced;
};

static int refuse(const struct dist_message *message)
{
	fprintf(stderr, "lockstep predict: %s\n", message->text);
	return DIST_EXIT_USAGE;
}

/* In a child: the engine starts, tells what it stands on, and goes. */
static int tell_facts(void *arg, int pipe)
{
	const char *path = arg;
	struct dist__platform *platform;
	const struct dist__fact *facts;
	struct dist_message message;
	char line[256];
	size_t i, n;

	if (dist__platform_open(path, 1, &platform, &message))
		return refuse(&message);
	facts = dist__platform_facts(platform, &n);
	for (i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "%s: %s\n", facts[i].key,
			 facts[i].value);
		if (child_write(pipe, line, strlen(line)))
			return DIST_EXIT_INTERNAL;
	}
	dist__platform_close(platform);
	return DIST_EXIT_OK;
}

static int ask_facts(struct prediction *p, char *path)
{
	struct child child;
	size_t got;
	int status;

	if (child_start(&child, tell_facts, path))
		return DIST_EXIT_INTERNAL;
	status = child_finish(&child, p->facts, sizeof(p->facts) - 1, &got);
	p->facts[got] = '\0';
	return status;
}

/* In a child: simulates and writes the result down the pipe. */
static int simulate(void *arg, int pipe)
{
	const struct simulation *s = arg;
	const struct prediction_request *request = s->request;
	const struct ddp_step_arguments *a = request->arguments;
	struct ddp_step_result result = {0};
	struct ddp_step job = {
		.model = request->model,
		.schedule = &s->schedule,
		.batch = a->rate.batch,
		.bucket_cap_mb = a->bucket_cap_mb,
		.first_bucket_mb = a->first_bucket_mb,
		.steps = a->steps,
		.gradients = DDP_STEP_PHANTOM,
		.result = &result,
	};
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = s->world_size,
		.platform = s->platform,
		.profile = request->profile,
		.algorithm = request->algorithm,
		.trace = s->traced ? request->trace : NULL,
	};
	int status = dist_launch(&options, ddp_step_rank, &job);

	if (status == DIST_EXIT_OK &&
	    child_write(pipe, &result, sizeof(result)))
		status = DIST_EXIT_INTERNAL;
	return status;
}

static int finish(struct child *child, struct ddp_step_result *result)
{
	size_t got;
	int status = child_finish(child, result, sizeof(*result), &got);

	if (status == DIST_EXIT_OK && got != sizeof(*result)) {
		fprintf(stderr, "lockstep predict: a simulation ended without "
				"a result\n");
		status = DIST_EXIT_INTERNAL;
	}
	return status;
}

/* Where the ranks sit decides with their number about the algorithm. */
static int find_nodes(const struct simulation *step, struct prediction_row *row)
{
	struct dist_message message;

	if (dist__platform_count_nodes(step->platform, step->world_size,
				       &row->num_nodes, &message))
		return refuse(&message);
	return DIST_EXIT_OK;
}

/* Two simulations beside each other: the step, and its communication with
 * nothing to hide behind. */
static int predict_one(struct simulation *step, struct simulation *alone,
		       struct prediction_row *row)
{
	struct child step_child, alone_child;
	int status, alone_status;

	if (child_start(&step_child, simulate, step))
		return DIST_EXIT_INTERNAL;
	if (child_start(&alone_child, simulate, alone)) {
		(void)finish(&step_child, &row->step);
		return DIST_EXIT_INTERNAL;
	}
	status = finish(&step_child, &row->step);
	alone_status = finish(&alone_child, &row->alone);
	row->compute_ns = step->schedule.total_ns;
	return status ? status : alone_status;
}

static int predict_all(struct prediction *p, const char *path)
{
	const struct prediction_request *request = p->request;
	struct schedule_rate rate = request->arguments->rate;
	struct simulation step = {
		.request = request, .platform = path, .traced = true};
	struct simulation alone = {.request = request, .platform = path};
	struct dist_message message = {
		"a step of this batch and rate cannot be timed"};
	int status = DIST_EXIT_OK;
	size_t i;

	if (schedule_init(&step.schedule, request->model, &rate))
		return refuse(&message);
	rate.no_compute = true;
	if (schedule_init(&alone.schedule, request->model, &rate))
		status = refuse(&message);
	for (i = 0; !status && i < request->num_world_sizes; i++) {
		step.world_size = request->world_sizes[i];
		alone.world_size = request->world_sizes[i];
		status = find_nodes(&step, &p->rows[i]);
		if (!status)
			status = predict_one(&step, &alone, &p->rows[i]);
	}
	schedule_release(&step.schedule);
	schedule_release(&alone.schedule);
	return status;
}

static enum dist_error load_profile(struct prediction *p,
				    struct dist_message *message)
{
	const struct prediction_request *request = p->request;
	enum dist_error err = DIST_OK;
	char path[PATH_SIZE];

	if (request->profile) {
		err = dist__data_find("profiles", request->profile, ".yaml",
				      path, sizeof(path), message);
		if (!err)
			err = dist__profile_load(&p->profile, path, message);
	}
	if (!err && request->algorithm)
		err = dist__profile_force(&p->profile, request->algorithm,
					  message);
	return err;
}

static int check_sizes(const struct prediction_request *request, int room)
{
	size_t i;

	for (i = 0; i < request->num_world_sizes; i++) {
		if (request->world_sizes[i] <= room)
			continue;
		fprintf(stderr,
			"lockstep predict: world size %d: platform %s holds "
			"at most %d ranks\n",
			request->world_sizes[i], request->platform, room);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

int prediction_make(struct prediction *p, struct prediction_request *request)
{
	struct dist_message message = {""};
	char path[PATH_SIZE];
	int status, room;

	memset(p, 0, sizeof(*p));
	p->request = request;
	dist__profile_init(&p->profile);
	if (load_profile(p, &message) ||
	    dist__data_find("platforms", request->platform, ".xml", path,
			    sizeof(path), &message) ||
	    dist__platform_hosts(path, &p->hosts, &room, &message))
		return refuse(&message);
	if (request->num_world_sizes == 0)
		request->world_sizes[request->num_world_sizes++] = room;
	status = check_sizes(request, room);
	if (!status)
		status = ask_facts(p, path);
	if (!status)
		status = predict_all(p, path);
	return status;
}

void prediction_release(struct prediction *p)
{
	dist__profile_release(&p->profile);
}
