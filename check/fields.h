/*
 * fields.h - converts a struct to a JSON object and back, by one table of
 * members. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_FIELDS_H
#define LOCKSTEP_CHECK_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of an error message. */
#define CHECK_WHY 256

enum check_field_kind {
	CHECK_FIELD_UINT32,
	CHECK_FIELD_INT32,
	CHECK_FIELD_INT64,
	CHECK_FIELD_UINT64,       /* values above INT64_MAX become that */
	CHECK_FIELD_RANK,         /* uint32_t or int32_t: of the job */
	CHECK_FIELD_RANK_OR_NONE, /* int32_t: the same, or -1 */
	CHECK_FIELD_OR_NONE,      /* int32_t: -1 or more */
	CHECK_FIELD_TIME,         /* int64_t; two can be added */
	CHECK_FIELD_HASH,         /* uint64_t, as 16 hexadecimal digits */
	CHECK_FIELD_TEXT,         /* char[]; what is not UTF-8 becomes '?' */
	CHECK_FIELD_ENUM,         /* uint32_t, as one of names */
	CHECK_FIELD_BOOL,
	CHECK_FIELD_OBJECT,   /* a struct with a table of its own */
	CHECK_FIELD_NULLABLE, /* the same; null if its first member, a uint32_t,
				 is 0 */
	CHECK_FIELD_LIST      /* an array of such structs, or of uint32_t */
};

struct check_field {
	const char *name; /* NULL: the end of a table */
	enum check_field_kind kind;
	size_t offset;
	size_t size;                      /* bytes; LIST: of one element */
	const char *const *names;         /* ENUM, by number; ended by NULL */
	const struct check_field *fields; /* of a struct */
	/* LIST: capacity in elements, and the offset of the uint32_t that
	 * counts them. 0: all, except those whose first member is 0. */
	uint32_t most;
	size_t count;
	bool wraps;    /* the count may exceed the capacity */
	bool optional; /* added to the format later: 0 if missing */
};

#define CHECK_FIELD(KIND, type, member, NAME)                                  \
	.name = (NAME), .kind = CHECK_FIELD_##KIND,                            \
	.offset = offsetof(type, member),                                      \
	.size = sizeof(((type *)NULL)->member)
#define CHECK_FIELD_OF(KIND, type, member, NAME, table)                        \
	CHECK_FIELD(KIND, type, member, NAME), .fields = (table)
#define CHECK_FIELD_ARRAY(type, member, NAME, table)                           \
	.name = (NAME), .kind = CHECK_FIELD_LIST, .fields = (table),           \
	.offset = offsetof(type, member),                                      \
	.size = sizeof(((type *)NULL)->member[0]),                             \
	.most = sizeof(((type *)NULL)->member) /                               \
		sizeof(((type *)NULL)->member[0])

/* check_fields_add adds the members of *from to object. False: no memory, or an
 * ENUM without a name. */
bool check_fields_add(const struct check_field *fields, const void *from,
		      json_t *object);

/* check_fields_json returns them as a new object; NULL: as above. */
json_t *check_fields_json(const struct check_field *fields, const void *from);

/* check_fields_read sets the members of *to, which is zeroed; the job has
 * world_size ranks. Members that no table names are ignored. False: a member is
 * missing that is not optional, or has another type, or is out of range. why
 * then says so and begins with where. */
bool check_fields_read(const struct check_field *fields, const json_t *object,
		       uint32_t world_size, const char *where, void *to,
		       char why[CHECK_WHY]);

/* check_fields_mend applies the same limits to *to, a struct that another
 * process wrote: ranks, times, enums, counts. In texts, what is not UTF-8 or is
 * a control character becomes '?'. False: a member is out of range, or a text
 * has no end. */
bool check_fields_mend(const struct check_field *fields, void *to,
		       uint32_t world_size);

#endif
