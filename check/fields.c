#include "check/fields.h"

#include <stdio.h>
#include <string.h>

/* ---- writing ---------------------------------------------------------- */

/* Names may come cut in the middle of a character, or be none at all. */
static json_t *text_json(const char *text, size_t size)
{
	size_t len = strnlen(text, size);
	json_t *string = json_stringn(text, len);
	char copy[256];

	if (string || len >= sizeof copy)
		return string;
	for (size_t i = 0; i < len; i++)
		copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	return json_stringn(copy, len);
}

static json_t *hash_json(uint64_t hash)
{
	char digits[17];

	snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
	return json_string(digits);
}

static json_t *word_json(const char *const *words, uint32_t number)
{
	while (*words && number > 0) {
		words++;
		number--;
	}
	return *words ? json_string(*words) : NULL;
}

static json_t *member_json(const struct check_field *field, const void *member)
{
	uint64_t large;

	switch (field->kind) {
	case CHECK_FIELD_UINT32:
		return json_integer(*(const uint32_t *)member);
	case CHECK_FIELD_INT32:
		return json_integer(*(const int32_t *)member);
	case CHECK_FIELD_INT64:
		return json_integer(*(const int64_t *)member);
	case CHECK_FIELD_UINT64:
		large = *(const uint64_t *)member;
		return json_integer(large < INT64_MAX ? (json_int_t)large
						      : INT64_MAX);
	case CHECK_FIELD_HASH:
		return hash_json(*(const uint64_t *)member);
	case CHECK_FIELD_TEXT:
		return text_json(member, field->size);
	case CHECK_FIELD_WORD:
		return word_json(field->words, *(const uint32_t *)member);
	case CHECK_FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	}
	return NULL;
}

bool check_fields_write(const struct check_field *field, const void *from,
			json_t *object)
{
	for (; field->name; field++)
		if (json_object_set_new(
			    object, field->name,
			    member_json(field,
					(const char *)from + field->offset)))
			return false;
	return true;
}

/* ---- reading ---------------------------------------------------------- */

static bool read_integer(const json_t *value, json_int_t min, json_int_t max,
			 json_int_t *number)
{
	*number = json_integer_value(value);
	return json_is_integer(value) && *number >= min && *number <= max;
}

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

static bool read_word(const json_t *value, const char *const *words,
		      uint32_t *number)
{
	const char *word = json_string_value(value);

	for (*number = 0; word && words[*number]; ++*number)
		if (strcmp(words[*number], word) == 0)
			return true;
	return false;
}

static bool read_member(const struct check_field *field, const json_t *value,
			void *member)
{
	json_int_t number = 0;
	bool good = false;

	switch (field->kind) {
	case CHECK_FIELD_UINT32:
		good = read_integer(value, 0, UINT32_MAX, &number);
		*(uint32_t *)member = (uint32_t)number;
		break;
	case CHECK_FIELD_INT32:
		good = read_integer(value, INT32_MIN, INT32_MAX, &number);
		*(int32_t *)member = (int32_t)number;
		break;
	case CHECK_FIELD_INT64:
		good = read_integer(value, INT64_MIN, INT64_MAX, &number);
		*(int64_t *)member = number;
		break;
	case CHECK_FIELD_UINT64:
		good = read_integer(value, 0, INT64_MAX, &number);
		*(uint64_t *)member = (uint64_t)number;
		break;
	case CHECK_FIELD_HASH:
		return read_hash(value, member);
	case CHECK_FIELD_TEXT:
		return read_text(value, member, field->size);
	case CHECK_FIELD_WORD:
		return read_word(value, field->words, member);
	case CHECK_FIELD_BOOL:
		*(bool *)member = json_is_true(value);
		return json_is_boolean(value);
	}
	return good;
}

static const char *expected(const struct check_field *field)
{
	switch (field->kind) {
	case CHECK_FIELD_UINT32:
		return "an integer from 0 to 4294967295";
	case CHECK_FIELD_INT32:
		return "an integer of 32 bits";
	case CHECK_FIELD_INT64:
		return "an integer";
	case CHECK_FIELD_UINT64:
		return "an integer, 0 or more";
	case CHECK_FIELD_HASH:
		return "16 hexadecimal digits";
	case CHECK_FIELD_TEXT:
		return "a short text";
	case CHECK_FIELD_WORD:
		return "one of the words for it";
	case CHECK_FIELD_BOOL:
		return "true or false";
	}
	return "";
}

bool check_fields_read(const struct check_field *field, const json_t *object,
		       const char *where, void *to, char why[CHECK_WHY])
{
	for (; field->name; field++) {
		if (read_member(field, json_object_get(object, field->name),
				(char *)to + field->offset))
			continue;
		snprintf(why, CHECK_WHY, "%s%s%s: expected %s", where,
			 *where ? "." : "", field->name, expected(field));
		return false;
	}
	return true;
}
