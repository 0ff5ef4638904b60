/* Parameters that a micro-batch does not use. */
#include "base/text.h"
#include "ddp/state.h"

#include <string.h>

#define FINISH "ddp_finish"

/* Whether parameter index should have been marked, and was not. */
static bool is_missing(const struct dist_ddp *ddp, size_t index)
{
	const struct dist__ddp_slot *slot = &ddp->slots[index];

	return !slot->ready && (!ddp->graph_known || slot->in_graph);
}

/* Writes the missing parameters, "0 (fc.weight), 1 (fc.bias)", the first few of
 * them; returns how many there are. */
static size_t list_missing(const struct dist_ddp *ddp, char *text, size_t size)
{
	enum { MOST = 4 };
	size_t num = 0, i;

	text[0] = '\0';
	for (i = 0; i < ddp->num; i++) {
		if (!is_missing(ddp, i) || num++ > MOST)
			continue;
		if (num > MOST)
			(void)dist__append(text, size, ", ...");
		else
			(void)dist__append(text, size, "%s%zu (%.24s)",
					   num > 1 ? ", " : "", i,
					   dist__ddp_name(ddp, i));
	}
	return num;
}

enum dist_error dist__ddp_check_used(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site)
{
	char names[160], place[64];
	size_t num;

	if (ddp->find_unused)
		return DIST_OK;
	if (ddp->static_graph && !ddp->graph_known) {
		size_t i;

		for (i = 0; i < ddp->num; i++) {
			struct dist__ddp_slot *slot = &ddp->slots[i];

			slot->in_graph = slot->ready;
			if (!slot->in_graph)
				ddp->buckets[slot->bucket].missing--;
		}
		ddp->graph_known = true;
		for (i = 0; i < ddp->partition.num_spans; i++)
			dist__ddp_describe(ddp, i);
		return DIST_OK;
	}
	num = list_missing(ddp, names, sizeof names);
	if (num == 0)
		return DIST_OK;
	dist__ddp_print_place(ddp, place, sizeof place);
	if (ddp->static_graph)
		return dist__ddp_refuse(ddp, site, FINISH,
					"the graph is not static: %s has no "
					"gradient of %s, of which the first "
					"micro-batch had one",
					place, names);
	return dist__ddp_refuse(ddp, site, FINISH,
				"%s has no gradient of %zu of %zu parameters: "
				"%s; expected all, or find_unused_parameters",
				place, num, ddp->num, names);
}

enum dist_error dist__ddp_share_used(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site)
{
	const char *what = "ddp's map of used parameters";
	enum dist_error error;
	size_t i;

	error = (dist_all_reduce)(dist__ddp_at_call(ddp, site, what),
				  dist_tensor(ddp->used, ddp->num, DIST_INT32),
				  DIST_SUM, NULL);
	if (error)
		return dist__ddp_failed(ddp, what, error);
	for (i = 0; i < ddp->num; i++)
		ddp->slots[i].averaged = ddp->used[i] > 0;
	memset(ddp->used, 0, ddp->num * sizeof *ddp->used);
	return DIST_OK;
}
