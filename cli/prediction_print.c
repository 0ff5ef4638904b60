#include "cli/prediction.h"

#include <string.h>

#include <jansson.h>

#include "core/algorithm.h"
#include "trace/output.h"

#define FIDELITY       "message"
#define FIDELITY_WORDS "every message of every collective is simulated"

/* The figures of one row, in the units of the table. */
struct figures {
	double step_ms;
	double compute_ms;
	double communication_ms;
	double exposed_ms;
	double efficiency;
};

static struct figures figures_of(const struct prediction_row *row)
{
	struct figures f = {
		.step_ms = (double)row->step.step_ns / 1e6,
		.compute_ms = (double)row->compute_ns / 1e6,
		.communication_ms = (double)row->alone.step_ns / 1e6,
		.efficiency = 1,
	};

	f.exposed_ms = f.step_ms - f.compute_ms;
	if (f.step_ms > 0)
		f.efficiency = f.compute_ms / f.step_ms;
	return f;
}

static size_t shown_buckets(const struct ddp_step_result *step)
{
	return step->num_buckets < DDP_STEP_BUCKETS ? step->num_buckets
						    : DDP_STEP_BUCKETS;
}

static const char *algorithm_of(const struct prediction *p,
				const struct prediction_row *row, size_t bucket)
{
	return dist__select(&p->profile, DIST__ALL_REDUCE, row->step.world_size,
			    row->num_nodes, row->step.bucket_bytes[bucket])
		->name;
}

/* Takes the conditions: a name and words. */
struct sink {
	void (*put)(void *arg, const char *name, const char *words);
	void *arg;
};

static void tell_work(const struct prediction *p, const struct sink *sink)
{
	const struct model *model = p->request->model;
	const struct schedule_rate *rate = &p->request->arguments->rate;
	char words[256];

	snprintf(words, sizeof(words),
		 "%s: %zu parameters in %zu tensors, float32, forward %.4g "
		 "GFLOP a sample",
		 model->name, model->numel, model->num_parameters,
		 model->forward_flops / 1e9);
	sink->put(sink->arg, "model", words);
	if (rate->step_ms > 0)
		snprintf(words, sizeof(words),
			 "%g ms a step on one device, as measured",
			 rate->step_ms);
	else
		snprintf(words, sizeof(words),
			 "batch %g a rank at %g TFLOP/s achieved", rate->batch,
			 rate->flops / 1e12);
	sink->put(sink->arg, "compute", words);
}

/* The platform's own facts; those about the network in one line. */
static void tell_platform(const struct prediction *p, const struct sink *sink)
{
	static const char *const prefix = "network/";
	char facts[sizeof(p->facts)], words[sizeof(p->facts)] = "";
	char *line, *rest = NULL;
	size_t used = 0;

	memcpy(facts, p->facts, sizeof(facts));
	for (line = strtok_r(facts, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strstr(line, ": ");

		if (!colon || strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		*colon = '\0';
		used += (size_t)snprintf(words + used, sizeof(words) - used,
					 "%s%s %s", used ? ", " : "",
					 line + strlen(prefix), colon + 2);
	}
	sink->put(sink->arg, "network", words);
}

static void tell_profile(const struct prediction *p, const struct sink *sink)
{
	const struct dist__profile *profile = &p->profile;
	char words[256], reduction[64] = "reduction free";

	if (profile->reduce_Bps > 0)
		snprintf(reduction, sizeof(reduction), "reduction at %.4g GB/s",
			 profile->reduce_Bps / 1e9);
	snprintf(words, sizeof(words), "%s%s%s: %g ns a message, %s",
		 profile->name, *profile->version ? " " : "", profile->version,
		 profile->message_overhead_ns, reduction);
	sink->put(sink->arg, "profile", words);
}

/* A prediction means nothing without them. */
static void tell_conditions(const struct prediction *p, const struct sink *sink)
{
	char words[256];

	tell_work(p, sink);
	snprintf(words, sizeof(words), "%.200s, %d hosts", p->request->platform,
		 p->hosts);
	sink->put(sink->arg, "platform", words);
	tell_platform(p, sink);
	tell_profile(p, sink);
	sink->put(sink->arg, "fidelity", FIDELITY ": " FIDELITY_WORDS);
}

static void put_line(void *arg, const char *name, const char *words)
{
	fprintf(arg, "# %-10s %s\n", name, words);
}

/* Which algorithm averages which bucket; neighbours of one algorithm in one
 * word. */
static void print_algorithms(const struct prediction *p,
			     const struct prediction_row *row, FILE *out)
{
	size_t b, num = shown_buckets(&row->step);

	fprintf(out, "# %-10s %d ranks:", "all_reduce", row->step.world_size);
	for (b = 0; b < num; b++) {
		const char *name = algorithm_of(p, row, b);

		fprintf(out, " %zu", row->step.bucket_bytes[b]);
		if (b + 1 == num ||
		    strcmp(name, algorithm_of(p, row, b + 1)) != 0)
			fprintf(out, " B by %s%s", name,
				b + 1 == num ? "" : ",");
	}
	if (num < row->step.num_buckets)
		fprintf(out, ", and %zu more", row->step.num_buckets - num);
	fputc('\n', out);
}

void prediction_print(const struct prediction *p, FILE *out)
{
	const struct sink sink = {put_line, out};
	size_t i;

	tell_conditions(p, &sink);
	for (i = 0; i < p->request->num_world_sizes; i++)
		print_algorithms(p, &p->rows[i], out);
	fprintf(out, "%10s %12s %12s %16s %12s %12s\n", "world_size", "step_ms",
		"compute_ms", "communication_ms", "exposed_ms", "efficiency");
	for (i = 0; i < p->request->num_world_sizes; i++) {
		struct figures f = figures_of(&p->rows[i]);

		fprintf(out, "%10d %12.3f %12.3f %16.3f %12.3f %12.4f\n",
			p->rows[i].step.world_size, f.step_ms, f.compute_ms,
			f.communication_ms, f.exposed_ms, f.efficiency);
	}
}

static void put_member(void *arg, const char *name, const char *words)
{
	json_object_set_new(arg, name, json_string(words));
}

static json_t *json_row(const struct prediction *p,
			const struct prediction_row *row)
{
	struct figures f = figures_of(row);
	json_t *buckets = json_array();
	size_t b;

	for (b = 0; b < shown_buckets(&row->step); b++)
		json_array_append_new(
			buckets,
			json_pack("{s:I, s:s}", "bytes",
				  (json_int_t)row->step.bucket_bytes[b],
				  "algorithm", algorithm_of(p, row, b)));
	return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:o}", "world_size",
			 row->step.world_size, "step_ms", f.step_ms,
			 "compute_ms", f.compute_ms, "communication_ms",
			 f.communication_ms, "exposed_ms", f.exposed_ms,
			 "efficiency", f.efficiency, "buckets", buckets);
}

int prediction_print_json(const struct prediction *p, FILE *out)
{
	json_t *conditions = json_object(), *rows = json_array(), *all;
	const struct sink sink = {put_member, conditions};
	int status;
	size_t i;

	tell_conditions(p, &sink);
	for (i = 0; i < p->request->num_world_sizes; i++)
		json_array_append_new(rows, json_row(p, &p->rows[i]));
	all = json_pack("{s:o, s:o}", "conditions", conditions, "rows", rows);
	status = all ? json_dumpf(all, out,
				  JSON_INDENT(2) | JSON_REAL_PRECISION(9))
		     : -1;
	json_decref(all);
	if (!status)
		fputc('\n', out);
	return status;
}

static void put_comment(void *arg, const char *name, const char *words)
{
	dist__output_print(arg, "# %s: %s\n", name, words);
}

enum dist_error prediction_write_tsv(const struct prediction *p,
				     const char *path,
				     struct dist_message *message)
{
	struct dist__output *out;
	enum dist_error err = dist__output_open(path, &out, message);
	size_t i;

	if (err)
		return err;
	tell_conditions(p, &(struct sink){put_comment, out});
	dist__output_text(out, "world_size\tstep_ms\tcompute_ms\t"
			       "communication_ms\texposed_ms\tefficiency\n");
	for (i = 0; i < p->request->num_world_sizes; i++) {
		struct figures f = figures_of(&p->rows[i]);

		dist__output_print(out, "%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n",
				   p->rows[i].step.world_size, f.step_ms,
				   f.compute_ms, f.communication_ms,
				   f.exposed_ms, f.efficiency);
	}
	return dist__output_close(out, message);
}
