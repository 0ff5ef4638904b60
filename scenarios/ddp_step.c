/*
 * ddp_step - what one data-parallel training step of a network does to the
 * network between its ranks.
 *
 * Forward computes; backward computes row by row from the last, and every
 * gradient is handed to ddp as it comes; ddp averages bucket after bucket
 * meanwhile; the optimizer waits for the last of them.
 */
#include "scenarios/ddp_step.h"

#include <stdlib.h>
#include <string.h>

#include "lockstep/ddp.h"
#include "scenarios/fill.h"
#include "scenarios/rank.h"
#include "scenarios/sample.h"
#include "scenarios/scenario.h"

/* What rounding takes from the simulated clock. */
#define CLOCK_NS 2

/* One rank's training. */
struct trainer {
	const struct ddp_step *job;
	struct dist_group *group;
	struct dist_ddp *ddp;
	struct dist_ddp_parameter *params; /* rows of numel > 0, in order */
	float *parameters;                 /* NULL: phantom */
	double *results;   /* one time a step, then the wrong elements */
	double stretch;    /* what computing takes by what was declared */
	const char *doing; /* for the message of a failure */
};

static bool is_phantom(const struct ddp_step *job, struct dist_group *group)
{
	if (job->gradients != DDP_STEP_AUTO)
		return job->gradients == DDP_STEP_PHANTOM;
	return strcmp(dist_get_backend(group), "sim") == 0 && !job->check;
}

/* Lays the parameters out one behind the other in a flat array. Gradients need
 * none: they live in their buckets. */
static enum dist_error lay_out(struct trainer *t)
{
	const struct model *model = t->job->model;
	size_t i, next = 0, first = 0;

	t->params = calloc(model->num_parameters, sizeof(*t->params));
	t->results = calloc((size_t)t->job->steps + 1, sizeof(*t->results));
	if (!t->params || !t->results)
		return DIST_ERR_NO_MEMORY;
	if (!is_phantom(t->job, t->group)) {
		t->parameters = malloc(model->numel * sizeof(float));
		if (!t->parameters)
			return DIST_ERR_NO_MEMORY;
		fill_parameters(t->parameters, model->numel,
				dist_get_rank(t->group));
	}
	for (i = 0; i < model->num_rows; i++) {
		const struct model_row *row = &model->rows[i];
		float *data = t->parameters ? t->parameters + first : NULL;

		if (row->numel == 0)
			continue;
		t->params[next].name = row->name;
		t->params[next].parameter =
			dist_tensor(data, row->numel, DIST_FLOAT32);
		t->params[next].gradient =
			dist_tensor(NULL, row->numel, DIST_FLOAT32);
		first += row->numel;
		next++;
	}
	return DIST_OK;
}

/* Writes this step's gradients into all views, or counts the wrong averages in
 * them. */
static double each_gradient(const struct trainer *t, int step, bool fill)
{
	size_t i, first = 0, num = t->job->model->num_parameters;
	double wrong = 0;

	for (i = 0; i < num; i++) {
		struct dist_tensor g = dist_ddp_gradient(t->ddp, i);

		if (!g.data)
			break;
		if (fill)
			fill_gradients(g.data, g.numel, first,
				       dist_get_rank(t->group), step);
		else
			wrong += count_wrong_gradients(
				g.data, g.numel, first,
				dist_get_world_size(t->group), step);
		first += g.numel;
	}
	return wrong;
}

static enum dist_error start(struct trainer *t)
{
	const struct ddp_step *job = t->job;
	const struct dist_ddp_options options = {
		.bucket_cap_mb = job->bucket_cap_mb,
		.first_bucket_mb = job->first_bucket_mb,
		.gradient_as_bucket_view = true,
	};
	struct dist_ddp *ddp = NULL;
	enum dist_error err;

	t->doing = "laying out the parameters";
	err = lay_out(t);
	if (err)
		return err;
	t->doing = "dist_ddp_new";
	err = dist_ddp_new(t->group, t->params, job->model->num_parameters,
			   &options, &ddp);
	t->ddp = ddp;
	if (!err && job->check && t->parameters)
		t->results[job->steps] = count_wrong_parameters(
			t->parameters, job->model->numel);
	/* Touches the memory, too: pages that are not there yet would be paid
	 * for by the first step. */
	if (!err)
		(void)each_gradient(t, 0, true);
	return err;
}

/*
 * Computes until the step's clock shows until_ns. A device keeps its own time:
 * what the host does meanwhile (starting collectives, waking up late from a
 * sleep) is hidden behind it, as long as it is not too much.
 */
static enum dist_error compute_until(struct trainer *t, int64_t until_ns,
				     const char *label)
{
	int64_t now_ns = dist_now_ns(t->group);

	if (now_ns >= until_ns)
		return DIST_OK;
	return dist_compute(t->group,
			    (int64_t)((double)(until_ns - now_ns) / t->stretch),
			    label);
}

/* A simulated host computes at its platform's pace, which the forward pass
 * shows; a real one at its own, and only wakes up late. */
static double find_stretch(const struct trainer *t, int64_t took_ns)
{
	int64_t declared_ns = t->job->schedule->forward_ns;

	if (strcmp(dist_get_backend(t->group), "sim") != 0 ||
	    llabs(took_ns - declared_ns) <= CLOCK_NS)
		return 1;
	return (double)took_ns / (double)declared_ns;
}

/* Backward, from the last row to the first. */
static enum dist_error backward(struct trainer *t, int64_t until_ns)
{
	const struct model *model = t->job->model;
	size_t i, index = model->num_parameters;
	enum dist_error err = DIST_OK;

	for (i = model->num_rows; !err && i-- > 0;) {
		until_ns += (int64_t)(t->stretch *
				      (double)t->job->schedule->backward_ns[i]);
		err = compute_until(t, until_ns, "backward");
		if (!err && model->rows[i].numel > 0)
			err = dist_ddp_gradient_ready(t->ddp, --index);
	}
	return err;
}

static enum dist_error train(struct trainer *t, int64_t start_ns)
{
	const struct schedule *schedule = t->job->schedule;
	enum dist_error err;

	t->doing = "forward";
	t->stretch = 1;
	err = compute_until(t, start_ns + schedule->forward_ns, "forward");
	t->stretch = find_stretch(t, dist_now_ns(t->group) - start_ns);
	if (!err) {
		t->doing = "backward";
		err = backward(
			t, start_ns + (int64_t)(t->stretch *
						(double)schedule->forward_ns));
	}
	if (!err) {
		t->doing = "dist_ddp_finish";
		err = dist_ddp_finish(t->ddp);
	}
	if (!err) {
		t->doing = "optimizer";
		err = dist_compute(t->group, schedule->optimizer_ns,
				   "optimizer");
	}
	return err;
}

/* Steps begin together, so that the time of one is its own; what the check
 * costs stays outside. */
static enum dist_error train_all(struct trainer *t)
{
	const struct ddp_step *job = t->job;
	enum dist_error err = DIST_OK;
	int step;

	for (step = 0; !err && step < job->steps; step++) {
		int64_t start_ns;

		if (job->check)
			(void)each_gradient(t, step, true);
		t->doing = "barrier";
		err = dist_barrier(t->group, NULL);
		start_ns = dist_now_ns(t->group);
		if (!err)
			err = train(t, start_ns);
		t->results[step] = (double)(dist_now_ns(t->group) - start_ns);
		if (!err && job->check)
			t->results[job->steps] += each_gradient(t, step, false);
	}
	return err;
}

/* Gives rank 0 the slowest rank's times and the worst rank's wrong elements.
 * The same call with and without a check: traces of both can be compared. */
static enum dist_error gather(struct trainer *t)
{
	t->doing = "gathering the times";
	return dist_reduce(t->group,
			   dist_tensor(t->results, (size_t)t->job->steps + 1,
				       DIST_FLOAT64),
			   0, DIST_MAX, NULL);
}

static void summarize(struct trainer *t, struct ddp_step_result *r)
{
	struct sample s = sample_of(t->results, (size_t)t->job->steps);
	size_t b;

	memset(r, 0, sizeof(*r));
	r->world_size = dist_get_world_size(t->group);
	r->step_ns = (int64_t)s.median;
	r->min_ns = (int64_t)s.min;
	r->max_ns = (int64_t)s.max;
	r->wrong = (int64_t)t->results[t->job->steps];
	r->num_buckets = dist_ddp_num_buckets(t->ddp);
	for (b = 0; b < r->num_buckets && b < DDP_STEP_BUCKETS; b++)
		r->bucket_bytes[b] =
			dist_ddp_bucket_numel(t->ddp, b) *
			dist_dtype_size(dist_ddp_bucket_dtype(t->ddp, b));
}

static void print_result(const struct trainer *t,
			 const struct ddp_step_result *r)
{
	const struct ddp_step *job = t->job;
	FILE *out = job->out;
	size_t b;

	fprintf(out, "%s: %d ranks over %s, batch %g, %d step%s\n",
		job->model->name, r->world_size, dist_get_backend(t->group),
		job->batch, job->steps, job->steps == 1 ? "" : "s");
	fprintf(out, "buckets (elements):");
	for (b = 0; b < r->num_buckets && b < DDP_STEP_BUCKETS; b++)
		fprintf(out, " %zu", dist_ddp_bucket_numel(t->ddp, b));
	fprintf(out,
		"\nstep %.3f ms (%.3f to %.3f), compute %.3f ms, exposed "
		"communication %.3f ms\n",
		(double)r->step_ns / 1e6, (double)r->min_ns / 1e6,
		(double)r->max_ns / 1e6, (double)job->schedule->total_ns / 1e6,
		(double)(r->step_ns - job->schedule->total_ns) / 1e6);
	if (!job->check)
		return;
	if (r->wrong == 0)
		fprintf(out, "gradients: averaged right on all %d ranks\n",
			r->world_size);
	else
		fprintf(out,
			"gradients: %lld elements wrong on the worst rank\n",
			(long long)r->wrong);
}

static void report(struct trainer *t)
{
	struct ddp_step_result result;

	if (dist_get_rank(t->group) != 0)
		return;
	summarize(t, &result);
	if (t->job->out)
		print_result(t, &result);
	if (t->job->result)
		*t->job->result = result;
}

int ddp_step_rank(void *arg)
{
	struct trainer t = {.job = arg};
	enum dist_error err;
	int status;

	if (rank_join(&t.group))
		return 1;
	err = start(&t);
	if (!err)
		err = train_all(&t);
	if (!err)
		err = gather(&t);
	if (!err)
		report(&t);
	dist_ddp_free(t.ddp);
	status = rank_leave(t.group, t.doing, err);
	status = status || !t.results || t.results[t.job->steps] > 0;
	free(t.params);
	free(t.parameters);
	free(t.results);
	return status;
}
