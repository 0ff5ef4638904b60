#include "cli/prediction.h"

#include <stdlib.h>
#include <string.h>

#include "cli/child.h"
#include "core/backend.h"
#include "core/data.h"
#include "library/fidelity.h"
#include "sim/platform.h"

#define PATH_SIZE 4096

/* One simulation: what its child process needs. */
struct simulation {
	const struct prediction_request *request;
	char *platform; /* path */
	int world_size;
	enum dist__fidelity fidelity;
	const struct schedule *schedule;
	bool traced;
};

static int refuse(const struct dist_message *message)
{
	fprintf(stderr, "lockstep predict: %s\n", message->text);
	return DIST_EXIT_USAGE;
}

/* What comes of it. */
struct outcome {
	struct workload_result result;
	struct dist__tally tally;
};

/* An option of the simulation. What the environment says of jobs does not count
 * here: it would not stand beside the answer. */
static const char *given(const char *option)
{
	return option ? option : "";
}

/* In a child: simulates and writes the result down the pipe. */
static int simulate(void *arg, int pipe)
{
	const struct simulation *s = arg;
	const struct prediction_request *request = s->request;
	struct outcome outcome = {.result = {0}};
	struct workload_job job = request->setup->job;
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = s->world_size,
		.platform = s->platform,
		.links = "", /* as agreed */
		.profile = given(request->profile),
		.algorithm = given(request->algorithm),
		.fidelity = dist__fidelity_name(s->fidelity),
		.p2p = "",
		.debug = "",
		.trace = given(s->traced ? request->trace : NULL),
		.replay = "",
		.explore = "",
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};
	int status;

	job.schedule = s->schedule;
	job.contents = WORKLOAD_PHANTOM;
	job.result = &outcome.result;
	status = dist_launch(&options, workload_rank, &job);
	outcome.tally = *dist__sim_tally();
	if (status == DIST_EXIT_OK &&
	    child_write(pipe, &outcome, sizeof(outcome)))
		status = DIST_EXIT_INTERNAL;
	return status;
}

static int finish(struct child *child, struct workload_result *result,
		  struct dist__tally *tally)
{
	struct outcome outcome;
	size_t got;
	int status = child_finish(child, &outcome, sizeof(outcome), &got);

	if (status == DIST_EXIT_OK && got != sizeof(outcome)) {
		fprintf(stderr, "lockstep predict: a simulation ended without "
				"a result\n");
		status = DIST_EXIT_INTERNAL;
	}
	if (status == DIST_EXIT_OK) {
		*result = outcome.result;
		*tally = outcome.tally;
	}
	return status;
}

/* Two simulations beside each other: the step, and its communication with
 * nothing to hide behind. */
static int predict_one(struct simulation *step, struct simulation *alone,
		       struct prediction_row *row)
{
	struct child step_child, alone_child;
	struct dist__tally ignored;
	int status, alone_status;

	if (child_start(&step_child, simulate, step))
		return DIST_EXIT_INTERNAL;
	if (child_start(&alone_child, simulate, alone)) {
		(void)finish(&step_child, &row->step, &row->tally);
		return DIST_EXIT_INTERNAL;
	}
	status = finish(&step_child, &row->step, &row->tally);
	alone_status = finish(&alone_child, &row->alone, &ignored);
	return status ? status : alone_status;
}

/* What is said of the platform of so many ranks: one of a machine may have no
 * links between nodes, or none within them. */
static void agree(const struct prediction *p, int ranks)
{
	const struct prediction_request *request = p->request;
	struct dist__terms terms = request->terms;

	if (request->machine) {
		int node_ranks = machine_room_node_ranks(&p->room, ranks);

		machine_room_title(&p->room, terms.name, sizeof(terms.name));
		if (node_ranks == ranks)
			terms.inter = (struct dist__rewiring){.latency = {0}};
		if (node_ranks == 1)
			terms.intra = (struct dist__rewiring){.latency = {0}};
	}
	dist__platform_agree(&terms);
}

/* A machine gets a platform for each number of ranks. */
static int find_platform(struct prediction *p, const struct prediction_row *row,
			 struct simulation *step)
{
	bool any = row->fidelity == DIST__FIDELITY_FORMULA;
	struct dist_message message = {""};

	step->platform = p->path;
	if (!p->request->machine)
		return DIST_EXIT_OK;
	if (machine_room_write(&p->room, step->world_size, any, &message))
		return refuse(&message);
	step->platform = p->room.path;
	return DIST_EXIT_OK;
}

/* One world size. */
static int predict_row(struct prediction *p, struct simulation *step,
		       struct simulation *alone, size_t i)
{
	struct prediction_row *row = &p->rows[i];
	int status;

	step->world_size = alone->world_size = p->request->world_sizes[i];
	step->fidelity = alone->fidelity = row->fidelity;
	agree(p, step->world_size);
	status = find_platform(p, row, step);
	alone->platform = step->platform;
	if (!status)
		status = ground_survey(&row->ground, step->platform,
				       step->world_size);
	step->traced = i + 1 == p->request->num_world_sizes;
	return status ? status : predict_one(step, alone, row);
}

int prediction_make(struct prediction *p)
{
	const struct prediction_request *request = p->request;
	struct simulation step = {.request = request,
				  .schedule = &request->setup->schedule};
	struct simulation alone = {.request = request,
				   .schedule = &request->setup->no_computing};
	int status = DIST_EXIT_OK;
	size_t i;

	for (i = 0; !status && i < request->num_world_sizes; i++)
		status = predict_row(p, &step, &alone, i);
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
	const struct workload_job *job = &request->setup->job;
	struct dist_message message;
	size_t i;

	for (i = 0; i < request->num_world_sizes; i++) {
		int size = request->world_sizes[i];

		if (size > room) {
			fprintf(stderr,
				"lockstep predict: world size %d: platform %s "
				"holds at most %d ranks\n",
				size, request->platform, room);
			return DIST_EXIT_USAGE;
		}
		if (!workload_fits(job, size, &message))
			return refuse(&message);
	}
	return DIST_EXIT_OK;
}

static int find_fidelities(struct prediction *p)
{
	const struct prediction_request *request = p->request;
	struct dist_message message;

	for (size_t i = 0; i < request->num_world_sizes; i++)
		if (library_fidelity(&p->profile, request->world_sizes[i],
				     request->fidelity, &p->rows[i].fidelity,
				     &message))
			return refuse(&message);
	return DIST_EXIT_OK;
}

static int open_machine(struct prediction *p,
			const struct prediction_request *request)
{
	struct dist_message message = {"--world-size is needed: a machine has "
				       "as many nodes as are asked for"};
	enum dist_error error =
		request->num_world_sizes == 0
			? DIST_ERR_INVALID_ARGUMENT
			: machine_room_open(&p->room, request->machine,
					    &message);

	for (size_t i = 0; i < request->num_world_sizes && !error; i++)
		error = machine_room_check(&p->room, request->world_sizes[i],
					   &message);
	return error ? refuse(&message) : DIST_EXIT_OK;
}

static int open_platform(struct prediction *p,
			 struct prediction_request *request)
{
	struct dist_message message = {""};
	int room;

	agree(p, 0);
	if (dist__data_find("platforms", request->platform, ".xml", p->path,
			    sizeof(p->path), &message) ||
	    dist__platform_hosts(p->path, &p->hosts, &room, &message))
		return refuse(&message);
	if (request->num_world_sizes == 0)
		request->world_sizes[request->num_world_sizes++] = room;
	return check_sizes(request, room);
}

int prediction_open(struct prediction *p, struct prediction_request *request)
{
	struct dist_message message = {""};
	int status;

	memset(p, 0, sizeof(*p));
	p->request = request;
	dist__profile_init(&p->profile);
	if (load_profile(p, &message))
		return refuse(&message);
	status = request->machine ? open_machine(p, request)
				  : open_platform(p, request);
	return status ? status : find_fidelities(p);
}

void prediction_release(struct prediction *p)
{
	machine_room_close(&p->room);
	dist__profile_release(&p->profile);
}
