/* A result for people; and the table of all kinds. */
#include "scenarios/workload.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static const struct workload *const kinds[] = {
	&workload_ddp_step,       &workload_fsdp,
	&workload_hybrid,         &workload_moe,
	&workload_pipeline,       &workload_ps,
	&workload_tensor_parallel};
#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < NUM_KINDS; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

const char *workload_call_name(enum workload_call call)
{
	static const char *const names[WORKLOAD_NUM_CALLS] = {
		"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
		"send"};

	return names[call];
}

void workload_describe_calls(const struct workload_result *r, char *text,
			     size_t size)
{
	const char *between = "";

	for (size_t i = 0; i < WORKLOAD_NUM_CALLS; i++) {
		if (r->calls[i].num == 0)
			continue;
		(void)dist__append(text, size,
				   "%s %" PRIu64 " %s of %" PRIu64 " B",
				   between, r->calls[i].num,
				   workload_call_name((enum workload_call)i),
				   r->calls[i].bytes);
		between = ",";
	}
	if (!*between)
		(void)dist__append(text, size, " none");
}

void workload_print(const struct workload_job *job, const char *backend,
		    const struct workload_result *r, FILE *out)
{
	int steps = job->arguments->steps;
	char calls[512] = "";

	fprintf(out, "%s: %d ranks over %s, batch %g, %d step%s\n",
		job->model->name, r->world_size, backend,
		job->arguments->rate.batch, steps, steps == 1 ? "" : "s");
	fprintf(out, "compute: %s\n", job->compute);
	if (job->impossible && job->impossible[0])
		fprintf(out, "impossible: %s\n", job->impossible);
	if (r->num_buckets > 0) {
		fprintf(out, "buckets (bytes):");
		for (size_t b = 0; b < r->num_buckets && b < WORKLOAD_BUCKETS;
		     b++)
			fprintf(out, " %zu", r->bucket_bytes[b]);
		fputc('\n', out);
	} else {
		workload_describe_calls(r, calls, sizeof calls);
		fprintf(out, "calls of rank 0 in a step:%s\n", calls);
	}
	fprintf(out,
		"step %.3f ms (%.3f to %.3f), compute %.3f ms, exposed "
		"communication %.3f ms, idle %.3f ms\n",
		(double)r->step_ns / 1e6, (double)r->min_ns / 1e6,
		(double)r->max_ns / 1e6, (double)r->compute_ns / 1e6,
		(double)r->exposed_ns / 1e6, (double)r->idle_ns / 1e6);
	if (!job->check)
		return;
	if (r->wrong == 0)
		fprintf(out, "%s: right on all %d ranks\n",
			job->workload->contents, r->world_size);
	else
		fprintf(out, "%s: %lld elements wrong on the worst rank\n",
			job->workload->contents, (long long)r->wrong);
}
