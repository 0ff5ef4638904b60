#include "check/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/character.h"

/* ---- writing ---------------------------------------------------------- */

/* Names may come cut in the middle of a character, or be none at all. */
static json_t *text_json(const char *text, size_t size)
{
	char copy[256];
	size_t len = strnlen(text, size < sizeof copy ? size : sizeof copy);

	memcpy(copy, text, len);
	check_printable(copy, len);
	return json_stringn(copy, len);
}

static json_t *hash_json(uint64_t hash)
{
	char digits[17];

	snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
	return json_string(digits);
}

/* The name of number; NULL: it has none. */
static const char *name_of(const char *const *names, uint32_t number)
{
	while (*names && number > 0) {
		names++;
		number--;
	}
	return *names;
}

static uint32_t number_at(const void *at)
{
	return *(const uint32_t *)at;
}

static json_t *list_json(const struct check_field *field, const char *from)
{
	uint32_t n = field->count ? number_at(from + field->count) : UINT32_MAX;
	const char *element = from + field->offset;
	json_t *list = json_array();
	bool good = list;

	for (uint32_t i = 0; good && i < n && i < field->most;
	     i++, element += field->size) {
		json_t *value = NULL;

		if (!field->count && number_at(element) == 0)
			continue;
		value = field->fields
				? check_fields_json(field->fields, element)
				: json_integer(number_at(element));
		good = json_array_append_new(list, value) == 0;
	}
	if (good)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *member_json(const struct check_field *field, const char *from)
{
	const void *member = from + field->offset;
	uint64_t large;

	switch (field->kind) {
	case CHECK_FIELD_UINT32:
		return json_integer(number_at(member));
	case CHECK_FIELD_INT32:
	case CHECK_FIELD_RANK:
	case CHECK_FIELD_RANK_OR_NONE:
	case CHECK_FIELD_OR_NONE:
		return json_integer(*(const int32_t *)member);
	case CHECK_FIELD_INT64:
	case CHECK_FIELD_TIME:
		return json_integer(*(const int64_t *)member);
	case CHECK_FIELD_UINT64:
		large = *(const uint64_t *)member;
		return json_integer(large < INT64_MAX ? (json_int_t)large
						      : INT64_MAX);
	case CHECK_FIELD_HASH:
		return hash_json(*(const uint64_t *)member);
	case CHECK_FIELD_TEXT:
		return text_json(member, field->size);
	case CHECK_FIELD_ENUM:
		return json_string(name_of(field->names, number_at(member)));
	case CHECK_FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	case CHECK_FIELD_NULLABLE:
		if (number_at(member) == 0)
			return json_null();
		return check_fields_json(field->fields, member);
	case CHECK_FIELD_OBJECT:
		return check_fields_json(field->fields, member);
	case CHECK_FIELD_LIST:
		return list_json(field, from);
	}
	return NULL;
}

bool check_fields_add(const struct check_field *field, const void *from,
		      json_t *object)
{
	for (; field->name; field++)
		if (json_object_set_new(object, field->name,
					member_json(field, from)))
			return false;
	return true;
}

json_t *check_fields_json(const struct check_field *fields, const void *from)
{
	json_t *object = json_object();

	if (object && check_fields_add(fields, from, object))
		return object;
	json_decref(object);
	return NULL;
}

/* ---- reading ---------------------------------------------------------- */

/* Times are added to each other. */
#define MOST_NS ((json_int_t)1 << 61)

struct reader {
	uint32_t world_size;
	char *why; /* CHECK_WHY bytes */
};

static bool read_hash(const json_t *value, uint64_t *hash)
{
	const char *digits = json_string_value(value);

	if (!digits || strlen(digits) != 16 ||
	    strspn(digits, "0123456789abcdef") != 16)
		return false;
	*hash = 0;
	for (; *digits; digits++)
		*hash = *hash << 4 |
			(uint64_t)(*digits <= '9' ? *digits - '0'
						  : *digits - 'a' + 10);
	return true;
}

static bool read_text(const json_t *value, char *text, size_t size)
{
	size_t len = json_string_length(value);

	if (!json_is_string(value) || len >= size ||
	    strlen(json_string_value(value)) != len)
		return false;
	memcpy(text, json_string_value(value), len + 1);
	return true;
}

static bool read_name(const json_t *value, const char *const *names,
		      uint32_t *number)
{
	const char *name = json_string_value(value);

	for (*number = 0; name && names[*number]; ++*number)
		if (strcmp(names[*number], name) == 0)
			return true;
	return false;
}

/* What a member has to be; an integer, in that range. */
static const struct {
	const char *expected;
	json_int_t min, max;
} kinds[] = {
	[CHECK_FIELD_UINT32] = {"an integer from 0 to 4294967295", 0,
				UINT32_MAX},
	[CHECK_FIELD_INT32] = {"an integer of 32 bits", INT32_MIN, INT32_MAX},
	[CHECK_FIELD_INT64] = {"an integer", INT64_MIN, INT64_MAX},
	[CHECK_FIELD_UINT64] = {"an integer, 0 or more", 0, INT64_MAX},
	[CHECK_FIELD_RANK] = {"a rank of the job", 0, INT32_MAX},
	[CHECK_FIELD_RANK_OR_NONE] = {"a rank of the job, or -1", -1,
				      INT32_MAX},
	[CHECK_FIELD_OR_NONE] = {"an integer, -1 or more", -1, INT32_MAX},
	[CHECK_FIELD_TIME] = {"a time within 70 years", -MOST_NS, MOST_NS},
	[CHECK_FIELD_HASH] = {.expected = "16 hexadecimal digits"},
	[CHECK_FIELD_TEXT] = {.expected = "a short text"},
	[CHECK_FIELD_ENUM] = {.expected = "one of the names for it"},
	[CHECK_FIELD_BOOL] = {.expected = "true or false"},
	[CHECK_FIELD_LIST] = {.expected = "an array, not too long"}};

static bool in_range(const struct check_field *field, uint32_t world_size,
		     json_int_t number)
{
	bool rank = field->kind == CHECK_FIELD_RANK ||
		    field->kind == CHECK_FIELD_RANK_OR_NONE;

	return number >= kinds[field->kind].min &&
	       number <= kinds[field->kind].max &&
	       (!rank || number < (json_int_t)world_size);
}

static bool read_fields(const struct reader *r, const struct check_field *field,
			const json_t *object, const char *where, char *to);

static bool read_list(const struct reader *r, const struct check_field *field,
		      const json_t *list, const char *where, char *to)
{
	size_t n = json_array_size(list);
	char *element = to + field->offset;

	if (field->count)
		*(uint32_t *)(void *)(to + field->count) = (uint32_t)n;
	for (size_t i = 0; i < n; i++, element += field->size) {
		const json_t *value = json_array_get(list, i);
		json_int_t number;
		char place[80];

		snprintf(place, sizeof place, "%.48s[%zu]", where, i);
		if (field->fields) {
			if (!read_fields(r, field->fields, value, place,
					 element))
				return false;
			continue;
		}
		number = json_integer_value(value);
		if (!json_is_integer(value) || number < 0 ||
		    number > UINT32_MAX) {
			snprintf(r->why, CHECK_WHY,
				 "%s: expected integers of 32 bits", where);
			return false;
		}
		*(uint32_t *)(void *)element = (uint32_t)number;
	}
	return true;
}

static bool read_number(const struct reader *r, const struct check_field *field,
			const json_t *value, void *member)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || !in_range(field, r->world_size, number))
		return false;
	if (field->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(int64_t *)member = number;
	return true;
}

/* A member that has no members of its own. */
static bool read_leaf(const struct reader *r, const struct check_field *field,
		      const json_t *value, void *member)
{
	switch (field->kind) {
	case CHECK_FIELD_HASH:
		return read_hash(value, member);
	case CHECK_FIELD_TEXT:
		return read_text(value, member, field->size);
	case CHECK_FIELD_ENUM:
		return read_name(value, field->names, member);
	case CHECK_FIELD_BOOL:
		*(bool *)member = json_is_true(value);
		return json_is_boolean(value);
	default:
		return read_number(r, field, value, member);
	}
}

static bool read_member(const struct reader *r, const struct check_field *field,
			const json_t *value, const char *where, char *to)
{
	char *member = to + field->offset;

	switch (field->kind) {
	case CHECK_FIELD_NULLABLE:
		if (json_is_null(value))
			return true;
		return read_fields(r, field->fields, value, where, member);
	case CHECK_FIELD_OBJECT:
		return read_fields(r, field->fields, value, where, member);
	case CHECK_FIELD_LIST:
		if (json_is_array(value) &&
		    json_array_size(value) <= field->most)
			return read_list(r, field, value, where, to);
		break;
	default:
		if (read_leaf(r, field, value, member))
			return true;
	}
	snprintf(r->why, CHECK_WHY, "%s: expected %s", where,
		 kinds[field->kind].expected);
	return false;
}

static bool read_fields(const struct reader *r, const struct check_field *field,
			const json_t *object, const char *where, char *to)
{
	for (; field->name; field++) {
		const json_t *value = json_object_get(object, field->name);
		char place[96];

		snprintf(place, sizeof place, "%s%s%s", where,
			 *where ? "." : "", field->name);
		if ((value || !field->optional) &&
		    !read_member(r, field, value, place, to))
			return false;
	}
	return true;
}

bool check_fields_read(const struct check_field *fields, const json_t *object,
		       uint32_t world_size, const char *where, void *to,
		       char why[CHECK_WHY])
{
	const struct reader r = {world_size, why};

	return read_fields(&r, fields, object, where, to);
}

/* ---- mending ------------------------------------------------------------ */

static bool mend_list(const struct check_field *field, char *to,
		      uint32_t world_size)
{
	uint32_t n = field->count ? number_at(to + field->count) : field->most;
	char *element = to + field->offset;

	if (n > field->most && !field->wraps)
		return false;
	for (uint32_t i = 0; field->fields && i < n && i < field->most;
	     i++, element += field->size)
		if (!check_fields_mend(field->fields, element, world_size))
			return false;
	return true;
}

static bool mend_text(char *text, size_t size)
{
	size_t len = strnlen(text, size);

	if (len < size)
		check_printable(text, len);
	return len < size;
}

static bool mend_member(const struct check_field *field, char *to,
			uint32_t world_size)
{
	char *member = to + field->offset;

	switch (field->kind) {
	case CHECK_FIELD_RANK:
		return number_at(member) < world_size;
	case CHECK_FIELD_RANK_OR_NONE:
	case CHECK_FIELD_OR_NONE:
		return in_range(field, world_size, *(int32_t *)(void *)member);
	case CHECK_FIELD_TIME:
		return in_range(field, world_size, *(int64_t *)(void *)member);
	case CHECK_FIELD_TEXT:
		return mend_text(member, field->size);
	case CHECK_FIELD_ENUM:
		return name_of(field->names, number_at(member)) != NULL;
	case CHECK_FIELD_OBJECT:
	case CHECK_FIELD_NULLABLE:
		return check_fields_mend(field->fields, member, world_size);
	case CHECK_FIELD_LIST:
		return mend_list(field, to, world_size);
	default:
		return true;
	}
}

bool check_fields_mend(const struct check_field *field, void *to,
		       uint32_t world_size)
{
	while (field->name && mend_member(field, to, world_size))
		field++;
	return !field->name;
}
