/*
 * fields.h - the members of a struct as those of a JSON object, both ways, by
 * one table. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_FIELDS_H
#define LOCKSTEP_CHECK_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a message about what cannot be read. */
#define CHECK_WHY 256

enum check_field_kind {
	CHECK_FIELD_UINT32,
	CHECK_FIELD_INT32,
	CHECK_FIELD_INT64,
	CHECK_FIELD_UINT64, /* what does not fit int64_t is the largest */
	CHECK_FIELD_HASH,   /* uint64_t, as 16 hexadecimal digits */
	CHECK_FIELD_TEXT,   /* char[size]; what is no UTF-8 becomes '?' */
	CHECK_FIELD_WORD,   /* uint32_t, as one of words */
	CHECK_FIELD_BOOL
};

struct check_field {
	const char *name;
	enum check_field_kind kind;
	size_t offset;
	size_t size;              /* TEXT, with its final 0 */
	const char *const *words; /* WORD; ended by NULL */
};

#define CHECK_FIELD(kind, type, member, name)                                  \
	{                                                                      \
		(name), CHECK_FIELD_##kind, offsetof(type, member),            \
			sizeof(((type *)NULL)->member), NULL                   \
	}
#define CHECK_FIELD_OF(type, member, name, words)                              \
	{                                                                      \
		(name), CHECK_FIELD_WORD, offsetof(type, member), 0, (words)   \
	}

/* A table; fields ends with one whose name is NULL. */
#define CHECK_FIELDS_END                                                       \
	{                                                                      \
		NULL, CHECK_FIELD_INT32, 0, 0, NULL                            \
	}

/* check_fields_write adds the members of *from to object. False: no memory, or
 * a WORD that is none. */
bool check_fields_write(const struct check_field *fields, const void *from,
			json_t *object);

/* check_fields_read sets the members of *to. False: one is missing, of another
 * type or out of range, as why says, which begins with where. Members that no
 * table names are passed over. */
bool check_fields_read(const struct check_field *fields, const json_t *object,
		       const char *where, void *to, char why[CHECK_WHY]);

#endif
