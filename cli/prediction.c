#include "cli/prediction.h"

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/refuse.h"
#include "cli/rewiring.h"
#include "cli/usual_profile.h"
#include "base/data.h"
#include "base/progress.h"
#include "core/backend.h"
#include "model/library/fidelity.h"
#include "model/library/library.h"
#include "model/training/stream.h"
#include "sim/launch.h"
#include "trace/events.h"
#include "trace/recorder.h"

/* ---- the platform ------------------------------------------------------- */

/* The routes of a longer ring take longer than the answer. */
#define RING_RANKS 4096

/* What the child is asked. */
struct question {
	const char *path;
	int ranks;
	const struct dist__link_overrides *overrides;
};

static void describe_network(const struct dist__platform *platform,
			     struct platform_survey *survey)
{
	static const char prefix[] = "network/";
	const size_t len = strlen(prefix);
	size_t n;
	const struct dist__fact *facts = dist__platform_facts(platform, &n);

	for (size_t i = 0; i < n; i++)
		if (strncmp(facts[i].key, prefix, len) == 0)
			(void)dist__append(survey->network,
					   sizeof survey->network, "%s%s %s",
					   survey->network[0] ? ", " : "",
					   facts[i].key + len, facts[i].value);
}

/* In a child. */
static int ask(void *arg, int pipe)
{
	const struct question *question = arg;
	struct platform_survey survey = {.network = ""};
	struct dist__platform *platform;
	struct dist_message message;
	enum dist_error error;

	if (dist__platform_open(question->path, question->ranks,
				question->overrides, false, &platform,
				&message)) {
		fprintf(stderr, "lockstep predict: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	describe_network(platform, &survey);
	error = dist__platform_fabric(platform, NULL, question->ranks,
				      &survey.fabric);
	for (size_t i = 0; i < survey.fabric.num_calibrations; i++)
		survey.calibrations[i] = survey.fabric.calibrations[i];
	if (!error && question->ranks <= RING_RANKS &&
	    !dist__platform_is_any(platform))
		error = dist__platform_narrowest(platform, question->ranks,
						 &survey.narrowest);
	dist__platform_close(platform);
	if (error || !dist__write_all(pipe, &survey, sizeof survey, -1))
		return DIST_EXIT_INTERNAL;
	return DIST_EXIT_OK;
}

int platform_survey(struct platform_survey *survey, const char *path, int ranks,
		    const struct dist__link_overrides *overrides)
{
	struct question question = {path, ranks, overrides};
	struct child child;
	int status;

	if (child_start(&child, ask, &question))
		return DIST_EXIT_INTERNAL;
	status = child_result(&child, survey, sizeof *survey);
	survey->fabric.calibrations = survey->calibrations;
	return status;
}

/* ---- simulating --------------------------------------------------------- */

/* One simulation. */
struct simulation {
	const struct prediction_request *request;
	char *platform; /* path */
	struct dist__link_overrides overrides;
	int world_size;
	enum dist__fidelity fidelity;
	const struct schedule *schedule;
	bool traced;
	bool is_quiet; /* what it says another says, too */
	bool is_alike; /* rank 0 may run for all */
};

/* What comes of it. */
struct outcome {
	struct workload_result result;
	struct dist__tally tally;
};

bool prediction_is_alike(const struct prediction_request *request,
			 int world_size)
{
	const struct workload_job *job = &request->setup->job;
	const struct pace *pace = job->pace;

	return pace->jitter == 0 && pace->num_stragglers == 0 &&
	       !(job->workload->differs &&
		 job->workload->differs(job, world_size));
}

/* Simulates, heard by recorder; NULL: by none but that of the file that is
 * asked for. What the environment says of jobs does not count: it would not
 * stand beside the answer. */
static int simulate(const struct simulation *s, struct dist__recorder *recorder,
		    struct outcome *outcome)
{
	const struct prediction_request *request = s->request;
	struct workload_job job = request->setup->job;
	const char *trace = s->traced ? request->trace : NULL;
	const struct dist__sim_options more = {
		.overrides = &s->overrides,
		.recorder = recorder,
		.are_alike = s->is_alike && !recorder && !trace};
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = s->world_size,
		.platform = s->platform,
		.profile = request->profile,
		.algorithm = request->algorithm,
		.fidelity = dist__fidelity_name(s->fidelity),
		.engine = request->engine ? request->engine : "auto",
		.trace = trace,
		.timeout_ns = DIST_TIMEOUT_NEVER, /* it ends, or nothing can */
	};
	int status;

	job.schedule = s->schedule;
	job.contents = WORKLOAD_PHANTOM;
	job.only_steps = true;
	job.result = &outcome->result;
	status = dist__sim_launch(&options, &more, workload_rank, &job);
	outcome->tally = *dist__sim_tally();
	return status;
}

/* In a child: writes what comes of it down the pipe. */
static int answer(void *arg, int pipe)
{
	struct outcome outcome = {.result = {0}};
	int status = simulate(arg, NULL, &outcome);

	if (status == DIST_EXIT_OK &&
	    !dist__write_all(pipe, &outcome, sizeof outcome, -1))
		status = DIST_EXIT_INTERNAL;
	return status;
}

/* The same. Whether rank 0 can run for all turns out in a child of its own, as
 * all have to run if it cannot. */
static int simulate_apart(void *arg, int pipe)
{
	struct simulation all = *(struct simulation *)arg;
	struct outcome outcome;
	struct child child;
	bool tries = all.is_alike && (all.fidelity == DIST__FIDELITY_FLOW ||
				      all.fidelity == DIST__FIDELITY_AUTO);
	int status;

	if (all.is_quiet && !freopen("/dev/null", "w", stderr))
		return DIST_EXIT_INTERNAL;
	if (!tries)
		return answer(&all, pipe);
	if (child_start(&child, answer, &all))
		return DIST_EXIT_INTERNAL;
	status = child_result(&child, &outcome, sizeof outcome);
	all.is_alike = false;
	if (!status && outcome.tally.has_parted)
		return answer(&all, pipe);
	if (!status && !dist__write_all(pipe, &outcome, sizeof outcome, -1))
		status = DIST_EXIT_INTERNAL;
	return status;
}

/* Simulates in this process, whose trace it is. */
static int predict_here(const struct simulation *step, struct outcome *outcome,
			struct dist__trace *trace)
{
	struct dist__recorder *recorder = dist__recorder_new(
		step->request->trace, -1, step->world_size, false);
	struct dist_message message = {"out of memory"};
	enum dist_error error = DIST_ERR_NO_MEMORY;
	int status;

	if (!recorder)
		return refuse("predict", "%s", message.text);
	status = simulate(step, recorder, outcome);
	if (!status)
		error = dist__recorder_trace(recorder, trace);
	if (recorder->finish(recorder, &message) || (!status && error))
		status = refuse("predict", "%s", message.text);
	return status;
}

static int predict_apart(struct simulation *step, struct outcome *outcome)
{
	struct child child;

	if (child_start(&child, simulate_apart, step))
		return DIST_EXIT_INTERNAL;
	return child_result(&child, outcome, sizeof *outcome);
}

/* Two simulations beside each other: the step, and its communication with
 * nothing to hide behind, which nobody asks of language models. trace NULL:
 * nobody asks for it. */
static int predict_one(struct simulation *step, struct simulation *alone,
		       struct prediction_row *row, struct dist__trace *trace)
{
	struct outcome whole = {.result = {0}}, bare = whole;
	struct child alone_child;
	bool both = !step->request->setup->job.llm;
	int status, alone_status = DIST_EXIT_OK;

	alone->is_quiet = true;
	if (both && child_start(&alone_child, simulate_apart, alone))
		return DIST_EXIT_INTERNAL;
	status = trace ? predict_here(step, &whole, trace)
		       : predict_apart(step, &whole);
	if (both)
		alone_status = child_result(&alone_child, &bare, sizeof bare);
	alone->is_quiet = false;
	/* The same again, to be heard. */
	if (!status && alone_status)
		alone_status = predict_apart(alone, &bare);
	row->step = whole.result;
	row->tally = whole.tally;
	row->alone = bare.result;
	return status ? status : alone_status;
}

/* What is said of the platform of so many ranks: one of a machine may have no
 * links between nodes, or none within them. */
static struct dist__link_overrides overrides_of(const struct prediction *p,
						int ranks)
{
	struct dist__link_overrides overrides = p->request->overrides;
	int node_ranks;

	if (!p->request->machine)
		return overrides;
	node_ranks = machine_platform_node_ranks(&p->room, ranks);
	machine_platform_title(&p->room, overrides.name, sizeof overrides.name);
	if (node_ranks == ranks)
		overrides.inter = (struct dist__rewiring){.latency = {0}};
	if (node_ranks == 1)
		overrides.intra = (struct dist__rewiring){.latency = {0}};
	return overrides;
}

/* A machine gets a platform for each number of ranks. */
static int find_platform(struct prediction *p, const struct prediction_row *row,
			 struct simulation *step)
{
	bool any = row->fidelity == DIST__FIDELITY_FORMULA &&
		   prediction_is_alike(p->request, step->world_size);
	struct dist_message message = {""};
	char text[256];

	step->platform = p->path;
	if (!p->request->machine)
		return DIST_EXIT_OK;
	machine_platform_calibration(&p->room, &p->profile, step->world_size,
				     text, sizeof text);
	if (machine_platform_write(&p->room, step->world_size, any, &message))
		return refuse("predict", "%s", message.text);
	step->platform = p->room.path;
	return DIST_EXIT_OK;
}

/* Whether bytes will flow, if the platform has links for that. */
static bool may_flow(const struct prediction *p,
		     const struct prediction_row *row)
{
	return p->request->fidelity == DIST__FIDELITY_AUTO &&
	       row->fidelity == DIST__FIDELITY_FLOW;
}

/* One world size. */
static int predict_row(struct prediction *p, struct simulation *step,
		       struct simulation *alone, size_t i,
		       struct dist__trace *trace)
{
	struct prediction_row *row = &p->rows[i];
	int status;

	step->world_size = alone->world_size = p->request->world_sizes[i];
	step->fidelity = alone->fidelity =
		may_flow(p, row) ? DIST__FIDELITY_AUTO : row->fidelity;
	step->is_alike = alone->is_alike =
		!p->request->setup->job.workload->has_groups &&
		prediction_is_alike(p->request, step->world_size);
	step->overrides = alone->overrides = overrides_of(p, step->world_size);
	status = find_platform(p, row, step);
	alone->platform = step->platform;
	if (!status)
		status = platform_survey(&row->survey, step->platform,
					 step->world_size, &step->overrides);
	step->traced = i + 1 == p->request->num_world_sizes;
	if (!status)
		status = predict_one(step, alone, row,
				     step->traced ? trace : NULL);
	if (!status && may_flow(p, row))
		row->fidelity = row->tally.fidelity;
	return status;
}

/* What was measured has the time of one GPU's step given, and NCCL between
 * GPUs. */
static struct interval_case case_of(const struct prediction *p,
				    const struct prediction_row *row)
{
	const struct workload_job *job = &p->request->setup->job;
	const struct workload_arguments *a = job->arguments;
	struct interval_case of = {
		.library = "", .transport = "", .range = ACCURACY_ALL};

	if (job->workload == &workload_ddp_step && a->rate.step_ms > 0 &&
	    strcmp(row->tally.library, "nccl") == 0)
		of.what =
			stream_schedule_name(a->per_tensor   ? STREAM_PER_TENSOR
					     : a->no_overlap ? STREAM_ONE
							     : STREAM_BUCKETED);
	return of;
}

static int find_intervals(struct prediction *p)
{
	struct intervals intervals;
	struct dist_message message = {"out of memory"};
	enum dist_error error = intervals_load(&intervals, &message);

	for (size_t i = 0; i < p->request->num_world_sizes && !error; i++) {
		const struct interval_case of = case_of(p, &p->rows[i]);

		error = intervals_find(&intervals, &of, NULL,
				       &p->rows[i].interval);
	}
	dist__tsv_release(&intervals.tsv);
	return error ? refuse("predict", "%s", message.text) : DIST_EXIT_OK;
}

int prediction_make(struct prediction *p, struct dist__trace *trace)
{
	const struct prediction_request *request = p->request;
	struct simulation step = {.request = request,
				  .schedule = &request->setup->schedule};
	struct simulation alone = {.request = request,
				   .schedule = &request->setup->no_computing};
	struct dist__progress progress = {.shown = false};
	int status = DIST_EXIT_OK;
	double all = 0;
	char what[64];

	for (size_t i = 0; i < request->num_world_sizes; i++)
		all += request->world_sizes[i];
	/* A sweep shows its own. */
	if (!child_is_one())
		dist__progress_begin(&progress, "", all, 0);
	for (size_t i = 0; !status && i < request->num_world_sizes; i++) {
		snprintf(what, sizeof what, "simulating %d ranks",
			 request->world_sizes[i]);
		dist__progress_step(&progress,
				    i ? request->world_sizes[i - 1] : 0, what);
		status = predict_row(p, &step, &alone, i, trace);
	}
	dist__progress_end(&progress);
	return status ? status : find_intervals(p);
}

static enum dist_error load_profile(struct prediction *p,
				    struct prediction_request *request,
				    struct dist__refusal *refusal)
{
	struct dist_message *message = &refusal->message;
	enum dist_error error = DIST_OK;

	refusal->option = "profile";
	if (!request->profile && !request->algorithm)
		request->profile = usual_profile(
			p->gpu, request->world_sizes[0], request->fidelity);
	if (request->profile)
		error = dist__profile_find(&p->profile, request->profile,
					   message);
	if (error || !request->algorithm)
		return error;
	refusal->option = "algorithm";
	return library_force(&p->profile, request->algorithm, message);
}

static enum dist_error check_sizes(const struct prediction_request *request,
				   int room, struct dist__refusal *refusal)
{
	for (size_t i = 0; i < request->num_world_sizes; i++) {
		if (request->world_sizes[i] <= room)
			continue;
		refusal->number = i;
		return dist__refuse_option(
			refusal, "world-size",
			"world size %d: platform %s holds at most %d ranks",
			request->world_sizes[i], request->platform, room);
	}
	return DIST_OK;
}

/* Between a machine's nodes there is one switch, and where all ranks call
 * together nobody else uses the links: a library of which no messages are known
 * takes there what its formula says (tests/model/transfers.c). */
static bool is_formula(const struct prediction_request *request,
		       const struct dist__profile *profile)
{
	return request->machine && !request->topology &&
	       request->fidelity == DIST__FIDELITY_AUTO &&
	       !library_has_steps(profile) &&
	       !request->setup->job.workload->has_groups &&
	       !request->setup->job.workload->has_lanes;
}

static enum dist_error find_fidelities(struct prediction *p,
				       struct dist__refusal *refusal)
{
	const struct prediction_request *request = p->request;
	enum dist_error error = DIST_OK;

	refusal->option = "fidelity";
	for (size_t i = 0; i < request->num_world_sizes && !error; i++) {
		error = library_fidelity(
			&p->profile, request->world_sizes[i], request->fidelity,
			&p->rows[i].fidelity, &refusal->message);
		if (!error)
			error = machine_platform_allows(&p->room,
							p->rows[i].fidelity,
							&refusal->message);
	}
	return error;
}

static enum dist_error open_machine(struct prediction *p,
				    const struct prediction_request *request,
				    struct dist__refusal *refusal)
{
	enum dist_error error;

	if (request->num_world_sizes == 0)
		return dist__refuse_option(
			refusal, "world-size",
			"--world-size is needed: a machine has as many nodes "
			"as are asked for");
	refusal->option = "machine";
	error = machine_platform_open(&p->room, request->machine,
				      &refusal->message);
	if (request->gpu && p->room.machine.gpus_per_node > 0 &&
	    !p->room.machine.gpu[0])
		snprintf(p->room.machine.gpu, sizeof p->room.machine.gpu, "%s",
			 request->gpu);
	p->room.ranks_per_node = request->ranks_per_node;
	machine_platform_rewire(&p->room, &request->overrides);
	p->room.topology = request->topology;
	if (request->uncalibrated)
		p->room.machine.num_calibrations = 0;
	for (size_t i = 0; i < request->num_world_sizes && !error; i++) {
		refusal->option = "world-size";
		refusal->number = i;
		error = machine_platform_check(
			&p->room, request->world_sizes[i], &refusal->message);
	}
	memcpy(p->gpu, p->room.machine.gpu, sizeof p->gpu);
	return error;
}

/* Which option a platform does not open with: one about links, or its own. */
static const char *blame(const struct prediction *p)
{
	struct dist__link_overrides alone;
	struct dist_message message;
	int hosts, room;
	char gpu[64];

	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		if (rewiring_pick(&p->request->overrides, i, &alone) &&
		    !dist__platform_gpu(p->path, NULL, &hosts, &room, gpu,
					&message) &&
		    dist__platform_gpu(p->path, &alone, &hosts, &room, gpu,
				       &message))
			return rewiring_options[i].name;
	return "platform";
}

static enum dist_error open_platform(struct prediction *p,
				     struct prediction_request *request,
				     struct dist__refusal *refusal)
{
	enum dist_error error;
	int room;

	refusal->option = "platform";
	error = dist__data_find("platforms", request->platform, ".xml", p->path,
				sizeof p->path, &refusal->message);
	if (error)
		return error;
	error = dist__platform_gpu(p->path, &request->overrides, &p->hosts,
				   &room, p->gpu, &refusal->message);
	if (error) {
		refusal->option = blame(p);
		return error;
	}
	if (request->num_world_sizes == 0)
		request->world_sizes[request->num_world_sizes++] = room;
	return check_sizes(request, room, refusal);
}

enum dist_error prediction_open(struct prediction *p,
				struct prediction_request *request,
				struct dist__refusal *refusal)
{
	enum dist_error error;

	memset(p, 0, sizeof *p);
	p->request = request;
	dist__profile_init(&p->profile);
	error = request->machine ? open_machine(p, request, refusal)
				 : open_platform(p, request, refusal);
	if (!error)
		error = load_profile(p, request, refusal);
	if (!error) {
		refusal->option = NULL;
		error = library_check_latency(
			&p->profile,
			dist__change_is_any(&request->overrides.inter.latency),
			dist__change_is_any(&request->overrides.intra.latency),
			&refusal->message);
	}
	return error ? error : find_fidelities(p, refusal);
}

enum dist_error prediction_check(struct prediction *p,
				 struct dist__refusal *refusal)
{
	const struct prediction_request *request = p->request;
	const struct workload_setup *setup = request->setup;

	for (size_t i = 0; i < request->num_world_sizes; i++) {
		int size = request->world_sizes[i];

		refusal->number = i;
		if (workload_check(&setup->job, size, refusal))
			return DIST_ERR_INVALID_ARGUMENT;
		if (is_formula(request, &p->profile))
			p->rows[i].fidelity = DIST__FIDELITY_FORMULA;
		physics_judge(setup, size, &p->rows[i].physics);
	}
	return DIST_OK;
}

void prediction_release(struct prediction *p)
{
	machine_platform_close(&p->room);
	dist__profile_release(&p->profile);
}
