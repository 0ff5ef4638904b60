/* The life of a dist_ddp: checks, buckets, queries. */
#include "lockstep/ddp.h"
#include "ddp/state.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"

/* The name of parameter i, cut to what a message can carry. */
#define NAME(params, i) ((params)[i].name ? (params)[i].name : "?")

static enum dist_error check_parameter(const struct dist_ddp_parameter *params,
				       size_t i, struct dist_message *message)
{
	const struct dist_tensor *p = &params[i].parameter;
	const struct dist_tensor *g = &params[i].gradient;
	size_t element_bytes = dist_dtype_size(p->dtype);

	if (element_bytes == 0)
		return dist__refuse(message,
				    "parameter %zu (%.200s): unknown dtype", i,
				    NAME(params, i));
	if (p->numel != g->numel || p->dtype != g->dtype)
		return dist__refuse(message,
				    "parameter %zu (%.200s): its gradient has "
				    "%zu elements of %s, expected %zu of %s",
				    i, NAME(params, i), g->numel,
				    dist_dtype_name(g->dtype), p->numel,
				    dist_dtype_name(p->dtype));
	if (p->numel > SIZE_MAX / 4 / element_bytes)
		return dist__refuse(message,
				    "parameter %zu (%.200s): too large", i,
				    NAME(params, i));
	return DIST_OK;
}

/* Phantoms and memory cannot share a bucket, so one kind throughout. */
static enum dist_error check_parameters(const struct dist_ddp_parameter *params,
					size_t num, bool views,
					struct dist_message *message)
{
	size_t i, witness = num;
	enum dist_error error;

	for (i = 0; i < num; i++) {
		error = check_parameter(params, i, message);
		if (error)
			return error;
		if (params[i].parameter.numel == 0)
			continue;
		if (witness == num)
			witness = i;
		if ((!views && !params[i].gradient.data !=
				       !params[witness].gradient.data) ||
		    !params[i].parameter.data !=
			    !params[witness].parameter.data)
			return dist__refuse(message,
					    "parameter %zu (%.200s): memory "
					    "and phantoms cannot be mixed",
					    i, NAME(params, i));
	}
	return DIST_OK;
}

/* Fills in the defaults. The comparisons are written so that NaN fails. */
static enum dist_error check_options(const struct dist_ddp_options *options,
				     struct dist__ddp_limits *limits,
				     struct dist_message *message)
{
	double first_mb = options->first_bucket_mb;
	double cap_mb = options->bucket_cap_mb;

	if (!(first_mb >= 0) || !(cap_mb >= 0))
		return dist__refuse(message,
				    "bucket sizes must not be negative");
	if (options->comm_hook < DIST_DDP_ALLREDUCE ||
	    options->comm_hook > DIST_DDP_BF16_COMPRESS)
		return dist__refuse(message, "comm_hook %d: there is none",
				    (int)options->comm_hook);
	if (first_mb == 0)
		first_mb = DIST_DDP_FIRST_BUCKET_MB;
	if (cap_mb == 0)
		cap_mb = DIST_DDP_BUCKET_CAP_MB;
	limits->first_bytes = first_mb * 1024 * 1024;
	limits->rest_bytes = cap_mb * 1024 * 1024;
	return DIST_OK;
}

/* Whether the bucket that holds these gradients holds bytes. */
static bool is_real(const struct dist_ddp *ddp,
		    const struct dist__ddp_span *span)
{
	size_t i;

	for (i = 0; i < span->num; i++) {
		const struct dist_ddp_parameter *p =
			&ddp->params[ddp->partition.members[span->first + i]];
		const void *data =
			ddp->views ? p->parameter.data : p->gradient.data;

		if (data && p->gradient.numel > 0)
			return true;
	}
	return false;
}

static enum dist_error allocate_bytes(struct dist_ddp *ddp, size_t b)
{
	const struct dist__ddp_span *span = &ddp->partition.spans[b];
	struct dist__ddp_bucket *bucket = &ddp->buckets[b];
	size_t compressed_bytes = dist__ddp_compressed_bytes(ddp, b);

	bucket->data = calloc(span->numel, dist_dtype_size(span->dtype));
	if (!bucket->data)
		return DIST_ERR_NO_MEMORY;
	if (compressed_bytes > 0)
		bucket->compressed = calloc(1, compressed_bytes);
	return compressed_bytes > 0 && !bucket->compressed ? DIST_ERR_NO_MEMORY
							   : DIST_OK;
}

static enum dist_error allocate_bucket(struct dist_ddp *ddp, size_t b)
{
	const struct dist__ddp_span *span = &ddp->partition.spans[b];
	size_t i, offset_bytes = 0;
	char *data;

	if (is_real(ddp, span) && allocate_bytes(ddp, b))
		return DIST_ERR_NO_MEMORY;
	data = ddp->buckets[b].data;
	for (i = 0; i < span->num; i++) {
		size_t index = ddp->partition.members[span->first + i];
		const struct dist_tensor *g = &ddp->params[index].gradient;

		ddp->slots[index].bucket = (uint32_t)b;
		ddp->slots[index].offset_bytes = offset_bytes;
		if (ddp->views && ddp->copy)
			ddp->copy[index].gradient.data =
				data ? data + offset_bytes : NULL;
		offset_bytes += g->numel * dist_dtype_size(g->dtype);
	}
	dist__ddp_describe(ddp, b);
	return DIST_OK;
}

static enum dist_error make_buckets(struct dist_ddp *ddp,
				    const struct dist__ddp_limits *limits)
{
	enum dist_error error = dist__ddp_partition_init(
		&ddp->partition, ddp->params, ddp->num, true, limits);

	if (error)
		return error;
	ddp->buckets = calloc(ddp->partition.num_spans, sizeof *ddp->buckets);
	if (!ddp->buckets)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; !error && i < ddp->partition.num_spans; i++)
		error = allocate_bucket(ddp, i);
	return error;
}

static bool are_phantoms(const struct dist_ddp_parameter *params, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (params[i].parameter.data || params[i].gradient.data)
			return false;
	return true;
}

/* Everything of dist_ddp_new() but the broadcast; *made is to be freed also on
 * failure. */
static enum dist_error
allocate(struct dist_group *group, const struct dist_ddp_parameter *params,
	 size_t num, const struct dist_ddp_options *options,
	 const struct dist__ddp_limits *limits, struct dist_ddp **made)
{
	struct dist_ddp *ddp = calloc(1, sizeof *ddp);
	enum dist_error error;

	*made = ddp;
	if (!ddp)
		return DIST_ERR_NO_MEMORY;
	ddp->group = group;
	ddp->num = num;
	ddp->views = options->gradient_as_bucket_view;
	ddp->static_graph = options->static_graph;
	ddp->untimed = options->untimed;
	ddp->hook = options->comm_hook;
	ddp->find_unused =
		options->find_unused_parameters && !options->static_graph;
	ddp->params = params;
	if (!options->params_stay || !are_phantoms(params, num)) {
		ddp->copy = calloc(num, sizeof *ddp->copy);
		if (!ddp->copy)
			return DIST_ERR_NO_MEMORY;
		memcpy(ddp->copy, params, num * sizeof *params);
		ddp->params = ddp->copy;
	}
	ddp->slots = calloc(num, sizeof *ddp->slots);
	ddp->used = calloc(num, sizeof *ddp->used);
	if (!ddp->slots || !ddp->used)
		return DIST_ERR_NO_MEMORY;
	error = make_buckets(ddp, limits);
	if (!error)
		dist__ddp_empty(ddp);
	return error;
}

/* Lets verdicts say why there is no ddp. */
static void record_refusal(struct dist_group *group,
			   const struct dist__ddp_site *site,
			   const struct dist_message *message)
{
	char text[sizeof message->text];

	snprintf(text, sizeof text, "ddp_new: %.480s", message->text);
	(void)dist_refuse(dist_at(group, site->file, site->line), text);
}

enum dist_error
dist_ddp_new_at(const char *file, int line, struct dist_group *group,
		const struct dist_ddp_parameter *params, size_t num,
		const struct dist_ddp_options *options, struct dist_ddp **ddp)
{
	const struct dist_ddp_options defaults = {0};
	const struct dist__ddp_site site = {file, line};
	enum dist_error error = DIST_ERR_INVALID_ARGUMENT;
	struct dist_message message = {""};
	struct dist__ddp_limits limits;
	struct dist_ddp *made = NULL;

	if (!options)
		options = &defaults;
	if (!group || !params || num == 0 || !ddp) {
		(void)dist__refuse(&message, "a group, parameters and a place "
					     "for the result are needed");
		goto out;
	}
	error = check_parameters(params, num, options->gradient_as_bucket_view,
				 &message);
	if (!error)
		error = check_options(options, &limits, &message);
	if (!error)
		error = allocate(group, params, num, options, &limits, &made);
	if (!error) {
		error = dist__ddp_broadcast(made, &site, 0);
		made->untimed = false;
		message = made->message;
	}
	if (!error)
		*ddp = made;
out:
	if (error && !*message.text)
		(void)dist__refuse(&message, "%s", dist_error_string(error));
	if (error && options->message)
		*options->message = message;
	if (error == DIST_ERR_INVALID_ARGUMENT && !made)
		record_refusal(group, &site, &message);
	if (error)
		dist_ddp_free(made);
	return error;
}

enum dist_error(dist_ddp_new)(struct dist_group *group,
			      const struct dist_ddp_parameter *params,
			      size_t num,
			      const struct dist_ddp_options *options,
			      struct dist_ddp **ddp)
{
	return dist_ddp_new_at(NULL, 0, group, params, num, options, ddp);
}

/* Memory is in use until the work on it has ended. A wait that times out aborts
 * the group, which ends it too. */
static void end_work(struct dist_ddp *ddp, struct dist_work *work)
{
	if (work && (dist_work_wait)(work, DIST_TIMEOUT_OF_GROUP) != DIST_OK)
		dist_abort(ddp->group);
	dist_work_free(work);
}

void dist_ddp_free(struct dist_ddp *ddp)
{
	size_t i;

	if (!ddp)
		return;
	end_work(ddp, ddp->join.work);
	for (i = 0; ddp->buckets && i < ddp->partition.num_spans; i++) {
		end_work(ddp, ddp->buckets[i].work);
		free(ddp->buckets[i].data);
		free(ddp->buckets[i].compressed);
	}
	free(ddp->buckets);
	free(ddp->used);
	dist__ddp_partition_release(&ddp->partition);
	free(ddp->slots);
	free(ddp->copy);
	free(ddp);
}

struct dist_tensor dist_ddp_gradient(const struct dist_ddp *ddp, size_t index)
{
	if (!ddp || index >= ddp->num)
		return dist_tensor(NULL, 0, DIST_FLOAT32);
	return ddp->params[index].gradient;
}

bool dist_ddp_is_used(const struct dist_ddp *ddp, size_t index)
{
	return ddp && index < ddp->num && ddp->slots[index].averaged;
}

size_t dist_ddp_num_buckets(const struct dist_ddp *ddp)
{
	return ddp ? ddp->partition.num_spans : 0;
}

size_t dist_ddp_bucket_numel(const struct dist_ddp *ddp, size_t index)
{
	if (index >= dist_ddp_num_buckets(ddp))
		return 0;
	return ddp->partition.spans[index].numel;
}

enum dist_dtype dist_ddp_bucket_dtype(const struct dist_ddp *ddp, size_t index)
{
	if (index >= dist_ddp_num_buckets(ddp))
		return DIST_FLOAT32;
	return ddp->partition.spans[index].dtype;
}

const char *dist_ddp_error_message(const struct dist_ddp *ddp)
{
	return ddp ? ddp->message.text : "";
}

struct dist_ddp *dist_ddp_at(struct dist_ddp *ddp, const char *file, int line)
{
	if (ddp) {
		ddp->next_site.file = file;
		ddp->next_site.line = line;
	}
	return ddp;
}
