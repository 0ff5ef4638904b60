/* report.c - writes the rank's calls into its records. */
#include <string.h>

#include "base/hash.h"
#include "check/record.h"
#include "core/state.h"

/* Writes down what every two ranks of an all-to-all must agree about. */
static void record_parts(const struct dist_group *group,
			 const struct dist__op *op, uint32_t number)
{
	int count = op->sides->in.count;
	struct check_parts *parts = NULL;

	if (count > 0)
		parts = check_parts_begin(group->place.slot,
					  group->members.rank, count);
	for (int i = 0; parts && i < count; i++)
		check_part(parts, i, dist__part(&op->sides->in, i).numel,
			   dist__part(&op->sides->out, i).numel);
	if (parts)
		check_parts_end(parts, number);
}

/* Of what is zeroed, and for less than snprintf() takes: every call pays. */
static void put(char *text, size_t size, const char *word)
{
	size_t len = strlen(word);

	memcpy(text, word, len < size ? len : size - 1);
}

/* Lengths that all ranks must agree on, where a list of parts has different
 * ones; their sum says nothing of them. */
static void record_lengths(struct check_call *call, const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);
	const struct dist__parts *parts = NULL;
	size_t first = 0;

	if (op->kind == DIST__ALL_GATHER)
		parts = &sides->out;
	else if (op->kind == DIST__REDUCE_SCATTER)
		parts = &sides->in;
	if (!parts || !parts->list)
		return;
	while ((int)first < parts->count &&
	       parts->list[first].numel == parts->list[0].numel)
		first++;
	if ((int)first == parts->count)
		return;
	call->terms = DIST__HASH_BEGIN;
	for (int i = 0; i < parts->count; i++)
		call->terms = dist__mix(call->terms, parts->list[i].numel);
	dist__lengths_describe("parts of", parts->list, (size_t)parts->count,
			       call->terms_text, sizeof call->terms_text);
}

static uint32_t form_of(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);

	if (op->kind != DIST__ALL_GATHER && op->kind != DIST__REDUCE_SCATTER &&
	    op->kind != DIST__ALL_TO_ALL)
		return CHECK_FORM_ONE;
	return sides->in.list || sides->out.list ? CHECK_FORM_LIST
						 : CHECK_FORM_SINGLE;
}

/* Names the arguments of op in *call; those of a purpose are its own. */
static void record_arguments(struct check_call *call, const struct dist__op *op)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;

	if (op->purpose) {
		call->terms = op->purpose->terms;
		memcpy(call->terms_text, op->purpose->text,
		       sizeof call->terms_text);
		return;
	}
	if (bundle->kind) {
		call->terms = dist__bundle_terms(bundle);
		dist__bundle_describe(bundle, call->terms_text,
				      sizeof call->terms_text);
	} else {
		record_lengths(call, op);
		call->form = form_of(op);
	}
	if (op->kind != DIST__BARRIER && op->kind != DIST__MONITORED_BARRIER)
		put(call->dtype, sizeof call->dtype,
		    dist_dtype_name(op->tensor.dtype));
	if (dist__op_reduces(op->kind))
		put(call->reduce_op, sizeof call->reduce_op,
		    dist_reduce_op_name(op->reduce_op));
}

static void describe(struct check_call *call, const struct dist_group *group,
		     const struct dist__op *op)
{
	const struct dist__members *members = &group->members;

	call->group_id = members->group_id;
	call->leader = (uint32_t)dist__global_rank(members, 0);
	call->peer = op->peer;
	call->peer_rank = dist__global_rank(members, op->peer);
	call->tag = op->tag;
	call->numel = dist__op_numel(op, members->world_size);
	call->timeout_ns = dist__op_timeout_ns(op);
	call->fingerprint = op->fingerprint;
	call->issued_ns = op->issued_ns;
	put(call->op, sizeof call->op,
	    dist__op_is_p2p(op->kind) ? dist__op_name(op->kind)
				      : dist__op_called(op));
	put(call->group, sizeof call->group, group->title);
	check_site_set(&call->site, op->site.file, op->site.line);
	if (op->from.file)
		check_site_set(&call->from, op->from.file, op->from.line);
	record_arguments(call, op);
}

/* Issues the draft. Returns its number. */
static uint32_t issue(const struct dist_group *group, struct dist__op *op)
{
	struct check_slot *slot = group->place.slot;
	uint32_t number = check_issue_draft(slot);

	op->index = check_call_find(slot, number)->index;
	if (op->kind == DIST__ALL_TO_ALL)
		record_parts(group, op, number);
	return number;
}

uint32_t dist__report_begin(const struct dist_group *group, struct dist__op *op,
			    const struct dist__label *label)
{
	struct check_call *call = check_draft(group->place.slot);

	describe(call, group, op);
	call->index = op->seq;
	if (label->terms && !dist__op_is_p2p(op->kind))
		call->terms = dist__mix(call->terms, label->terms);
	put(call->label, sizeof call->label, label->text);
	return issue(group, op);
}

void dist__report_wait(const struct dist_group *group,
		       const struct dist__op *op, const struct check_site *site)
{
	struct check_slot *slot = group->place.slot;
	struct check_call *call;

	if (!check_call_find(slot, op->call)) {
		call = check_recall(slot);
		describe(call, group, op);
		call->index = op->index;
		check_recalled(slot, op->call);
	}
	check_wait(slot, op->call, site);
}

void dist__report_making(const struct dist_group *parent,
			 const struct dist__purpose *purpose, uint32_t number,
			 int n)
{
	const struct dist__members *members = &parent->members;
	struct check_call call = {
		.group_id = members->group_id,
		.leader = (uint32_t)dist__global_rank(members, 0),
		.index = number,
		.tag = -1,
		.peer = -1,
		.peer_rank = -1,
		.source = -1,
		.numel = (uint64_t)n,
		.terms = purpose->terms};

	put(call.op, sizeof call.op, purpose->name);
	put(call.group, sizeof call.group, parent->title);
	memcpy(call.terms_text, purpose->text, sizeof call.terms_text);
	check_site_set(&call.site, parent->site.file, parent->site.line);
	if (parent->from.file)
		check_site_set(&call.from, parent->from.file,
			       parent->from.line);
	check_make(parent->place.slot, &call);
}

uint32_t dist__report_again(const struct dist_group *group, struct dist__op *op,
			    const struct check_call *call)
{
	struct check_call *draft = check_draft_like(group->place.slot, call);

	draft->index = op->seq;
	draft->timeout_ns = dist__op_timeout_ns(op);
	draft->issued_ns = op->issued_ns;
	return issue(group, op);
}

void dist__report_end(const struct dist_group *group, const struct dist__op *op)
{
	struct check_slot *slot = group->place.slot;

	if (dist__op_is_any(op) && op->source >= 0)
		check_source(slot, op->call,
			     dist__global_rank(&group->members, op->source));
	check_end(slot, op->call, op->error, op->ended_ns);
}
