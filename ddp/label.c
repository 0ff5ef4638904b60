/*
 * Labels of ddp's collectives: texts for verdicts, and hashes by which ranks
 * are found that put different gradients into equal buffers.
 *
 * The label has the step once the caller reports steps: ranks that meet in one
 * average in different steps have left out or repeated one. It does not have
 * the micro-batch: ranks may have different numbers of them. With uneven inputs
 * only the bucket itself counts.
 */
#include "ddp/state.h"
#include "base/hash.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	return dist__hash_bytes(hash, &number, sizeof number);
}

static uint64_t mix_parameter(uint64_t hash, const struct dist_ddp_parameter *p)
{
	const char *name = p->name ? p->name : "";

	hash = dist__hash_bytes(hash, name, strlen(name) + 1);
	hash = mix_number(hash, p->parameter.numel);
	return mix_number(hash, p->parameter.dtype);
}

const char *dist__ddp_name(const struct dist_ddp *ddp, size_t index)
{
	return ddp->params[index].name ? ddp->params[index].name : "?";
}

/* Lists names as far as there is room for one more and for what follows. */
struct list {
	char *text;
	size_t size;
	const char *separator;
	bool full;
};

static void list_name(struct list *list, const char *name)
{
	enum { FOLLOWING = 8 };
	size_t bytes = strlen(list->text) + strlen(list->separator) +
		       strlen(name) + FOLLOWING;

	if (list->full)
		return;
	list->full = bytes >= list->size;
	(void)dist__append(list->text, list->size, "%s%s", list->separator,
			   list->full ? "..." : name);
	list->separator = ", ";
}

/* Lists the members of span that the graph uses, or that it does not, after
 * first. Returns whether there are any. */
static bool list_members(const struct dist_ddp *ddp,
			 const struct dist__ddp_span *span,
			 struct dist__ddp_bucket *bucket, bool used,
			 const char *first)
{
	struct list list = {bucket->text, sizeof bucket->text, first, false};
	size_t i;

	for (i = 0; i < span->num; i++) {
		size_t index = ddp->partition.members[span->first + i];
		bool in_graph = !ddp->graph_known || ddp->slots[index].in_graph;

		if (in_graph == used)
			list_name(&list, dist__ddp_name(ddp, index));
	}
	return list.separator != first;
}

void dist__ddp_describe(struct dist_ddp *ddp, size_t b)
{
	const struct dist__ddp_span *span = &ddp->partition.spans[b];
	struct dist__ddp_bucket *bucket = &ddp->buckets[b];
	bool unused;
	size_t i;

	bucket->terms = mix_number(DIST__HASH_BEGIN, b + 1);
	bucket->graph = DIST__HASH_BEGIN;
	for (i = 0; i < span->num; i++) {
		size_t index = ddp->partition.members[span->first + i];

		bucket->terms =
			mix_parameter(bucket->terms, &ddp->params[index]);
		bucket->graph =
			mix_number(bucket->graph, ddp->slots[index].in_graph);
	}
	snprintf(bucket->text, sizeof bucket->text, "bucket %zu (", b);
	unused = list_members(ddp, span, bucket, false, "unused: ");
	list_members(ddp, span, bucket, true, unused ? "; " : "");
	(void)dist__append(bucket->text, sizeof bucket->text, ")");
}

void dist__ddp_print_place(const struct dist_ddp *ddp, char *text, size_t size)
{
	const struct dist__ddp_place *place = &ddp->place;

	snprintf(text, size, "step %" PRIu64 ", micro-batch %" PRIu64,
		 place->steps_told ? place->steps : place->averages,
		 place->steps_told ? place->in_step : place->unaveraged);
}

static struct dist_group *label(struct dist_ddp *ddp,
				const struct dist__ddp_site *site,
				const char *text, uint64_t terms)
{
	return dist_label(dist_at(ddp->group, site->file, site->line), text,
			  terms);
}

struct dist_group *dist__ddp_at_bucket(struct dist_ddp *ddp,
				       const struct dist__ddp_site *site,
				       size_t b)
{
	const struct dist__ddp_bucket *bucket = &ddp->buckets[b];
	uint64_t terms = bucket->terms;
	char text[144], place[64];

	dist__ddp_print_place(ddp, place, sizeof place);
	snprintf(text, sizeof text, "%s of %s", bucket->text,
		 ddp->join.shadows ? "ranks with inputs left" : place);
	if (!ddp->join.on && ddp->graph_known)
		terms = mix_number(terms, bucket->graph);
	if (!ddp->join.on && ddp->place.steps_told)
		terms = mix_number(terms, ddp->place.steps);
	return label(ddp, site, text, terms);
}

struct dist_group *dist__ddp_at_parameters(struct dist_ddp *ddp,
					   const struct dist__ddp_site *site)
{
	static const char *const hook_names[] = {
		[DIST_DDP_ALLREDUCE] = "",
		[DIST_DDP_FP16_COMPRESS] = ", fp16_compress",
		[DIST_DDP_BF16_COMPRESS] = ", bf16_compress"};
	char words[112];
	struct list list = {words, sizeof words, "", false};
	uint64_t terms = DIST__HASH_BEGIN;
	size_t i;

	snprintf(words, sizeof words,
		 "ddp's %zu parameters in %zu bucket%s%s%s%s (", ddp->num,
		 ddp->partition.num_spans,
		 ddp->partition.num_spans == 1 ? "" : "s",
		 ddp->find_unused ? ", find_unused_parameters" : "",
		 ddp->static_graph ? ", static_graph" : "",
		 hook_names[ddp->hook]);
	for (i = 0; i < ddp->num; i++)
		list_name(&list, dist__ddp_name(ddp, i));
	(void)dist__append(words, sizeof words, ")");
	for (i = 0; i < ddp->partition.num_spans; i++)
		terms = mix_number(terms, ddp->buckets[i].terms);
	terms = mix_number(terms, ddp->find_unused);
	terms = mix_number(terms, ddp->static_graph);
	terms = mix_number(terms, ddp->hook);
	return label(ddp, site, words, terms);
}

struct dist_group *dist__ddp_at_call(struct dist_ddp *ddp,
				     const struct dist__ddp_site *site,
				     const char *what)
{
	char text[144], place[64];

	dist__ddp_print_place(ddp, place, sizeof place);
	snprintf(text, sizeof text, "%s, %s", what, place);
	return label(ddp, site, text,
		     dist__hash_bytes(DIST__HASH_BEGIN, what, strlen(what)));
}
