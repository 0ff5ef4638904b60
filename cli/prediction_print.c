#include "cli/table_option.h"
#include "cli/prediction.h"

#include <string.h>

#include <jansson.h>

#include "base/rows.h"
#include "base/text.h"
#include "cli/tally.h"
#include "model/library/library.h"

static size_t shown_buckets(const struct workload_result *step)
{
	return step->num_buckets < WORKLOAD_BUCKETS ? step->num_buckets
						    : WORKLOAD_BUCKETS;
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

	if (library_estimate(&p->profile, &row->survey.fabric, &call, &choice,
			     &message))
		snprintf(choice.algorithm, sizeof choice.algorithm, "?");
	return choice;
}

/* ---- conditions: a prediction means nothing without them ---------------- */

static void add_place(json_t *conditions, const struct prediction *p)
{
	const struct prediction_request *request = p->request;

	if (request->machine) {
		int most = request->world_sizes[request->num_world_sizes - 1];

		json_object_set_new(
			conditions, "machine",
			json_sprintf(
				"%.200s, %d ranks a node", request->machine,
				machine_platform_node_ranks(&p->room, most)));
	} else {
		json_object_set_new(conditions, "platform",
				    json_sprintf("%.200s, %d hosts",
						 request->platform, p->hosts));
	}
	if (request->links[0])
		json_object_set_new(conditions, "links",
				    json_string(request->links));
}

/* Of the last row, the largest as a rule. */
static void add_narrowest(json_t *conditions, const struct prediction *p)
{
	const struct prediction_row *row =
		&p->rows[p->request->num_world_sizes - 1];
	const struct dist__narrowest *n = &row->survey.narrowest;
	char alike[48] = "";

	if (n->links == 0)
		return;
	if (n->links > 1)
		snprintf(alike, sizeof alike, " (and %d more like it)",
			 n->links - 1);
	json_object_set_new(conditions, "narrowest",
			    json_sprintf("%s%s: of a ring over %d ranks %d "
					 "pass%s it, at %.4g GB/s each",
					 n->name, alike, row->step.world_size,
					 n->hops, n->hops == 1 ? "es" : "",
					 n->hop_Bps / 1e9));
}

/* What a message costs, and whose model it is, with every constant that the
 * profile states for it. */
static void add_profile(json_t *conditions, const struct prediction *p)
{
	const struct dist__profile *profile = &p->profile;
	char text[1024], reduction[64] = "reduction free";

	if (profile->reduce_Bps > 0)
		snprintf(reduction, sizeof reduction, "reduction at %.4g GB/s",
			 profile->reduce_Bps / 1e9);
	json_object_set_new(
		conditions, "profile",
		json_sprintf("%s%s%s: %g ns a message, %s", profile->name,
			     *profile->version ? " " : "", profile->version,
			     profile->message_overhead_ns, reduction));
	if (!profile->library[0])
		return;
	snprintf(text, sizeof text, "%s, from %s", profile->library,
		 profile->source);
	for (size_t i = 0; i < profile->num_constants; i++)
		(void)dist__append(text, sizeof text, "%s %s %g", i ? "," : ";",
				   profile->constants[i].name,
				   profile->constants[i].value);
	json_object_set_new(conditions, "library", json_string(text));
}

/* What was measured there of the library, by kind of group: each once. */
static void add_calibration(json_t *conditions, const struct prediction *p)
{
	const struct calibration *last = NULL;
	char all[768] = "";

	if (!p->request->machine && !p->rows[0].survey.fabric.num_calibrations)
		return;
	for (size_t i = 0; i < p->request->num_world_sizes; i++) {
		const struct fabric *fabric = &p->rows[i].survey.fabric;
		char text[256];
		const struct calibration *now = library_calibration_say(
			&p->profile, fabric, text, sizeof text);

		if (i > 0 && !now == !last &&
		    (!now || strcmp(now->transport, last->transport) == 0))
			continue;
		last = now;
		(void)dist__append(all, sizeof all, "%sfrom %d ranks on: %s",
				   *all ? "; " : "", p->rows[i].step.world_size,
				   text);
	}
	json_object_set_new(conditions, "calibration",
			    json_string(p->request->num_world_sizes > 1
						? all
						: strchr(all, ':') + 2));
}

/* What the fidelities of the rows mean, each of them once. */
static void add_fidelity(json_t *conditions, const struct prediction *p)
{
	unsigned named = 0;
	char text[256] = "";

	for (size_t i = 0; i < p->request->num_world_sizes; i++) {
		enum dist__fidelity fidelity = p->rows[i].fidelity;

		if (named & 1U << fidelity)
			continue;
		(void)dist__append(text, sizeof text, "%s%s: %s",
				   named ? "; " : "",
				   dist__fidelity_name(fidelity),
				   dist__fidelity_meaning(fidelity));
		named |= 1U << fidelity;
	}
	json_object_set_new(conditions, "fidelity", json_string(text));
}

static json_t *conditions_of(const struct prediction *p)
{
	json_t *conditions = json_object();
	char text[256];
	const struct workload_setup *setup = p->request->setup;
	const struct model *model = &setup->model;
	const char *kind = setup->job.workload->name;
	char flags[192];

	workload_arguments_describe(setup->job.arguments, kind, flags,
				    sizeof flags);
	json_object_set_new(conditions, "workload",
			    json_sprintf("%s%s", kind, flags));
	json_object_set_new(conditions, "model",
			    json_sprintf("%s: %zu parameters in %zu tensors, "
					 "float32, forward %.4g GFLOP a sample",
					 model->name, model->numel,
					 model->num_parameters,
					 model->forward_flops / 1e9));
	json_object_set_new(conditions, "compute", json_string(setup->compute));
	add_place(conditions, p);
	json_object_set_new(conditions, "network",
			    json_string(p->rows[0].survey.network));
	add_narrowest(conditions, p);
	add_profile(conditions, p);
	add_calibration(conditions, p);
	add_fidelity(conditions, p);
	/* What that of the last row says. */
	interval_describe(&p->rows[p->request->num_world_sizes - 1].interval,
			  text, sizeof text);
	json_object_set_new(conditions, "interval", json_string(text));
	return conditions;
}

/* ---- what stands behind a row ------------------------------------------- */

/* More buckets than this are not told one by one. */
#define MOST_SIZES 8

/* Appends the sizes of num neighbouring buckets, in bytes: each, or how many
 * there are from the least to the most. */
static void append_sizes(char *text, size_t size, const size_t *bytes,
			 size_t num)
{
	size_t least = *bytes, most = *bytes;

	for (size_t b = 0; b < num; b++) {
		least = bytes[b] < least ? bytes[b] : least;
		most = bytes[b] > most ? bytes[b] : most;
		if (num <= MOST_SIZES)
			(void)dist__append(text, size, " %zu", bytes[b]);
	}
	if (num > MOST_SIZES)
		(void)dist__append(text, size, " %zu buckets of %zu to %zu",
				   num, least, most);
}

/* Which algorithm averages which bucket; neighbours of one algorithm in one
 * word. */
static void describe_algorithms(const struct prediction *p,
				const struct prediction_row *row, char *text,
				size_t size)
{
	size_t first = 0, num = shown_buckets(&row->step);
	struct library_estimate choice = choice_of(p, row, 0);

	for (size_t b = 1; b <= num; b++) {
		const struct library_estimate next =
			choice_of(p, row, b == num ? b - 1 : b);

		if (b == num || strcmp(choice.algorithm, next.algorithm) != 0 ||
		    strcmp(choice.protocol, next.protocol) != 0) {
			append_sizes(text, size, row->step.bucket_bytes + first,
				     b - first);
			(void)dist__append(
				text, size, " B by %s%s%s%s", choice.algorithm,
				*choice.protocol ? " " : "", choice.protocol,
				b == num ? "" : ",");
			first = b;
		}
		choice = next;
	}
	if (num < row->step.num_buckets)
		(void)dist__append(text, size, ", and %zu more",
				   row->step.num_buckets - num);
}

/* Its calls, what a rank holds, and what was a flow. */
static void print_notes(const struct prediction *p,
			const struct prediction_row *row, enum dist__form form,
			FILE *out)
{
	const int ranks = row->step.world_size;
	const bool buckets = row->step.num_buckets > 0;
	char text[4096], held[96];

	snprintf(text, sizeof text, "%d ranks:", ranks);
	if (buckets)
		describe_algorithms(p, row, text, sizeof text);
	else
		workload_describe_calls(&row->step, text, sizeof text);
	condition_print(buckets ? "all_reduce" : "calls", text, form, out);
	physics_describe(p->request->setup, held, sizeof held);
	snprintf(text, sizeof text, "%d ranks: %.4g GB a rank for %s", ranks,
		 row->physics.memory_bytes / 1e9, held);
	condition_print("memory", text, form, out);
	snprintf(text, sizeof text, "%d ranks: ", ranks);
	tally_describe(&row->tally, text + strlen(text), 512);
	if (text[strlen(text) - 1] != ' ')
		condition_print("flows", text, form, out);
}

/* ---- the rows ----------------------------------------------------------- */

static json_t *calls_json(const struct workload_result *step)
{
	json_t *calls = json_object();

	for (size_t i = 0; i < WORKLOAD_NUM_CALLS; i++)
		json_object_set_new(
			calls, workload_call_name((enum workload_call)i),
			json_pack("{s:I, s:I}", "calls",
				  (json_int_t)step->calls[i].num, "bytes",
				  (json_int_t)step->calls[i].bytes));
	return calls;
}

static json_t *buckets_json(const struct prediction *p,
			    const struct prediction_row *row)
{
	json_t *buckets = json_array();

	for (size_t b = 0; b < shown_buckets(&row->step); b++) {
		const struct library_estimate choice = choice_of(p, row, b);

		json_array_append_new(
			buckets,
			json_pack("{s:I, s:s, s:s}", "bytes",
				  (json_int_t)row->step.bucket_bytes[b],
				  "algorithm", choice.algorithm, "protocol",
				  choice.protocol));
	}
	return buckets;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static struct dist__rows rows_of(const struct prediction *p)
{
	static const char columns[] =
		"world_size|ranks;step_ms;compute_ms;communication_ms|comm_ms;"
		"exposed_ms;"
		"idle_ms;efficiency;fidelity;low_ms;high_ms;engine|;samples_"
		"per_s|;gradient_bytes|;memory_bytes|;impossible|;calls|;"
		"buckets|;collectives|";
	const struct workload_setup *setup = p->request->setup;
	struct dist__rows rows = {.columns = columns};

	for (size_t i = 0; i < p->request->num_world_sizes; i++) {
		const struct prediction_row *row = &p->rows[i];
		const struct workload_result *step = &row->step;
		double step_ms = ms(step->step_ns);
		double samples =
			workload_samples(&setup->job, step->world_size);
		const char *impossible = row->physics.impossible;

		ADD_ROW(&rows, cell_int(step->world_size),
			cell_fixed(3, step_ms),
			cell_fixed(3, ms(step->compute_ns)),
			cell_fixed(3, ms(row->alone.step_ns)),
			cell_fixed(3, ms(step->exposed_ns)),
			cell_fixed(3, ms(step->idle_ns)),
			cell_fixed(4, step_ms > 0
					      ? ms(step->compute_ns) / step_ms
					      : 1),
			cell_text(dist__fidelity_name(row->fidelity)),
			cell_fixed(3, step_ms / row->interval.factor),
			cell_fixed(3, step_ms * row->interval.factor),
			cell_text(dist__tally_engine(&row->tally)),
			cell_real(step_ms > 0 ? samples / step_ms * 1e3 : 0),
			cell_size(setup->model.numel * sizeof(float)),
			cell_int((int64_t)row->physics.memory_bytes),
			cell_text(*impossible ? impossible : NULL),
			cell_json(calls_json(step)),
			cell_json(buckets_json(p, row)),
			cell_json(tally_json(&row->tally)));
	}
	return rows;
}

/* ---- forms -------------------------------------------------------------- */

int prediction_print(const struct prediction *p,
		     const struct explanation *explanation,
		     enum dist__form form, FILE *out)
{
	json_t *conditions = conditions_of(p);
	struct dist__rows rows = rows_of(p);
	int status;

	if (form == FORM_JSON)
		return dist__json_print(
			json_pack("{s:o, s:o, s:o*}", "conditions", conditions,
				  "rows", dist__rows_json(&rows),
				  "critical_path",
				  explanation_json(explanation)),
			out);
	conditions_print(conditions, form, out);
	for (size_t i = 0; i < p->request->num_world_sizes; i++)
		print_notes(p, &p->rows[i], form, out);
	fputs(form == FORM_MARKDOWN ? "\n" : "", out);
	status = dist__rows_print(&rows, form, out);
	dist__rows_release(&rows);
	/* Which rows are no answers. */
	for (size_t i = 0; i < p->request->num_world_sizes; i++)
		if (p->rows[i].physics.impossible[0])
			fprintf(out, "impossible with %d ranks: %s\n",
				p->rows[i].step.world_size,
				p->rows[i].physics.impossible);
	return status ? status
		      : explanation_print(explanation, false, form, out);
}

enum dist_error prediction_write_tsv(const struct prediction *p,
				     const char *path,
				     struct dist_message *message)
{
	struct dist__rows rows = rows_of(p);

	return conditions_write(conditions_of(p), &rows, path, message);
}
