/* dump_read.c - reading a dump. Nothing in it is believed: what the engine
 * takes as a place in an array is held against its size here. */
#include <string.h>

#include "check/dump.h"
#include "check/dump_fields.h"

/* Times are added to each other. */
#define MOST_NS ((int64_t)1 << 61)

struct reader {
	struct check_dump *dump;
	char *why; /* CHECK_WHY bytes */
};

static bool refuse(struct reader *r, const char *where, const char *expected)
{
	snprintf(r->why, CHECK_WHY, "%s: expected %s", where, expected);
	return false;
}

static bool is_rank(const struct reader *r, int64_t rank)
{
	return rank >= 0 && rank < r->dump->world_size;
}

static bool is_time(int64_t time_ns)
{
	return time_ns >= -MOST_NS && time_ns <= MOST_NS;
}

static bool read_call(struct reader *r, const json_t *object, const char *where,
		      struct check_call *call)
{
	if (!check_fields_read(check_call_fields, object, where, call, r->why))
		return false;
	if (!is_rank(r, call->leader) || call->peer < -1 ||
	    (call->peer_rank != -1 && !is_rank(r, call->peer_rank)) ||
	    (call->source != -1 && !is_rank(r, call->source)))
		return refuse(r, where, "ranks of the job");
	if (call->tag < -1)
		return refuse(r, where, "a tag of -1 or more");
	if (!is_time(call->issued_ns) || !is_time(call->ended_ns))
		return refuse(r, where, "times within 70 years");
	return true;
}

static bool read_calls(struct reader *r, const json_t *calls)
{
	struct check_slot *slot = &r->dump->slot;
	uint32_t dropped = check_dropped(slot);

	if (!json_is_array(calls))
		return refuse(r, "calls", "an array");
	for (size_t i = 0; i < json_array_size(calls); i++) {
		struct check_call call = {.number = 0};
		char where[32];

		snprintf(where, sizeof where, "calls[%zu]", i);
		if (!read_call(r, json_array_get(calls, i), where, &call))
			return false;
		if (call.number <= dropped || call.number > slot->calls ||
		    check_call_find(slot, call.number))
			return refuse(r, where,
				      "one of the last numbers, once");
		slot->ring[check_ring_place(slot, call.number)] = call;
	}
	return true;
}

static bool read_groups(struct reader *r, const json_t *groups)
{
	struct check_slot *slot = &r->dump->slot;

	if (!json_is_array(groups) || json_array_size(groups) > CHECK_GROUPS)
		return refuse(r, "groups", "an array, not too long");
	for (size_t i = 0; i < json_array_size(groups); i++) {
		struct check_membership *own = &slot->memberships[i];
		char where[32];

		snprintf(where, sizeof where, "groups[%zu]", i);
		if (!check_fields_read(check_membership_fields,
				       json_array_get(groups, i), where, own,
				       r->why))
			return false;
		if (!is_rank(r, own->leader) ||
		    check_membership_find(slot, own->group_id))
			return refuse(r, where,
				      "a group of its own, led by a rank");
		slot->groups++;
	}
	return true;
}

static bool read_kinds(struct reader *r, const json_t *kinds)
{
	struct check_slot *slot = &r->dump->slot;

	if (!json_is_array(kinds) || json_array_size(kinds) > CHECK_KINDS)
		return refuse(r, "kinds", "an array, not too long");
	for (size_t i = 0; i < json_array_size(kinds); i++) {
		struct check_kind *kind = &slot->kind[i];
		char where[32];

		snprintf(where, sizeof where, "kinds[%zu]", i);
		if (!check_fields_read(check_kind_fields,
				       json_array_get(kinds, i), where, kind,
				       r->why))
			return false;
		if (kind->peer != -1 && !is_rank(r, kind->peer))
			return refuse(r, where, "a peer of the job, or -1");
		slot->kinds++;
	}
	return true;
}

/* An array of at most `most` numbers. */
static bool read_numbers(struct reader *r, const json_t *array,
			 const char *where, uint32_t *numbers, uint32_t most)
{
	if (!json_is_array(array) || json_array_size(array) > most)
		return refuse(r, where, "an array, not too long");
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *value = json_array_get(array, i);
		json_int_t number = json_integer_value(value);

		if (!json_is_integer(value) || number < 0 ||
		    number > UINT32_MAX)
			return refuse(r, where, "integers of 32 bits");
		numbers[i] = (uint32_t)number;
	}
	return true;
}

static bool read_parts(struct reader *r, const json_t *object)
{
	struct check_parts *parts = &r->dump->slot.parts;

	if (json_is_null(object))
		return true;
	if (!check_fields_read(check_parts_fields, object, "parts", parts,
			       r->why))
		return false;
	if (parts->count > CHECK_PARTS || parts->rank >= parts->count)
		return refuse(r, "parts", "a rank of a group, not too large");
	return read_numbers(r, json_object_get(object, "in"), "parts.in",
			    parts->in, parts->count) &&
	       read_numbers(r, json_object_get(object, "out"), "parts.out",
			    parts->out, parts->count);
}

static bool read_absent(struct reader *r, const json_t *array)
{
	struct check_meeting *meeting = &r->dump->slot.meeting;

	meeting->count = (uint32_t)json_array_size(array);
	return read_numbers(r, array, "absent", meeting->ranks, CHECK_ABSENT);
}

static bool read_hazard(struct reader *r, const json_t *object)
{
	struct check_hazard *hazard = &r->dump->slot.hazard;

	return json_is_null(object) ||
	       (check_fields_read(check_hazard_fields, object, "hazard", hazard,
				  r->why) &&
		read_call(r, json_object_get(object, "call"), "hazard.call",
			  &hazard->call) &&
		read_call(r, json_object_get(object, "other"), "hazard.other",
			  &hazard->other));
}

static bool read_refusal(struct reader *r, const json_t *object)
{
	struct check_refusal *refusal = &r->dump->slot.refusal;

	return json_is_null(object) ||
	       (check_fields_read(check_refusal_fields, object, "refusal",
				  refusal, r->why) &&
		read_call(r, json_object_get(object, "call"), "refusal.call",
			  &refusal->call));
}

/* The one of the calls held that may have left the ring. */
static bool read_kept(struct reader *r, const json_t *object)
{
	return json_is_null(object) ||
	       read_call(r, object, "kept", &r->dump->slot.kept);
}

static bool read_head(struct reader *r, const json_t *document)
{
	struct check_dump *dump = r->dump;
	const json_t *version = json_object_get(document, "version");
	const char *format =
		json_string_value(json_object_get(document, "format"));

	if (!format || strcmp(format, CHECK_DUMP_FORMAT) != 0)
		return refuse(r, "format", "\"" CHECK_DUMP_FORMAT "\"");
	if (json_integer_value(version) != CHECK_DUMP_VERSION) {
		snprintf(r->why, CHECK_WHY,
			 "version: expected %d, the one that this Lockstep "
			 "reads",
			 CHECK_DUMP_VERSION);
		return false;
	}
	if (!check_fields_read(check_dump_fields, document, "", dump, r->why))
		return false;
	if (dump->world_size < 1 || dump->world_size > CHECK_DUMP_MAX_WORLD ||
	    dump->rank >= dump->world_size)
		return refuse(r, "rank", "less than world_size");
	if (!is_time(dump->time_ns) || !is_time(dump->clock_ns))
		return refuse(r, "time_ns", "times within 70 years");
	return true;
}

static bool read_cause(struct reader *r, const json_t *object)
{
	struct check_cause *cause = &r->dump->cause;

	if (!check_fields_read(check_cause_fields, object, "cause", cause,
			       r->why))
		return false;
	return is_rank(r, cause->rank) ||
	       refuse(r, "cause.rank", "a rank of the job");
}

bool check_dump_read(FILE *in, struct check_dump *dump, char message[256])
{
	struct reader r = {dump, message};
	json_error_t error;
	json_t *document = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
	bool good;

	memset(dump, 0, sizeof *dump);
	if (!document) {
		snprintf(message, CHECK_WHY,
			 "line %d: expected a dump, in JSON: %.120s",
			 error.line, error.text);
		return false;
	}
	good = read_head(&r, document) &&
	       read_cause(&r, json_object_get(document, "cause")) &&
	       read_groups(&r, json_object_get(document, "groups")) &&
	       read_kinds(&r, json_object_get(document, "kinds")) &&
	       read_parts(&r, json_object_get(document, "parts")) &&
	       read_hazard(&r, json_object_get(document, "hazard")) &&
	       read_refusal(&r, json_object_get(document, "refusal")) &&
	       read_kept(&r, json_object_get(document, "kept")) &&
	       read_absent(&r, json_object_get(document, "absent")) &&
	       read_calls(&r, json_object_get(document, "calls"));
	json_decref(document);
	return good;
}
