/* dump.c - writing a dump, and where; dump_read.c reads it. */
#include "check/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/dump_fields.h"
#include "check/file.h"

/* ---- the document ------------------------------------------------------- */

/* An object of the table's members; NULL: no memory. */
static json_t *object_of(const struct check_field *fields, const void *from)
{
	json_t *object = json_object();

	if (object && check_fields_write(fields, from, object))
		return object;
	json_decref(object);
	return NULL;
}

static json_t *groups_json(const struct check_slot *slot)
{
	json_t *groups = json_array();

	for (uint32_t i = 0; i < slot->groups && i < CHECK_GROUPS; i++)
		json_array_append_new(groups, object_of(check_membership_fields,
							&slot->memberships[i]));
	return groups;
}

static json_t *kinds_json(const struct check_slot *slot)
{
	json_t *kinds = json_array();

	for (uint32_t i = 0; i < slot->kinds && i < CHECK_KINDS; i++)
		json_array_append_new(
			kinds, object_of(check_kind_fields, &slot->kind[i]));
	return kinds;
}

static json_t *calls_json(const struct check_slot *slot, uint32_t *told)
{
	uint32_t n = check_dropped(slot);
	json_t *calls = json_array();

	for (*told = 0; n < slot->calls; n++) {
		const struct check_call *call = check_call_find(slot, n + 1);

		if (!call)
			continue;
		json_array_append_new(calls,
				      object_of(check_call_fields, call));
		++*told;
	}
	return calls;
}

static json_t *numbers_json(const uint32_t *numbers, uint32_t count,
			    uint32_t most)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < count && i < most; i++)
		json_array_append_new(array, json_integer(numbers[i]));
	return array;
}

static json_t *parts_json(const struct check_parts *parts)
{
	json_t *object;

	if (parts->number == 0)
		return json_null();
	object = object_of(check_parts_fields, parts);
	json_object_set_new(object, "in",
			    numbers_json(parts->in, parts->count, CHECK_PARTS));
	json_object_set_new(
		object, "out",
		numbers_json(parts->out, parts->count, CHECK_PARTS));
	return object;
}

static json_t *hazard_json(const struct check_hazard *hazard)
{
	json_t *object;

	if (hazard->kind == CHECK_HAZARD_NONE)
		return json_null();
	object = object_of(check_hazard_fields, hazard);
	json_object_set_new(object, "call",
			    object_of(check_call_fields, &hazard->call));
	json_object_set_new(object, "other",
			    object_of(check_call_fields, &hazard->other));
	return object;
}

static json_t *refusal_json(const struct check_slot *slot)
{
	json_t *object;

	if (!check_is_refused(slot))
		return json_null();
	object = object_of(check_refusal_fields, &slot->refusal);
	json_object_set_new(object, "call",
			    object_of(check_call_fields, &slot->refusal.call));
	return object;
}

static json_t *kept_json(const struct check_slot *slot)
{
	return slot->kept.number == 0
		       ? json_null()
		       : object_of(check_call_fields, &slot->kept);
}

bool check_dump_print(FILE *out, const struct check_dump *dump)
{
	const struct check_slot *slot = &dump->slot;
	json_t *document, *calls;
	uint32_t told;
	bool good;

	calls = calls_json(slot, &told);
	document = json_pack("{s:s, s:i}", "format", CHECK_DUMP_FORMAT,
			     "version", CHECK_DUMP_VERSION);
	good = document &&
	       check_fields_write(check_dump_fields, dump, document);
	good = json_object_update_new(
		       document,
		       json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
				 "s:o, s:o}",
				 "calls_dropped",
				 (json_int_t)slot->calls - told, "cause",
				 object_of(check_cause_fields, &dump->cause),
				 "groups", groups_json(slot), "kinds",
				 kinds_json(slot), "parts",
				 parts_json(&slot->parts), "hazard",
				 hazard_json(&slot->hazard), "refusal",
				 refusal_json(slot), "kept", kept_json(slot),
				 "absent",
				 numbers_json(slot->meeting.ranks,
					      slot->meeting.count,
					      CHECK_ABSENT),
				 "calls", calls)) == 0 &&
	       good;
	good = good && json_dumpf(document, out, JSON_INDENT(1)) == 0;
	json_decref(document);
	fputc('\n', out);
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
	char path[4096];

	errno = ENAMETOOLONG;
	return check_dump_path(pattern, dump->rank, path, sizeof path) &&
	       check_file_write(path, print, dump);
}
