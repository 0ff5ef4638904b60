#include "check/dump_fields.h"

#include "check/dump.h"

/* By the numbers of the enums. */
const char *const check_rank_states[] = {"absent",   "running", "waiting",
					 "finished", "lost",    NULL};
const char *const check_call_states[] = {"none",   "issued", "done",
					 "failed", "queued", NULL};
static const char *const hazard_kinds[] = {"none", "written", "read", "shared",
					   NULL};

static const char *const rpc_states[] = {"none", "joined", "ending", "ended",
					 NULL};
static const char *const serving_states[] = {"none", "queued", "running", NULL};
static const char *const wait_states[] = {"none", "waiting", "failed", NULL};
static const char *const reference_kinds[] = {"none", "handle", "fork", "value",
					      NULL};

#define NAMED(type, kind, member, name)                                        \
	{                                                                      \
		CHECK_FIELD(kind, struct check_##type, member, name)           \
	}
#define FIELD(type, kind, member) NAMED(type, kind, member, #member)
#define OPTIONAL(type, kind, member, name)                                     \
	{                                                                      \
		CHECK_FIELD(kind, struct check_##type, member, name),          \
			.optional = true                                       \
	}
#define END                                                                    \
	{                                                                      \
		.name = NULL                                                   \
	}

const struct check_field check_call_fields[] = {
	FIELD(call, UINT32, number),
	{CHECK_FIELD(ENUM, struct check_call, state, "state"),
	 .names = check_call_states},
	FIELD(call, TEXT, op),
	FIELD(call, TEXT, dtype),
	FIELD(call, TEXT, reduce_op),
	FIELD(call, TEXT, group),
	FIELD(call, UINT32, group_id),
	FIELD(call, RANK, leader),
	FIELD(call, UINT32, index),
	FIELD(call, OR_NONE, peer),
	FIELD(call, RANK_OR_NONE, peer_rank),
	FIELD(call, RANK_OR_NONE, source),
	FIELD(call, OR_NONE, tag),
	FIELD(call, UINT32, generation),
	FIELD(call, INT32, error),
	FIELD(call, UINT64, numel),
	FIELD(call, HASH, terms),
	NAMED(call, TEXT, terms_text, "words"),
	FIELD(call, TEXT, label),
	FIELD(call, UINT32, held),
	FIELD(call, INT64, timeout_ns),
	FIELD(call, TIME, issued_ns),
	FIELD(call, TIME, ended_ns),
	NAMED(call, TEXT, site.file, "file"),
	NAMED(call, INT32, site.line, "line"),
	OPTIONAL(call, TEXT, from.file, "from_file"),
	OPTIONAL(call, INT32, from.line, "from_line"),
	END,
};

static const struct check_field cause_fields[] = {
	FIELD(cause, INT32, weight),
	FIELD(cause, INT32, rank),
	FIELD(cause, BOOL, lost),
	FIELD(cause, TEXT, how),
	END,
};

static const struct check_field membership_fields[] = {
	NAMED(membership, UINT32, group_id, "id"),
	FIELD(membership, RANK, leader),
	FIELD(membership, UINT32, collectives),
	FIELD(membership, UINT32, left),
	OPTIONAL(membership, UINT32, trail, "trail"),
	END,
};

static const struct check_field past_fields[] = {
	NAMED(past, UINT32, was.group_id, "id"),
	NAMED(past, RANK, was.leader, "leader"),
	NAMED(past, UINT32, was.collectives, "collectives"),
	NAMED(past, UINT32, was.trail, "trail"),
	FIELD(past, UINT32, generation),
	FIELD(past, UINT32, failed),
	END,
};

static const struct check_field kind_fields[] = {
	FIELD(kind, UINT32, group_id), FIELD(kind, RANK_OR_NONE, peer),
	FIELD(kind, INT32, tag),       FIELD(kind, UINT32, sends),
	FIELD(kind, UINT32, count),    END,
};

#define PARTS_ARRAY(member)                                                    \
	{                                                                      \
		CHECK_FIELD_ARRAY(struct check_parts, member, #member, NULL),  \
			.count = offsetof(struct check_parts, count)           \
	}

static const struct check_field parts_fields[] = {
	FIELD(parts, UINT32, number),
	FIELD(parts, UINT32, count),
	FIELD(parts, UINT32, rank),
	PARTS_ARRAY(in),
	PARTS_ARRAY(out),
	END,
};

static const struct check_field hazard_fields[] = {
	{CHECK_FIELD(ENUM, struct check_hazard, kind, "kind"),
	 .names = hazard_kinds},
	FIELD(hazard, UINT64, element),
	FIELD(hazard, UINT64, numel),
	FIELD(hazard, TEXT, buffer),
	FIELD(hazard, TEXT, given),
	FIELD(hazard, TEXT, function),
	NAMED(hazard, TEXT, access.file, "access_file"),
	NAMED(hazard, INT32, access.line, "access_line"),
	NAMED(hazard, TEXT, after.file, "after_file"),
	NAMED(hazard, INT32, after.line, "after_line"),
	NAMED(hazard, TEXT, until.file, "until_file"),
	NAMED(hazard, INT32, until.line, "until_line"),
	{CHECK_FIELD_OF(OBJECT, struct check_hazard, call, "call",
			check_call_fields)},
	{CHECK_FIELD_OF(OBJECT, struct check_hazard, other, "other",
			check_call_fields)},
	END,
};

static const struct check_field refusal_fields[] = {
	NAMED(refusal, TEXT, reason, "words"),
	FIELD(refusal, UINT32, after),
	FIELD(refusal, UINT32, count),
	{CHECK_FIELD_OF(OBJECT, struct check_refusal, call, "call",
			check_call_fields)},
	END,
};

static const struct check_field serving_fields[] = {
	{CHECK_FIELD(ENUM, struct check_serving, state, "state"),
	 .names = serving_states},
	FIELD(serving, UINT32, place),
	FIELD(serving, RANK, caller),
	FIELD(serving, HASH, call),
	FIELD(serving, TIME, since_ns),
	FIELD(serving, TEXT, function),
	END,
};

static const struct check_field rpc_wait_fields[] = {
	{CHECK_FIELD(ENUM, struct check_rpc_wait, state, "state"),
	 .names = wait_states},
	FIELD(rpc_wait, INT32, by),
	FIELD(rpc_wait, RANK_OR_NONE, worker),
	FIELD(rpc_wait, RANK, caller),
	FIELD(rpc_wait, HASH, call),
	FIELD(rpc_wait, UINT32, number),
	FIELD(rpc_wait, INT32, error),
	FIELD(rpc_wait, TIME, since_ns),
	FIELD(rpc_wait, TIME, ended_ns),
	FIELD(rpc_wait, INT64, timeout_ns),
	FIELD(rpc_wait, UINT32, gives_up),
	FIELD(rpc_wait, TEXT, op),
	FIELD(rpc_wait, TEXT, function),
	NAMED(rpc_wait, TEXT, site.file, "file"),
	NAMED(rpc_wait, INT32, site.line, "line"),
	END,
};

static const struct check_field reference_fields[] = {
	{CHECK_FIELD(ENUM, struct check_reference, kind, "kind"),
	 .names = reference_kinds},
	FIELD(reference, RANK, owner),
	FIELD(reference, TEXT, function),
	NAMED(reference, TEXT, site.file, "file"),
	NAMED(reference, INT32, site.line, "line"),
	END,
};

static const struct check_field remote_fields[] = {
	{CHECK_FIELD(ENUM, struct check_remote, state, "state"),
	 .names = rpc_states},
	FIELD(remote, UINT32, group_id),
	FIELD(remote, RANK, leader),
	NAMED(remote, UINT32, limit, "worker_threads"),
	FIELD(remote, TEXT, name),
	FIELD(remote, UINT32, servings_unknown),
	FIELD(remote, UINT32, waits_unknown),
	FIELD(remote, UINT32, references_unknown),
	FIELD(remote, UINT32, served),
	FIELD(remote, UINT32, failed),
	FIELD(remote, UINT32, moves),
	{CHECK_FIELD_ARRAY(struct check_remote, servings, "serving",
			   serving_fields)},
	{CHECK_FIELD_ARRAY(struct check_remote, waits, "waits",
			   rpc_wait_fields)},
	{CHECK_FIELD_ARRAY(struct check_remote, references, "references",
			   reference_fields)},
	END,
};

const struct check_field check_dump_fields[] = {
	FIELD(dump, TEXT, job),
	FIELD(dump, TEXT, world),
	FIELD(dump, UINT32, rank),
	FIELD(dump, UINT32, world_size),
	FIELD(dump, UINT32, attempt),
	FIELD(dump, TIME, time_ns),
	FIELD(dump, TIME, clock_ns),
	FIELD(dump, INT64, timeout_ns),
	{CHECK_FIELD_OF(OBJECT, struct check_dump, cause, "cause",
			cause_fields)},
	END,
};

#define ARRAY(member, name, table)                                             \
	CHECK_FIELD_ARRAY(struct check_slot, member, name, table)
#define COUNT(member) .count = offsetof(struct check_slot, member)

const struct check_field check_slot_fields[] = {
	FIELD(slot, TEXT, host),
	FIELD(slot, INT64, pid),
	NAMED(slot, TEXT, rendezvous.text, "rendezvous"),
	{ARRAY(rendezvous.ranks, "absent", NULL), COUNT(rendezvous.count)},
	{CHECK_FIELD(ENUM, struct check_slot, state, "state"),
	 .names = check_rank_states},
	FIELD(slot, UINT32, generation),
	NAMED(slot, UINT32, calls, "calls_made"),
	NAMED(slot, UINT32, held, "handles_held"),
	OPTIONAL(slot, UINT32, failed, "failed"),
	FIELD(slot, UINT32, waiting),
	OPTIONAL(slot, UINT32, looked_at, "looked_at"),
	OPTIONAL(slot, UINT32, overlooked, "overlooked"),
	OPTIONAL(slot, UINT32, parting, "parting"),
	NAMED(slot, TEXT, wait_site.file, "waiting_file"),
	NAMED(slot, INT32, wait_site.line, "waiting_line"),
	{ARRAY(memberships, "groups", membership_fields), COUNT(groups)},
	{ARRAY(more, "more_groups", membership_fields), COUNT(more_groups),
	 .optional = true},
	{ARRAY(past, "past_groups", past_fields), COUNT(pasts),
	 .optional = true, .wraps = true},
	{ARRAY(quiet, "last_in_groups", check_call_fields), .optional = true},
	{ARRAY(kind, "kinds", kind_fields), COUNT(kinds)},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, parts, "parts",
			parts_fields)},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, parts_before,
			"parts_before", parts_fields),
	 .optional = true},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, hazard, "hazard",
			hazard_fields)},
	{ARRAY(refusals, "refusals", refusal_fields), COUNT(refused),
	 .optional = true},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, kept, "kept",
			check_call_fields)},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, recalled, "recalled",
			check_call_fields),
	 .optional = true},
	{CHECK_FIELD_OF(NULLABLE, struct check_slot, remote, "remote",
			remote_fields),
	 .optional = true},
	OPTIONAL(slot, UINT32, stored.count, "stored"),
	OPTIONAL(slot, TEXT, stored.key, "stored_key"),
	OPTIONAL(slot, TEXT, stored.site.file, "stored_file"),
	OPTIONAL(slot, INT32, stored.site.line, "stored_line"),
	OPTIONAL(slot, TEXT, polled.key, "polled_key"),
	OPTIONAL(slot, TEXT, polled.site.file, "polled_file"),
	OPTIONAL(slot, INT32, polled.site.line, "polled_line"),
	{ARRAY(made, "groups_asked_for", check_call_fields), COUNT(num_made),
	 .optional = true, .wraps = true},
	OPTIONAL(slot, TEXT, crash.site.file, "crash_file"),
	OPTIONAL(slot, INT32, crash.site.line, "crash_line"),
	OPTIONAL(slot, TEXT, failure, "failure"),
	OPTIONAL(slot, TEXT, crash.function, "crash_function"),
	OPTIONAL(slot, TEXT, raised, "raised"),
	END,
};
