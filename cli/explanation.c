#include "cli/explanation.h"

#include <string.h>

#include "cli/critical.h"

/* What the steps of all workloads begin after: the last barrier of all. */
static int64_t find_start(const struct dist__trace *trace)
{
	int64_t start_ns = 0;

	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];

		if (strcmp(call->op, "barrier") == 0 &&
		    call->ended_ns > start_ns)
			start_ns = call->ended_ns;
	}
	return start_ns;
}

enum dist_error explanation_make(struct explanation *explanation, int ranks,
				 int64_t step_ns)
{
	explanation->ranks = ranks;
	explanation->from_ns = find_start(&explanation->trace);
	return dist__path_find(&explanation->trace, explanation->from_ns,
			       explanation->from_ns + step_ns,
			       &explanation->path);
}

int explanation_print(const struct explanation *explanation, bool in_parts,
		      enum dist__form form, FILE *out)
{
	if (explanation->ranks == 0)
		return 0;
	fprintf(out, "\nwith %d ranks, ", explanation->ranks);
	return in_parts ? critical_print_parts(&explanation->path, form, out)
			: critical_print(&explanation->path,
					 explanation->from_ns, form, out);
}

json_t *explanation_json(const struct explanation *explanation)
{
	json_t *object;

	if (explanation->ranks == 0)
		return NULL;
	object = critical_json(&explanation->path, explanation->from_ns);
	if (object)
		json_object_set_new(object, "world_size",
				    json_integer(explanation->ranks));
	return object;
}

void explanation_release(struct explanation *explanation)
{
	dist__path_release(&explanation->path);
	dist__trace_release(&explanation->trace);
	memset(explanation, 0, sizeof *explanation);
}
