/* dump.c - writes and reads a dump, and its path. */
#include "check/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/character.h"
#include "base/output.h"
#include "check/dump_fields.h"

/* ---- writing ------------------------------------------------------------ */

/* The calls in the ring, by age. */
static json_t *calls_json(const struct check_slot *slot)
{
	json_t *calls = json_array();

	for (uint32_t n = check_dropped(slot); n < slot->calls; n++) {
		const struct check_call *call = check_call_find(slot, n + 1);

		if (call)
			json_array_append_new(
				calls,
				check_fields_json(check_call_fields, call));
	}
	return calls;
}

bool check_dump_print(FILE *out, const struct check_dump *dump)
{
	json_t *calls = calls_json(&dump->slot);
	json_int_t dropped = (json_int_t)dump->slot.calls -
			     (json_int_t)json_array_size(calls);
	json_t *document = json_pack("{s:s, s:i}", "format", CHECK_DUMP_FORMAT,
				     "version", CHECK_DUMP_VERSION);
	bool good =
		document &&
		check_fields_add(check_dump_fields, dump, document) &&
		check_fields_add(check_slot_fields, &dump->slot, document) &&
		json_object_set_new(document, "calls_dropped",
				    json_integer(dropped)) == 0 &&
		json_object_set(document, "calls", calls) == 0 &&
		json_dumpf(document, out, JSON_INDENT(1)) == 0;

	json_decref(calls);
	json_decref(document);
	fputc('\n', out);
	return good;
}

/* ---- reading: nothing is believed --------------------------------------- */

static bool refuse(char *why, const char *where, const char *expected)
{
	snprintf(why, CHECK_WHY, "%s: expected %s", where, expected);
	return false;
}

static bool read_calls(struct check_dump *dump, const json_t *calls, char *why)
{
	struct check_slot *slot = &dump->slot;
	uint32_t dropped = check_dropped(slot);

	if (!json_is_array(calls))
		return refuse(why, "calls", "an array");
	for (size_t i = 0; i < json_array_size(calls); i++) {
		struct check_call call = {.number = 0};
		char where[32];

		snprintf(where, sizeof where, "calls[%zu]", i);
		if (!check_fields_read(check_call_fields,
				       json_array_get(calls, i),
				       dump->world_size, where, &call, why))
			return false;
		if (call.number <= dropped || call.number > slot->calls ||
		    check_call_find(slot, call.number))
			return refuse(why, where,
				      "one of the last numbers, once");
		slot->ring[check_ring_place(slot, call.number)] = call;
	}
	return true;
}

static bool read_head(struct check_dump *dump, const json_t *document,
		      char *why)
{
	const json_t *version = json_object_get(document, "version");
	const char *format =
		json_string_value(json_object_get(document, "format"));

	if (!format || strcmp(format, CHECK_DUMP_FORMAT) != 0)
		return refuse(why, "format", "\"" CHECK_DUMP_FORMAT "\"");
	if (json_integer_value(version) != CHECK_DUMP_VERSION) {
		snprintf(why, CHECK_WHY,
			 "version: expected %d, the one that this Lockstep "
			 "reads",
			 CHECK_DUMP_VERSION);
		return false;
	}
	if (!check_fields_read(check_dump_fields, document, 0, "", dump, why))
		return false;
	if (dump->world_size < 1 || dump->world_size > CHECK_DUMP_MAX_WORLD)
		return refuse(why, "world_size", "from 1 to 131072");
	if (dump->rank >= dump->world_size)
		return refuse(why, "rank", "less than world_size");
	return (dump->cause.rank >= 0 &&
		(uint32_t)dump->cause.rank < dump->world_size) ||
	       refuse(why, "cause.rank", "a rank of the job");
}

static bool is_out_of_place(const struct check_parts *parts)
{
	return parts->number && parts->rank >= parts->count;
}

static bool read_body(struct check_dump *dump, const json_t *document,
		      char *why)
{
	struct check_slot *slot = &dump->slot;

	if (!check_fields_read(check_slot_fields, document, dump->world_size,
			       "", slot, why))
		return false;
	for (uint32_t i = 0; i < check_num_memberships(slot); i++)
		if (check_membership_find(
			    slot, check_membership_at(slot, i)->group_id) !=
		    check_membership_at(slot, i))
			return refuse(why, "groups", "each group once");
	if (is_out_of_place(&slot->parts) ||
	    is_out_of_place(&slot->parts_before))
		return refuse(why, "parts", "a rank of a group, not too large");
	if (!read_calls(dump, json_object_get(document, "calls"), why))
		return false;
	return check_slot_mend(slot, dump->world_size) ||
	       refuse(why, "calls", "the records of a rank");
}

bool check_dump_read(FILE *in, struct check_dump *dump, char message[256])
{
	json_error_t error;
	json_t *document = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
	bool good;

	memset(dump, 0, sizeof *dump);
	if (!document) {
		snprintf(message, CHECK_WHY,
			 "line %d: expected a dump, in JSON: %.120s",
			 error.line, error.text);
		check_printable(message, strlen(message));
		return false;
	}
	good = read_head(dump, document, message) &&
	       read_body(dump, document, message);
	json_decref(document);
	return good;
}

/* ---- its place ---------------------------------------------------------- */

static bool has_rank(const char *pattern)
{
	return strstr(pattern, "%r") != NULL;
}

bool check_dump_path(const char *pattern, uint32_t rank, char *path,
		     size_t size)
{
	size_t used = 0;
	int len = 0;

	if (!has_rank(pattern)) {
		len = snprintf(path, size, "%s/rank%u" CHECK_DUMP_SUFFIX,
			       pattern, rank);
		return len > 0 && (size_t)len < size;
	}
	while (*pattern && used < size) {
		bool number = strncmp(pattern, "%r", 2) == 0;

		len = number ? snprintf(path + used, size - used, "%u", rank)
			     : snprintf(path + used, size - used, "%c",
					*pattern);
		used += (size_t)len;
		pattern += number ? 2 : 1;
	}
	return used < size;
}

/* The folder that the dumps of pattern lie in; the caller frees it. */
static char *folder_of(const char *pattern)
{
	char *folder = strdup(pattern), *slash;

	if (!folder || !has_rank(pattern))
		return folder;
	slash = strrchr(folder, '/');
	if (!slash)
		strcpy(folder, ".");
	else
		slash[slash == folder] = '\0';
	return folder;
}

bool check_dump_prepare(const char *pattern)
{
	char *folder = folder_of(pattern);
	struct stat status;
	bool good;

	if (!folder)
		return false;
	good = mkdir(folder, 0777) == 0 || errno == EEXIST;
	if (good && (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))) {
		errno = ENOTDIR;
		good = false;
	}
	good = good && access(folder, W_OK | X_OK) == 0;
	free(folder);
	return good;
}

static bool print(FILE *out, const void *arg)
{
	return check_dump_print(out, arg);
}

bool check_dump_save(const char *pattern, const struct check_dump *dump)
{
	struct dist_message unread;
	char path[4096];

	errno = ENAMETOOLONG;
	return check_dump_path(pattern, dump->rank, path, sizeof path) &&
	       !dist__output_write(path, print, dump, &unread);
}
