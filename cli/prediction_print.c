#include "cli/prediction.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "cli/tally.h"
#include "library/library.h"
#include "trace/output.h"

/* The figures of one row, in the units of the table. */
struct figures {
	double step_ms;
	double compute_ms;
	double communication_ms;
	double exposed_ms;
	double idle_ms;
	double efficiency;
	double samples_per_s; /* of all ranks */
};

static struct figures figures_of(const struct prediction *p,
				 const struct prediction_row *row)
{
	struct figures f = {
		.step_ms = (double)row->step.step_ns / 1e6,
		.compute_ms = (double)row->step.compute_ns / 1e6,
		.communication_ms = (double)row->alone.step_ns / 1e6,
		.exposed_ms = (double)row->step.exposed_ns / 1e6,
		.idle_ms = (double)row->step.idle_ns / 1e6,
		.efficiency = 1,
	};

	if (f.step_ms > 0) {
		f.efficiency = f.compute_ms / f.step_ms;
		f.samples_per_s = p->request->setup->job.arguments->rate.batch *
				  row->step.world_size / f.step_ms * 1e3;
	}
	return f;
}

static size_t shown_buckets(const struct workload_result *step)
{
	return step->num_buckets < WORKLOAD_BUCKETS ? step->num_buckets
						    : WORKLOAD_BUCKETS;
}

/* What rank 0 calls in a step, where there are no buckets. */
static void print_calls(const struct workload_result *step, FILE *out)
{
	const char *between = "";
	size_t i;

	fprintf(out, "# %-10s %d ranks:", "calls", step->world_size);
	for (i = 0; i < WORKLOAD_NUM_CALLS; i++) {
		if (step->calls[i].num == 0)
			continue;
		fprintf(out, "%s %" PRIu64 " %s of %" PRIu64 " B", between,
			step->calls[i].num,
			workload_call_name((enum workload_call)i),
			step->calls[i].bytes);
		between = ",";
	}
	fprintf(out, "%s\n", *between ? "" : " none");
}

/* What the library is predicted to choose for a bucket. */
static struct library_estimate choice_of(const struct prediction *p,
					 const struct prediction_row *row,
					 size_t bucket)
{
	const struct library_call call = {
		.op = DIST__ALL_REDUCE,
		.numel = row->step.bucket_bytes[bucket],
		.element_bytes = 1,
		.ranks = row->step.world_size,
	};
	struct library_estimate choice;
	struct dist_message message;

	if (library_estimate(&p->profile, &row->ground.fabric, &call, &choice,
			     &message))
		snprintf(choice.algorithm, sizeof(choice.algorithm), "?");
	return choice;
}

static bool is_same(const struct library_estimate *a,
		    const struct library_estimate *b)
{
	return strcmp(a->algorithm, b->algorithm) == 0 &&
	       strcmp(a->protocol, b->protocol) == 0;
}

/* Takes the conditions: a name and words. */
struct sink {
	void (*put)(void *arg, const char *name, const char *words);
	void *arg;
};

static void tell_work(const struct prediction *p, const struct sink *sink)
{
	const struct workload_setup *setup = p->request->setup;
	const struct model *model = &setup->model;
	const char *kind = setup->job.workload->name;
	char words[256], flags[192];

	workload_arguments_describe(setup->job.arguments, kind, flags,
				    sizeof(flags));
	snprintf(words, sizeof(words), "%s%s", kind, flags);
	sink->put(sink->arg, "workload", words);
	snprintf(words, sizeof(words),
		 "%s: %zu parameters in %zu tensors, float32, forward %.4g "
		 "GFLOP a sample",
		 model->name, model->numel, model->num_parameters,
		 model->forward_flops / 1e9);
	sink->put(sink->arg, "model", words);
	sink->put(sink->arg, "compute", setup->compute);
}

/* The platform's own facts; those about the network in one line. */
static void tell_platform(const struct prediction *p, const struct sink *sink)
{
	static const char *const prefix = "network/";
	const struct ground *ground = &p->rows[0].ground;
	char facts[sizeof(ground->facts)], words[sizeof(ground->facts)] = "";
	char *line, *rest = NULL;
	size_t used = 0;

	memcpy(facts, ground->facts, sizeof(facts));
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

/* Of the last row, the largest as a rule. */
static void tell_narrowest(const struct prediction *p, const struct sink *sink)
{
	const struct prediction_row *row =
		&p->rows[p->request->num_world_sizes - 1];
	const struct dist__narrowest *n = &row->ground.narrowest;
	char words[256], alike[48] = "";

	if (n->links == 0)
		return;
	if (n->links > 1)
		snprintf(alike, sizeof(alike), " (and %d more like it)",
			 n->links - 1);
	snprintf(words, sizeof(words),
		 "%s%s: of a ring over %d ranks %d pass%s it, at %.4g GB/s "
		 "each",
		 n->name, alike, row->step.world_size, n->hops,
		 n->hops == 1 ? "es" : "", n->hop_Bps / 1e9);
	sink->put(sink->arg, "narrowest", words);
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

/* Whose model it is, with every constant that the profile states for it. */
static void tell_library(const struct prediction *p, const struct sink *sink)
{
	const struct dist__profile *profile = &p->profile;
	char words[1024];
	int used = snprintf(words, sizeof(words), "%s, from %s",
			    profile->library, profile->source);

	if (!profile->library[0])
		return;
	for (size_t i = 0;
	     i < profile->num_constants && used < (int)sizeof(words); i++)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "%s %s %g", i ? "," : ";",
				 profile->constants[i].name,
				 profile->constants[i].value);
	sink->put(sink->arg, "library", words);
}

/* What the fidelities of the rows mean, each of them once. */
static void tell_fidelity(const struct prediction *p, const struct sink *sink)
{
	char words[256] = "";
	unsigned told = 0;
	size_t used = 0;

	for (size_t i = 0; i < p->request->num_world_sizes; i++) {
		enum dist__fidelity fidelity = p->rows[i].fidelity;

		if (told & 1U << fidelity)
			continue;
		used += (size_t)snprintf(words + used, sizeof(words) - used,
					 "%s%s: %s", told ? "; " : "",
					 dist__fidelity_name(fidelity),
					 dist__fidelity_meaning(fidelity));
		told |= 1U << fidelity;
	}
	sink->put(sink->arg, "fidelity", words);
}

static void tell_place(const struct prediction *p, const struct sink *sink)
{
	const struct prediction_request *request = p->request;
	char words[256];

	if (request->machine) {
		int most = request->world_sizes[request->num_world_sizes - 1];

		snprintf(words, sizeof(words), "%.200s, %d ranks a node",
			 request->machine,
			 machine_room_node_ranks(&p->room, most));
		sink->put(sink->arg, "machine", words);
	} else {
		snprintf(words, sizeof(words), "%.200s, %d hosts",
			 request->platform, p->hosts);
		sink->put(sink->arg, "platform", words);
	}
	if (request->links[0])
		sink->put(sink->arg, "links", request->links);
}

/* A prediction means nothing without them. */
static void tell_conditions(const struct prediction *p, const struct sink *sink)
{
	tell_work(p, sink);
	tell_place(p, sink);
	tell_platform(p, sink);
	tell_narrowest(p, sink);
	tell_profile(p, sink);
	tell_library(p, sink);
	tell_fidelity(p, sink);
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
	struct library_estimate choice = choice_of(p, row, 0);

	fprintf(out, "# %-10s %d ranks:", "all_reduce", row->step.world_size);
	for (b = 0; b < num; b++) {
		const struct library_estimate next =
			choice_of(p, row, b + 1 == num ? b : b + 1);

		fprintf(out, " %zu", row->step.bucket_bytes[b]);
		if (b + 1 == num || !is_same(&choice, &next))
			fprintf(out, " B by %s%s%s%s", choice.algorithm,
				*choice.protocol ? " " : "", choice.protocol,
				b + 1 == num ? "" : ",");
		choice = next;
	}
	if (num < row->step.num_buckets)
		fprintf(out, ", and %zu more", row->step.num_buckets - num);
	fputc('\n', out);
}

/* What was a flow, and what was not. */
static void print_tally(const struct prediction_row *row, FILE *out)
{
	char words[512];

	tally_describe(&row->tally, words, sizeof(words));
	if (*words)
		fprintf(out, "# %-10s %d ranks: %s\n", "flows",
			row->step.world_size, words);
}

int prediction_print(const struct prediction *p,
		     const struct explanation *explanation, FILE *out)
{
	const struct sink sink = {put_line, out};
	size_t i;

	tell_conditions(p, &sink);
	for (i = 0; i < p->request->num_world_sizes; i++) {
		if (p->rows[i].step.num_buckets > 0)
			print_algorithms(p, &p->rows[i], out);
		else
			print_calls(&p->rows[i].step, out);
		print_tally(&p->rows[i], out);
	}
	fprintf(out, "%10s %12s %12s %16s %12s %12s %12s %9s\n", "world_size",
		"step_ms", "compute_ms", "communication_ms", "exposed_ms",
		"idle_ms", "efficiency", "fidelity");
	for (i = 0; i < p->request->num_world_sizes; i++) {
		struct figures f = figures_of(p, &p->rows[i]);

		fprintf(out,
			"%10d %12.3f %12.3f %16.3f %12.3f %12.3f %12.4f %9s\n",
			p->rows[i].step.world_size, f.step_ms, f.compute_ms,
			f.communication_ms, f.exposed_ms, f.idle_ms,
			f.efficiency, dist__fidelity_name(p->rows[i].fidelity));
	}
	return explanation_print(explanation, out);
}

static void put_member(void *arg, const char *name, const char *words)
{
	json_object_set_new(arg, name, json_string(words));
}

static json_t *json_row(const struct prediction *p,
			const struct prediction_row *row)
{
	struct figures f = figures_of(p, row);
	json_t *buckets = json_array(), *calls = json_object();
	size_t b, i;

	for (b = 0; b < shown_buckets(&row->step); b++) {
		const struct library_estimate choice = choice_of(p, row, b);

		json_array_append_new(
			buckets,
			json_pack("{s:I, s:s, s:s}", "bytes",
				  (json_int_t)row->step.bucket_bytes[b],
				  "algorithm", choice.algorithm, "protocol",
				  choice.protocol));
	}
	for (i = 0; i < WORKLOAD_NUM_CALLS; i++)
		json_object_set_new(
			calls, workload_call_name((enum workload_call)i),
			json_pack("{s:I, s:I}", "calls",
				  (json_int_t)row->step.calls[i].num, "bytes",
				  (json_int_t)row->step.calls[i].bytes));
	return json_pack(
		"{s:i, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o, s:o, "
		"s:o}",
		"world_size", row->step.world_size, "fidelity",
		dist__fidelity_name(row->fidelity), "step_ms", f.step_ms,
		"compute_ms", f.compute_ms, "communication_ms",
		f.communication_ms, "exposed_ms", f.exposed_ms, "idle_ms",
		f.idle_ms, "efficiency", f.efficiency, "samples_per_s",
		f.samples_per_s, "gradient_bytes",
		(json_int_t)(p->request->setup->model.numel * sizeof(float)),
		"calls", calls, "buckets", buckets, "collectives",
		tally_json(&row->tally));
}

int prediction_print_json(const struct prediction *p,
			  const struct explanation *explanation, FILE *out)
{
	json_t *conditions = json_object(), *rows = json_array(), *all;
	json_t *path = explanation_json(explanation);
	const struct sink sink = {put_member, conditions};
	int status;
	size_t i;

	tell_conditions(p, &sink);
	for (i = 0; i < p->request->num_world_sizes; i++)
		json_array_append_new(rows, json_row(p, &p->rows[i]));
	all = json_pack("{s:o, s:o}", "conditions", conditions, "rows", rows);
	if (all && path)
		json_object_set_new(all, "critical_path", path);
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
	dist__output_text(out,
			  "world_size\tstep_ms\tcompute_ms\t"
			  "communication_ms\texposed_ms\tidle_ms\tefficiency\t"
			  "fidelity\n");
	for (i = 0; i < p->request->num_world_sizes; i++) {
		struct figures f = figures_of(p, &p->rows[i]);

		dist__output_print(
			out, "%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%s\n",
			p->rows[i].step.world_size, f.step_ms, f.compute_ms,
			f.communication_ms, f.exposed_ms, f.idle_ms,
			f.efficiency, dist__fidelity_name(p->rows[i].fidelity));
	}
	return dist__output_close(out, message);
}
