#include "check/dump_fields.h"

#include "check/dump.h"

/* By the numbers of the enums. */
static const char *const rank_states[] = {"absent",   "running", "waiting",
					  "finished", "lost",    NULL};
static const char *const call_states[] = {"none", "issued", "done", "failed",
					  NULL};
static const char *const hazard_kinds[] = {"none", "written", "read", "shared",
					   NULL};

#define DUMP(kind, member, name)                                               \
	CHECK_FIELD(kind, struct check_dump, member, name)

const struct check_field check_dump_fields[] = {
	DUMP(TEXT, job, "job"),
	DUMP(TEXT, world, "world"),
	DUMP(TEXT, slot.host, "host"),
	DUMP(INT64, slot.pid, "pid"),
	DUMP(UINT32, rank, "rank"),
	DUMP(UINT32, world_size, "world_size"),
	DUMP(UINT32, attempt, "attempt"),
	DUMP(INT64, time_ns, "time_ns"),
	DUMP(INT64, clock_ns, "clock_ns"),
	DUMP(INT64, timeout_ns, "timeout_ns"),
	DUMP(TEXT, slot.meeting.words, "rendezvous"),
	CHECK_FIELD_OF(struct check_dump, slot.state, "state", rank_states),
	DUMP(UINT32, slot.generation, "generation"),
	DUMP(UINT32, slot.calls, "calls_made"),
	DUMP(UINT32, slot.held, "handles_held"),
	DUMP(UINT32, slot.waiting, "waiting"),
	DUMP(TEXT, slot.wait_site.file, "waiting_file"),
	DUMP(INT32, slot.wait_site.line, "waiting_line"),
	CHECK_FIELDS_END,
};

#define CAUSE(kind, member)                                                    \
	CHECK_FIELD(kind, struct check_cause, member, #member)

const struct check_field check_cause_fields[] = {
	CAUSE(INT32, weight), CAUSE(INT32, rank), CAUSE(BOOL, lost),
	CAUSE(TEXT, how),     CHECK_FIELDS_END,
};

#define MEMBERSHIP(member, name)                                               \
	CHECK_FIELD(UINT32, struct check_membership, member, name)

const struct check_field check_membership_fields[] = {
	MEMBERSHIP(group_id, "id"),
	MEMBERSHIP(leader, "leader"),
	MEMBERSHIP(collectives, "collectives"),
	MEMBERSHIP(left, "left"),
	CHECK_FIELDS_END,
};

#define KIND(kind, member, name)                                               \
	CHECK_FIELD(kind, struct check_kind, member, name)

const struct check_field check_kind_fields[] = {
	KIND(UINT32, group_id, "group_id"),
	KIND(INT32, peer, "peer"),
	KIND(INT32, tag, "tag"),
	KIND(UINT32, sends, "sends"),
	KIND(UINT32, count, "count"),
	CHECK_FIELDS_END,
};

#define PARTS(member) CHECK_FIELD(UINT32, struct check_parts, member, #member)

const struct check_field check_parts_fields[] = {
	PARTS(number),
	PARTS(count),
	PARTS(rank),
	CHECK_FIELDS_END,
};

#define HAZARD(kind, member)                                                   \
	CHECK_FIELD(kind, struct check_hazard, member, #member)

const struct check_field check_hazard_fields[] = {
	CHECK_FIELD_OF(struct check_hazard, kind, "kind", hazard_kinds),
	HAZARD(UINT64, element),
	HAZARD(UINT64, numel),
	HAZARD(TEXT, buffer),
	HAZARD(TEXT, given),
	HAZARD(TEXT, function),
	CHECK_FIELD(TEXT, struct check_hazard, access.file, "access_file"),
	CHECK_FIELD(INT32, struct check_hazard, access.line, "access_line"),
	CHECK_FIELDS_END,
};

const struct check_field check_refusal_fields[] = {
	CHECK_FIELD(TEXT, struct check_refusal, words, "words"),
	CHECK_FIELDS_END,
};

#define CALL(kind, member) CHECK_FIELD(kind, struct check_call, member, #member)

const struct check_field check_call_fields[] = {
	CALL(UINT32, number),
	CHECK_FIELD_OF(struct check_call, state, "state", call_states),
	CALL(TEXT, op),
	CALL(TEXT, dtype),
	CALL(TEXT, reduce_op),
	CALL(TEXT, group),
	CALL(UINT32, group_id),
	CALL(UINT32, leader),
	CALL(UINT32, index),
	CALL(INT32, peer),
	CALL(INT32, peer_rank),
	CALL(INT32, source),
	CALL(INT32, tag),
	CALL(UINT32, generation),
	CALL(INT32, error),
	CALL(UINT64, numel),
	CALL(HASH, terms),
	CALL(TEXT, words),
	CALL(TEXT, label),
	CALL(UINT32, held),
	CALL(INT64, timeout_ns),
	CALL(INT64, issued_ns),
	CALL(INT64, ended_ns),
	CHECK_FIELD(TEXT, struct check_call, site.file, "file"),
	CHECK_FIELD(INT32, struct check_call, site.line, "line"),
	CHECK_FIELDS_END,
};
