/* recording.c - reads the document of a Flight Recorder as calls: versions 2.1
 * to 2.10 of torch's format, and few of its fields. */
#define _GNU_SOURCE /* memmem */
#include "check/recorder/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "check/dump.h"

#define MOST_MINOR 10
/* What has no rank in it is one of a group of a job of so many, at most. */
#define MOST_RANKS CHECK_DUMP_MAX_WORLD
#define MOST_TEXT  4096
#define MOST_NS    INT64_C(4000000000000000000) /* of which two can be added */
#define BUDGET     (UINT64_C(1) << 28)

/* ---- what is refused ---------------------------------------------------- */

struct reader {
	struct recording *recording;
	struct recording_names *names;
	char *why;
	uint32_t entry;   /* that is being read */
	uint32_t nothing; /* the name "" */
	/* By name: the rank's group, and one described so, + 1. */
	uint32_t *named, *described, num_named;
	uint64_t budget; /* values that may still be looked at: one may be in
			    many places of a pickle */
};

static bool refuse(const struct reader *r, const char *where,
		   const char *expected)
{
	snprintf(r->why, PLAIN_WHY, "%s: expected %s", where, expected);
	return false;
}

static bool refuse_entry(const struct reader *r, const char *field,
			 const char *expected)
{
	char where[96];

	snprintf(where, sizeof where, "entries[%u].%s", r->entry, field);
	return refuse(r, where, expected);
}

static bool spend(struct reader *r, uint64_t values)
{
	if (values > r->budget)
		return refuse(r, "entries", "fewer values");
	r->budget -= values;
	return true;
}

static bool name_value(struct reader *r, const struct plain *value,
		       uint32_t *name)
{
	*name = r->nothing;
	if (value && value->kind == PLAIN_TEXT)
		*name = check_recording_name(
			r->names, value->text,
			value->size < MOST_TEXT ? value->size : MOST_TEXT);
	return *name != RECORDING_NONE || refuse(r, "entries", "memory");
}

/* ---- groups ------------------------------------------------------------- */

/* Makes room for what is known by the number of a name. */
static bool widen(struct reader *r, uint32_t name)
{
	uint32_t room = r->names->room, *named, *described;

	if (name < r->num_named)
		return true;
	named = realloc(r->named, room * sizeof *named);
	if (named)
		r->named = named;
	described = realloc(r->described, room * sizeof *described);
	if (described)
		r->described = described;
	if (!named || !described)
		return refuse(r, "pg_config", "memory");
	memset(named + r->num_named, 0, (room - r->num_named) * sizeof *named);
	memset(described + r->num_named, 0,
	       (room - r->num_named) * sizeof *described);
	r->num_named = room;
	return true;
}

/* The rank's group of that name, made if it is new; NULL: no memory. */
static struct recording_group *group_of(struct reader *r, uint32_t name,
					uint32_t desc)
{
	struct recording *recording = r->recording;
	uint32_t num = recording->num_groups;
	struct recording_group *groups;

	if (!widen(r, name) || !widen(r, desc))
		return NULL;
	if (r->named[name])
		return &recording->groups[r->named[name] - 1];
	if (!dist__array_grow(&recording->groups, num, sizeof *groups)) {
		(void)refuse(r, "pg_config", "memory");
		return NULL;
	}
	groups = recording->groups;
	groups[num] = (struct recording_group){.name = name, .desc = desc};
	recording->num_groups++;
	if (r->described[desc])
		groups[num].twins = groups[r->described[desc] - 1].twins = 1;
	r->described[desc] = r->named[name] = num + 1;
	return &groups[num];
}

/* Ranks are unique, and no larger than those of a job. */
static bool take_rank(uint32_t *ranks, uint32_t *num, unsigned char *seen,
		      uint64_t rank)
{
	if (rank >= MOST_RANKS || seen[rank / 8] & 1 << rank % 8)
		return false;
	seen[rank / 8] |= (unsigned char)(1 << rank % 8);
	ranks[(*num)++] = (uint32_t)rank;
	return true;
}

/* The next number in "[0, 1, 12]"; false: there is none, or what is there is
 * none. */
static bool next_number(const char **text, const char *end, uint64_t *number)
{
	const char *at = *text;

	while (at < end && (*at == '[' || *at == ',' || *at == ' '))
		at++;
	*text = at;
	for (*number = 0; at < end && *at >= '0' && *at <= '9'; at++)
		if (*number < MOST_RANKS)
			*number = 10 * *number + (uint64_t)(*at - '0');
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static bool take_ranks(const struct plain *value, uint32_t *ranks,
		       uint32_t *num, unsigned char *seen)
{
	const char *text, *end;
	uint64_t rank;

	if (value->kind == PLAIN_LIST) {
		for (uint32_t i = 0; i < value->size; i++)
			if (value->items[i]->kind != PLAIN_INTEGER ||
			    !take_rank(ranks, num, seen,
				       (uint64_t)value->items[i]->integer))
				return false;
		return true;
	}
	text = value->text;
	end = text + value->size;
	while (next_number(&text, end, &rank))
		if (!take_rank(ranks, num, seen, rank))
			return false;
	return text == end || (*text == ']' && text + 1 == end);
}

static bool read_ranks(struct reader *r, const struct plain *value,
		       struct recording_group *group)
{
	unsigned char *seen = calloc(1, MOST_RANKS / 8);
	uint32_t *ranks = NULL;
	bool good = true;

	if (!spend(r, (uint64_t)value->size + MOST_RANKS / 8 / 64)) {
		free(seen);
		return false;
	}
	if (value->kind != PLAIN_LIST && value->kind != PLAIN_TEXT)
		good = false;
	else
		ranks = calloc((size_t)value->size + 1, sizeof *ranks);
	if (ranks && seen)
		good = take_ranks(value, ranks, &group->num_ranks, seen);
	else if (good)
		group->num_ranks = 0;
	free(seen);
	group->ranks = ranks;
	return good || refuse(r, "pg_config", "the ranks of each group, once");
}

/* The default group has all ranks of the job, and so no other has more. */
static bool hold_to_default(struct reader *r)
{
	const struct recording *recording = r->recording;
	uint32_t num = 0;

	for (uint32_t i = 0; i < recording->num_groups; i++)
		if (strcmp(r->names->all[recording->groups[i].desc],
			   "default_pg") == 0)
			num = recording->groups[i].num_ranks;
	for (uint32_t i = 0; num && i < recording->num_groups; i++)
		for (uint32_t j = 0; j < recording->groups[i].num_ranks; j++)
			if (recording->groups[i].ranks[j] >= num)
				return refuse(r, "pg_config",
					      "ranks of the default group");
	return true;
}

static bool read_groups(struct reader *r, const struct plain *config)
{
	if (!config || config->kind == PLAIN_NONE)
		return true;
	if (config->kind != PLAIN_DICT)
		return refuse(r, "pg_config", "groups by name");
	for (uint32_t i = 0; i + 1 < config->size; i += 2) {
		const struct plain *about = config->items[i + 1];
		const struct plain *ranks = check_plain_find(about, "ranks");
		struct recording_group *group;
		uint32_t name, desc;

		if (!ranks || check_plain_is(ranks, "[]") ||
		    check_plain_is(ranks, ""))
			continue; /* gloo of torch 2.13 does not know */
		if (!name_value(r, config->items[i], &name) ||
		    !name_value(r, check_plain_find(about, "desc"), &desc))
			return false;
		group = group_of(r, name, desc);
		if (!group)
			return false;
		if (group->ranks)
			return refuse(r, "pg_config", "each group once");
		if (!read_ranks(r, ranks, group))
			return false;
	}
	return hold_to_default(r);
}

/* "process_group": [name, desc]; before 2.2 there is its number alone. */
static bool read_group(struct reader *r, const struct plain *value,
		       const struct plain *id, uint32_t *number)
{
	struct recording_group *group;
	uint32_t name, desc = r->nothing;
	char text[24];

	if (value && value->kind == PLAIN_LIST && value->size == 2) {
		if (!name_value(r, value->items[0], &name) ||
		    !name_value(r, value->items[1], &desc))
			return false;
	} else if (id && id->kind == PLAIN_INTEGER) {
		snprintf(text, sizeof text, "%lld", (long long)id->integer);
		name = check_recording_name(r->names, text, strlen(text));
		if (name == RECORDING_NONE)
			return refuse(r, "entries", "memory");
	} else {
		return refuse_entry(r, "process_group", "a name and a text");
	}
	group = group_of(r, name, desc);
	if (!group)
		return false;
	*number = (uint32_t)(group - r->recording->groups);
	return true;
}

/* ---- calls -------------------------------------------------------------- */

/* Which side of a call has as many elements on all ranks. */
enum side { NEITHER, INPUT, OUTPUT };

static const struct op {
	const char *name, *shown;
	enum side side;
} ops[] = {
	{"all_reduce", "all_reduce", INPUT},
	{"allreduce_coalesced", "all_reduce", INPUT},
	{"broadcast", "broadcast", INPUT},
	{"_broadcast_oop", "broadcast", OUTPUT},
	{"reduce", "reduce", INPUT},
	{"_reduce_oop", "reduce", INPUT},
	{"all_gather", "all_gather", INPUT},
	{"_all_gather_base", "all_gather_single", INPUT},
	{"all_gather_into_tensor", "all_gather_single", INPUT},
	{"all_gather_single", "all_gather_single", INPUT},
	{"all_gather_into_tensor_coalesced", "all_gather_single", INPUT},
	{"ALLGATHER_coalesced", "all_gather_single", INPUT},
	{"all_gather_v", "all_gather", NEITHER},
	{"reduce_scatter", "reduce_scatter", OUTPUT},
	{"_reduce_scatter_base", "reduce_scatter_single", OUTPUT},
	{"reduce_scatter_tensor", "reduce_scatter_single", OUTPUT},
	{"reduce_scatter_single", "reduce_scatter_single", OUTPUT},
	{"reduce_scatter_tensor_coalesced", "reduce_scatter_single", OUTPUT},
	{"REDUCE_SCATTER_coalesced", "reduce_scatter_single", OUTPUT},
	{"reduce_scatter_v", "reduce_scatter", NEITHER},
	{"gather", "gather", INPUT},
	{"scatter", "scatter", OUTPUT},
	{"all_to_all", "all_to_all", INPUT},
	{"all_to_all_single", "all_to_all", INPUT},
	{"all_to_all_v_single", "all_to_all", INPUT},
	{"alltoall", "all_to_all", INPUT},
	{"alltoall_base", "all_to_all", INPUT},
	{"barrier", "barrier", NEITHER},
	{"all_reduce_barrier", "barrier", NEITHER},
	{"send", "send", INPUT},
	{"recv", "recv", OUTPUT},
};

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* The elements of all tensors of a list of shapes. */
static bool count_elements(struct reader *r, const struct plain *sizes,
			   uint64_t *numel)
{
	uint64_t total = 0;

	*numel = 0;
	if (!sizes || sizes->kind != PLAIN_LIST)
		return true;
	for (uint32_t i = 0; i < sizes->size; i++) {
		const struct plain *shape = sizes->items[i];
		uint64_t n = 1;

		if (shape->kind != PLAIN_LIST)
			continue;
		if (!spend(r, (uint64_t)shape->size + 1))
			return false;
		for (uint32_t j = 0; j < shape->size; j++)
			if (shape->items[j]->kind == PLAIN_INTEGER)
				n = times(n,
					  (uint64_t)shape->items[j]->integer);
		total = total > UINT64_MAX - n ? UINT64_MAX : total + n;
	}
	*numel = total;
	return true;
}

static bool is_empty(const struct plain *list)
{
	return !list || list->kind != PLAIN_LIST || list->size == 0;
}

static bool read_dtype(struct reader *r, const struct plain *list,
		       uint32_t *name)
{
	const struct plain *value = is_empty(list) ? NULL : list->items[0];
	enum dist_dtype dtype = DIST_NUM_DTYPES;

	if (value && value->kind == PLAIN_TEXT)
		dtype = dist__torch_dtype_find(value->text, value->size);
	if (dtype == DIST_NUM_DTYPES)
		return name_value(r, value, name);
	*name = check_recording_name(r->names, dist_dtype_name(dtype),
				     strlen(dist_dtype_name(dtype)));
	return *name != RECORDING_NONE || refuse(r, "entries", "memory");
}

/* How much a call of that op carries, and of what. */
static bool read_tensors(struct reader *r, const struct plain *entry,
			 enum side side, struct recording_call *call)
{
	const struct plain *in = check_plain_find(entry, "input_sizes");
	const struct plain *out = check_plain_find(entry, "output_sizes");
	bool outer = side == OUTPUT;

	if (side != NEITHER && is_empty(outer ? out : in))
		outer = !outer;
	if (side != NEITHER &&
	    !count_elements(r, outer ? out : in, &call->numel))
		return false;
	return read_dtype(r,
			  side == NEITHER ? NULL
			  : outer ? check_plain_find(entry, "output_dtypes")
				  : check_plain_find(entry, "input_dtypes"),
			  &call->dtype);
}

/* "1->2" of a send, "2<-1" of a receive: the other end. */
static bool read_peer(struct reader *r, const char *text, const char *end,
		      struct recording_call *call)
{
	const struct recording_group *group =
		&r->recording->groups[call->group];
	uint64_t own, peer;

	if (!next_number(&text, end, &own) || end - text < 3 ||
	    memcmp(text, call->send ? "->" : "<-", 2) != 0)
		return refuse_entry(r, "profiling_name",
				    "\"send 1->2\" or \"recv 2<-1\"");
	text += 2;
	if (!next_number(&text, end, &peer) || text != end ||
	    peer >= (group->num_ranks ? group->num_ranks : MOST_RANKS))
		return refuse_entry(r, "profiling_name", "a rank of its group");
	call->peer = (int32_t)peer;
	return true;
}

/* "coalesced", "ALLGATHER_coalesced" */
static bool ends_batch(const char *name, size_t len)
{
	static const char end[] = "coalesced";
	size_t n = sizeof end - 1;

	return len >= n && memcmp(name + len - n, end, n) == 0 &&
	       (len == n || name[len - n - 1] == '_');
}

/* "nccl:all_reduce", "nccl:send 1->2" */
static bool read_op(struct reader *r, const struct plain *entry,
		    struct recording_call *call)
{
	const struct plain *name = check_plain_find(entry, "profiling_name");
	const char *text, *end, *colon, *space, *shown;
	const struct op *op = NULL;
	size_t len;

	if (!name || name->kind != PLAIN_TEXT || name->size == 0)
		return refuse_entry(r, "profiling_name", "the name of a call");
	text = name->text;
	end = text + name->size;
	colon = memchr(text, ':', name->size);
	if (colon) {
		snprintf(r->recording->backend, sizeof r->recording->backend,
			 "%.*s", (int)(colon - text), text);
		text = colon + 1;
	}
	if (strcmp(r->recording->backend, "gloo") == 0)
		r->recording->ordered = false;
	space = memchr(text, ' ', (size_t)(end - text));
	len = (size_t)((space ? space : end) - text);
	for (size_t i = 0; !op && i < sizeof ops / sizeof *ops; i++)
		if (strlen(ops[i].name) == len &&
		    memcmp(ops[i].name, text, len) == 0)
			op = &ops[i];
	shown = op ? op->shown : text;
	call->op =
		check_recording_name(r->names, shown, op ? strlen(shown) : len);
	if (call->op == RECORDING_NONE)
		return refuse(r, "entries", "memory");
	call->ends_batch = ends_batch(text, len);
	call->send = op && strcmp(op->name, "send") == 0;
	call->collective =
		!call->send && !(op && strcmp(op->name, "recv") == 0);
	if (!call->collective && space && !read_peer(r, space + 1, end, call))
		return false;
	return read_tensors(r, entry, op ? op->side : NEITHER, call);
}

/* Whether the file is of torch or Python. */
static bool is_below_program(const struct plain *file)
{
	static const char *const parts[] = {
		"-packages/torch/", "/torch/distributed/", "/torch/nn/",
		"/torch/utils/",    "/torch/autograd/",    "/torch/optim/",
		"/torch/_",         "/torch/csrc/",        "/torch/testing/",
		"/torch/cuda/"};
	static const char *const starts[] = {"torch/", "<frozen ", "??"};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (memmem(file->text, file->size, parts[i], strlen(parts[i])))
			return true;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (file->size >= strlen(starts[i]) &&
		    memcmp(file->text, starts[i], strlen(starts[i])) == 0)
			return true;
	/* Python's own library, such as multiprocessing. */
	if (memmem(file->text, file->size, "/lib/python3", 12) &&
	    !memmem(file->text, file->size, "-packages/", 10))
		return true;
	return file->size == 0;
}

static bool is_script(const struct plain *file)
{
	return file->size >= 3 &&
	       (memcmp(file->text + file->size - 3, ".py", 3) == 0 ||
		file->text[0] == '<'); /* "<stdin>", "<ipython-input-1>" */
}

/* The file of a frame of the program; NULL: it is below that, or has none. */
static const struct plain *file_of(const struct plain *frame)
{
	const struct plain *file = check_plain_find(frame, "filename");

	return file && file->kind == PLAIN_TEXT && file->size <= MOST_TEXT &&
			       !is_below_program(file)
		       ? file
		       : NULL;
}

static bool name_line(struct reader *r, const struct plain *frame,
		      uint32_t *file, uint32_t *line)
{
	const struct plain *number = check_plain_find(frame, "line");

	if (number && number->kind == PLAIN_INTEGER && number->integer > 0 &&
	    number->integer <= INT32_MAX)
		*line = (uint32_t)number->integer;
	return name_value(r, check_plain_find(frame, "filename"), file);
}

/*
 * The line of whoever called torch, and the one of the script that led there:
 * the innermost in the file of the outermost frame. Frames go outwards.
 */
static bool read_site(struct reader *r, const struct plain *frames,
		      struct recording_call *call)
{
	const struct plain *site = NULL, *from = NULL, *script = NULL, *file;
	bool listed = frames && frames->kind == PLAIN_LIST;

	for (uint32_t i = 0; listed && i < frames->size; i++) {
		file = check_plain_find(frames->items[i], "filename");
		if (!spend(r, 2 + (file ? (uint64_t)file->size / 4 : 0)))
			return false;
		file = file_of(frames->items[i]);
		if (!file)
			continue;
		if (!site || (!script && is_script(file)))
			site = frames->items[i];
		if (is_script(file) && !check_plain_is(file, "<string>"))
			script = file;
	}
	for (uint32_t i = 0; script && i < frames->size; i++) {
		file = file_of(frames->items[i]);
		if (file && script->size == file->size &&
		    memcmp(script->text, file->text, script->size) == 0) {
			from = frames->items[i];
			break;
		}
	}
	return name_line(r, site, &call->file, &call->line) &&
	       name_line(r, from == site ? NULL : from, &call->from_file,
			 &call->from_line);
}

/* A number of the entry, of the first of both names that it has; 0 for None,
 * or if it has neither. */
static bool read_number(const struct reader *r, const struct plain *entry,
			const char *name, const char *other, int64_t most,
			int64_t *number)
{
	const struct plain *value = check_plain_find(entry, name);

	if (!value && other)
		value = check_plain_find(entry, other);
	*number = 0;
	if (!value || value->kind == PLAIN_NONE)
		return true;
	if (value->kind != PLAIN_INTEGER || value->integer < 0 ||
	    value->integer > most)
		return refuse_entry(r, name, "a number, not too large");
	*number = value->integer;
	return true;
}

static bool read_times(struct reader *r, const struct plain *entry,
		       struct recording_call *call)
{
	const struct plain *state = check_plain_find(entry, "state");
	const struct plain *retired = check_plain_find(entry, "retired");
	int64_t created, started, completed, timeout;

	if (!read_number(r, entry, "time_created_ns", NULL, MOST_NS,
			 &created) ||
	    !read_number(r, entry, "time_discovered_started_ns", NULL, MOST_NS,
			 &started) ||
	    !read_number(r, entry, "time_discovered_completed_ns", NULL,
			 MOST_NS, &completed) ||
	    !read_number(r, entry, "timeout_ms", NULL, UINT32_MAX, &timeout))
		return false;
	call->created_ns = created;
	call->timeout_ms = (uint32_t)timeout;
	if (started || check_plain_is(state, "started"))
		call->state = RECORDING_STARTED;
	if (retired && retired->kind == PLAIN_BOOL && retired->integer)
		call->state = RECORDING_RETIRED;
	if (completed || check_plain_is(state, "completed"))
		call->state = RECORDING_OVER;
	return true;
}

static bool read_call(struct reader *r, const struct plain *entry,
		      struct recording_call *call)
{
	const struct plain *message = check_plain_find(entry, "is_p2p");
	bool batch_of_messages =
		message && message->kind == PLAIN_BOOL && message->integer;
	int64_t sequence, messages;

	*call = (struct recording_call){.peer = -1};
	if (!read_group(r, check_plain_find(entry, "process_group"),
			check_plain_find(entry, "pg_id"), &call->group) ||
	    !read_op(r, entry, call) || !read_times(r, entry, call) ||
	    !read_site(r, check_plain_find(entry, "frames"), call))
		return false;
	if (batch_of_messages)
		call->collective = 0;
	if (!read_number(r, entry,
			 call->collective ? "collective_seq_id" : "p2p_seq_id",
			 "seq_id", UINT32_MAX - 2, &sequence))
		return false;
	call->sequence = (uint32_t)sequence;
	if (!read_number(r, entry, "p2p_seq_id", NULL, UINT32_MAX - 2,
			 &messages))
		return false;
	call->messages = (uint32_t)messages;
	call->index = sequence > 0 ? (uint32_t)sequence - 1 : 0;
	return true;
}

/* ---- the document ------------------------------------------------------- */

static bool read_version(struct reader *r, const struct plain *version)
{
	char text[16], *end = text;
	unsigned long minor = 0;

	if (version && version->kind == PLAIN_TEXT && version->size < 16) {
		snprintf(text, sizeof text, "%.*s", (int)version->size,
			 version->text);
		if (strncmp(text, "2.", 2) == 0)
			minor = strtoul(text + 2, &end, 10);
	}
	return (minor >= 1 && minor <= MOST_MINOR && !*end) ||
	       refuse(r, "version",
		      "2.1 to 2.10, the dumps of a Flight Recorder that this "
		      "Lockstep reads");
}

static bool read_calls(struct reader *r, const struct plain *entries)
{
	struct recording *recording = r->recording;
	int64_t id, before = -1;

	if (!entries || entries->kind != PLAIN_LIST)
		return refuse(r, "entries", "a list of calls");
	recording->calls =
		malloc(((size_t)entries->size + 1) * sizeof *recording->calls);
	if (!recording->calls)
		return refuse(r, "entries", "memory");
	for (r->entry = 0; r->entry < entries->size; r->entry++) {
		const struct plain *entry = entries->items[r->entry];

		if (entry->kind != PLAIN_DICT)
			return refuse(r, "entries", "objects");
		if (!spend(r, entry->size))
			return false;
		if (!read_number(r, entry, "record_id", NULL, INT64_MAX - 1,
				 &id) ||
		    !read_call(r, entry,
			       &recording->calls[recording->num_calls]))
			return false;
		recording->complete &= id == before + 1;
		before = id;
		recording->num_calls++;
	}
	return true;
}

bool check_recording_read(struct recording *recording, const struct plain *dump,
			  struct recording_names *names, char why[PLAIN_WHY])
{
	struct reader r = {.recording = recording,
			   .names = names,
			   .why = why,
			   .budget = BUDGET};
	bool good;

	if (dump->kind != PLAIN_DICT)
		return refuse(&r, "a dump of a Flight Recorder",
			      "a dict, or an object");
	r.nothing = check_recording_name(names, "", 0);
	if (r.nothing == RECORDING_NONE)
		return refuse(&r, "entries", "memory");
	recording->complete = recording->ordered = true;
	good = read_version(&r, check_plain_find(dump, "version")) &&
	       read_groups(&r, check_plain_find(dump, "pg_config")) &&
	       read_calls(&r, check_plain_find(dump, "entries"));
	free(r.named);
	free(r.described);
	if (!good)
		return false;
	return check_recording_settle(recording, names) ||
	       refuse(&r, "entries", "memory");
}

void check_recording_release(struct recording *recording)
{
	for (uint32_t i = 0; i < recording->num_groups; i++)
		free(recording->groups[i].ranks);
	free(recording->groups);
	free(recording->calls);
	*recording = (struct recording){.calls = NULL};
}
