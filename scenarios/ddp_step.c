/*
 * ddp_step - what one data-parallel training step of a network does to the
 * network between its ranks.
 *
 * Forward computes; backward computes row by row from the last, and every
 * gradient is handed to ddp as it comes; ddp averages bucket after bucket
 * meanwhile; the optimizer waits for the last of them. Micro-batches before the
 * last are only accumulated.
 */
#include "scenarios/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/ddp.h"

/* What rounding takes from the simulated clock. */
#define CLOCK_NS 2

/* A bucket that never closes, and one that every gradient closes. */
#define MB_FOR_ALL    1e9
#define MB_FOR_TENSOR (1.0 / (1 << 20))

/* ---- contents ------------------------------------------------------------ */

/*
 * Element i of rank r's gradient in step s is (i + s) mod 61 + r. Over n ranks
 * the sum n * ((i + s) mod 61) + n (n - 1) / 2 is a whole number below 2^24
 * for n up to 5000, and its n-th part a multiple of one half: float32 holds
 * both. 61 is a prime that no bucket or chunk size is a multiple of by
 * accident: values put into a wrong place are then wrong values.
 */
#define PERIOD 61

/* The parameters of rank 0 are those that all must have after the broadcast. */
static void fill_parameters(float *values, size_t numel, int rank)
{
	for (size_t i = 0; i < numel; i++)
		values[i] = rank == 0 ? (float)(i % PERIOD) : -1.0F;
}

static double count_wrong_parameters(const float *values, size_t numel)
{
	double wrong = 0;

	for (size_t i = 0; i < numel; i++)
		wrong += values[i] != (float)(i % PERIOD);
	return wrong;
}

static void fill_gradients(struct dist_tensor tensor, size_t first, int rank,
			   int step)
{
	float *values = tensor.data;

	for (size_t i = 0; i < tensor.numel; i++)
		values[i] = (float)((first + i + (size_t)step) % PERIOD) +
			    (float)rank;
}

/* Counts what is not the average over the ranks, or more than allowance times
 * that away from it. */
static double count_wrong_gradients(struct dist_tensor tensor, size_t first,
				    const struct training *t, double allowance)
{
	const float *values = tensor.data;
	double wrong = 0;

	for (size_t i = 0; i < tensor.numel; i++) {
		double right =
			(double)((first + i + (size_t)t->step) % PERIOD) +
			(t->world_size - 1) / 2.0;

		wrong += !(fabs(values[i] - right) <= allowance * right);
	}
	return wrong;
}

/* ---- the rank ------------------------------------------------------------ */

struct ddp_step {
	struct dist_ddp *ddp;
	struct dist_ddp_parameter *params; /* NULL: the model's phantoms */
	float *parameters;                 /* NULL: phantom */
	double wrong_parameters;           /* after the broadcast */
	double stretch; /* what computing takes by what was declared */
};

/* Lays the parameters out one behind the other in a flat array. Gradients need
 * none: they live in their buckets. */
static enum dist_error lay_out(struct training *t, struct ddp_step *d)
{
	const struct model *model = t->job->model;
	size_t i, first = 0, bytes = model->num_parameters * sizeof *d->params;
	struct dist_tensor flat;

	if (t->phantom)
		return DIST_OK;
	d->params = malloc(bytes);
	if (!d->params || training_tensor(t, model->numel, &flat))
		return DIST_ERR_NO_MEMORY;
	memcpy(d->params, model->phantoms, bytes);
	d->parameters = flat.data;
	fill_parameters(d->parameters, model->numel, t->rank);
	for (i = 0; i < model->num_parameters; i++) {
		d->params[i].parameter.data = d->parameters + first;
		first += d->params[i].parameter.numel;
	}
	return DIST_OK;
}

static enum dist_ddp_comm_hook hook_of(const struct workload_arguments *a)
{
	if (a->comm_hook && strcmp(a->comm_hook, "fp16_compress") == 0)
		return DIST_DDP_FP16_COMPRESS;
	if (a->comm_hook && strcmp(a->comm_hook, "bf16_compress") == 0)
		return DIST_DDP_BF16_COMPRESS;
	return DIST_DDP_ALLREDUCE;
}

static struct dist_ddp_options options_of(const struct workload_arguments *a)
{
	struct dist_ddp_options options = {
		.bucket_cap_mb = a->bucket_cap_mb,
		.first_bucket_mb = a->first_bucket_mb,
		.gradient_as_bucket_view = true,
		.find_unused_parameters = a->find_unused_parameters,
		.static_graph = a->static_graph,
		.comm_hook = hook_of(a),
	};

	if (a->per_tensor) {
		options.bucket_cap_mb = MB_FOR_TENSOR;
		options.first_bucket_mb = MB_FOR_TENSOR;
	} else if (a->no_overlap && a->bucket_cap_mb == 0 &&
		   a->first_bucket_mb == 0) {
		options.bucket_cap_mb = MB_FOR_ALL;
		options.first_bucket_mb = MB_FOR_ALL;
	}
	return options;
}

/* Accumulated gradients are those of the last micro-batch: nothing is added. */
static void fill(struct training *t)
{
	const struct ddp_step *d = t->state;
	size_t i, first = 0;

	for (i = 0; i < t->job->model->num_parameters; i++) {
		struct dist_tensor g = dist_ddp_gradient(d->ddp, i);

		if (!g.data)
			break;
		fill_gradients(g, first, t->rank, t->step);
		first += g.numel;
	}
}

/*
 * What an element may be off, by its size: nothing, or where ranks round what
 * they send, once each and once a sum; half a unit in the last place is 2^-11
 * of it in float16, 2^-8 in bfloat16.
 */
static double allowance(const struct training *t)
{
	enum dist_ddp_comm_hook hook = hook_of(t->job->arguments);
	double unit = hook == DIST_DDP_FP16_COMPRESS ? 0x1p-11 : 0x1p-8;

	if (hook == DIST_DDP_ALLREDUCE)
		return 0;
	return pow(1 + unit, t->world_size + 1) - 1;
}

static double count_wrong(const struct training *t)
{
	const struct ddp_step *d = t->state;
	double wrong = t->step == 0 ? d->wrong_parameters : 0;
	size_t i, first = 0;

	for (i = 0; i < t->job->model->num_parameters; i++) {
		struct dist_tensor g = dist_ddp_gradient(d->ddp, i);

		if (!g.data)
			break;
		wrong += count_wrong_gradients(g, first, t, allowance(t));
		first += g.numel;
	}
	return wrong;
}

static enum dist_error start(struct training *t)
{
	const struct workload_job *job = t->job;
	struct dist_ddp_options options = options_of(job->arguments);
	struct ddp_step *d = t->state;
	struct dist_ddp *ddp = NULL;
	enum dist_error error;

	t->doing = "laying out the parameters";
	error = lay_out(t, d);
	if (error)
		return error;
	t->doing = "dist_ddp_new";
	options.untimed = job->only_steps;
	options.params_stay = true;
	error = dist_ddp_new(t->group,
			     d->params ? d->params : job->model->phantoms,
			     job->model->num_parameters, &options, &ddp);
	d->ddp = ddp;
	if (!error && job->check)
		d->wrong_parameters = count_wrong_parameters(d->parameters,
							     job->model->numel);
	/* Touches the memory, too: pages that are not there yet would be paid
	 * for by the first step. */
	if (!error)
		fill(t);
	return error;
}

static void stop(struct training *t)
{
	struct ddp_step *d = t->state;

	dist_ddp_free(d->ddp);
	free(d->params);
}

/*
 * Computes until the step's clock shows until_ns. A device keeps its own time:
 * what the host does meanwhile (starting collectives, waking up late from a
 * sleep) is hidden behind it, as long as it is not too much.
 */
static enum dist_error compute_until(struct training *t, int64_t until_ns,
				     const char *label)
{
	const struct ddp_step *d = t->state;
	int64_t now_ns = dist_now_ns(t->group);

	if (now_ns >= until_ns)
		return DIST_OK;
	return dist_compute(t->group,
			    (int64_t)((double)(until_ns - now_ns) / d->stretch),
			    label);
}

/* A simulated host computes at its platform's pace, which the forward pass
 * shows; a real one at its own, and only wakes up late. */
static double find_stretch(const struct training *t, int64_t took_ns,
			   int64_t declared_ns)
{
	if (strcmp(dist_get_backend(t->group), "sim") != 0 ||
	    llabs(took_ns - declared_ns) <= CLOCK_NS)
		return 1;
	return (double)took_ns / (double)declared_ns;
}

static enum dist_error forward(struct training *t, int64_t start_ns)
{
	struct ddp_step *d = t->state;
	int64_t declared_ns =
		(int64_t)(t->factor * (double)t->job->schedule->forward_ns);
	enum dist_error error;

	t->doing = "forward";
	d->stretch = 1;
	error = compute_until(t, start_ns + declared_ns, "forward");
	d->stretch =
		find_stretch(t, dist_now_ns(t->group) - start_ns, declared_ns);
	return error;
}

/* Says of gradients that they are there, from the last that is not down to
 * index. */
static enum dist_error mark(struct training *t, size_t *unmarked, size_t index)
{
	const struct ddp_step *d = t->state;
	enum dist_error error = DIST_OK;

	while (!error && *unmarked > index)
		error = dist_ddp_gradient_ready(d->ddp, --*unmarked);
	return error;
}

/* Backward, from the last row to the first. Gradients do nothing before their
 * bucket is full: it computes on until then. */
static enum dist_error backward(struct training *t, int64_t until_ns, bool last)
{
	const struct model *model = t->job->model;
	const struct ddp_step *d = t->state;
	bool late = t->job->arguments->no_overlap;
	double stretch = d->stretch * t->factor;
	size_t index = model->num_parameters, unmarked = index, b = 0;
	size_t missing = dist_ddp_bucket_numel(d->ddp, b);
	double tensor_ns = schedule_job_tensor_ns(&t->job->schedule->job, index,
						  dist_ddp_num_buckets(d->ddp));
	enum dist_error error = DIST_OK;

	t->doing = "backward";
	for (size_t i = model->num_rows; !error && i-- > 0;) {
		size_t numel = model->rows[i].numel;

		until_ns += (int64_t)(stretch *
				      (double)t->job->schedule->backward_ns[i]);
		if (last && numel > 0)
			until_ns += (int64_t)(stretch * tensor_ns);
		index -= numel > 0;
		missing -= numel;
		if (i > 0 && (late || missing > 0 || numel == 0))
			continue;
		error = compute_until(t, until_ns, "backward");
		if (!error)
			error = mark(t, &unmarked, index);
		missing = dist_ddp_bucket_numel(d->ddp, ++b);
	}
	return error;
}

/* Waits for the averages; the group's other ranks may not have come there. */
static enum dist_error finish(struct training *t)
{
	const struct ddp_step *d = t->state;
	struct wait wait = {.begun_ns = dist_now_ns(t->group)};
	enum dist_error error;

	t->doing = "dist_ddp_finish";
	wait.from_ns = wait.begun_ns;
	error = dist_ddp_finish(d->ddp);
	wait.to_ns = dist_now_ns(t->group);
	return error ? error : waits_add(&t->lanes[0].waits, wait);
}

static enum dist_error micro_batch(struct training *t, bool last)
{
	const struct ddp_step *d = t->state;
	int64_t start_ns = dist_now_ns(t->group);
	double declared_ns = t->factor * (double)t->job->schedule->forward_ns;
	enum dist_error error = last ? DIST_OK : dist_ddp_no_sync(d->ddp);

	if (!error)
		error = forward(t, start_ns);
	if (!error)
		error = backward(t,
				 start_ns + (int64_t)(d->stretch * declared_ns),
				 last);
	t->computed_ns += dist_now_ns(t->group) - start_ns;
	return error ? error : finish(t);
}

static enum dist_error step(struct training *t)
{
	int i, num = t->job->arguments->accumulate;
	enum dist_error error = DIST_OK;

	t->factor *= schedule_job_factor(&t->job->schedule->job, t->world_size);
	for (i = 0; !error && i < num; i++)
		error = micro_batch(t, i + 1 == num);
	t->doing = "optimizer";
	return error ? error
		     : training_compute(t, t->job->schedule->optimizer_ns,
					"optimizer");
}

static double batches(const struct workload_job *job, int world_size)
{
	return (double)job->arguments->accumulate * world_size;
}

static void report(const struct training *t, struct workload_result *r)
{
	const struct ddp_step *d = t->state;
	size_t b,
		element_bytes = hook_of(t->job->arguments) == DIST_DDP_ALLREDUCE
					? sizeof(float)
					: sizeof(uint16_t);

	r->num_buckets = dist_ddp_num_buckets(d->ddp);
	for (b = 0; b < r->num_buckets; b++) {
		size_t bytes = dist_ddp_bucket_numel(d->ddp, b) * element_bytes;

		if (b < WORKLOAD_BUCKETS)
			r->bucket_bytes[b] = bytes;
		r->calls[WORKLOAD_ALL_REDUCE].num++;
		r->calls[WORKLOAD_ALL_REDUCE].bytes += bytes;
	}
}

const struct workload workload_ddp_step = {
	.name = "ddp_step",
	.example = "--nproc-per-node 4 ddp_step --model resnet18 --batch 8 "
		   "--check",
	.contents = "gradients",
	.batches = batches,
	WORKLOAD_STEPS(ddp_step),
	.fill = fill,
	.count_wrong = count_wrong,
	.report = report,
};
