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
	CHECK_FIELD_UINT64,       /* what does not fit int64_t is the largest */
	CHECK_FIELD_RANK,         /* uint32_t or int32_t: of the job */
	CHECK_FIELD_RANK_OR_NONE, /* int32_t: the same, or -1 */
	CHECK_FIELD_OR_NONE,      /* int32_t: -1 or more */
	CHECK_FIELD_TIME,         /* int64_t, of which two can be added */
	CHECK_FIELD_HASH,         /* uint64_t, as 16 hexadecimal digits */
	CHECK_FIELD_TEXT,         /* char[]; what is no UTF-8 becomes '?' */
	CHECK_FIELD_ENUM,         /* uint32_t, as one of names */
	CHECK_FIELD_BOOL,
	CHECK_FIELD_OBJECT,   /* a struct with a table of its own */
	CHECK_FIELD_NULLABLE, /* the same, null where its first member is 0, a
				 uint32_t */
	CHECK_FIELD_LIST      /* an array of such structs, or of uint32_t */
};

struct check_field {
	const char *name; /* NULL: the end of a table */
	enum check_field_kind kind;
	size_t offset;
	size_t size;                      /* bytes; LIST: of one element */
	const char *const *names;         /* ENUM, by number; ended by NULL */
	const struct check_field *fields; /* of a struct */
	/* LIST: elements it has room for, and the offset of the uint32_t that
	 * counts them. 0: those are left out of which the first member is 0. */
	uint32_t most;
	size_t count;
	bool wraps;    /* the count goes on once there is no more room */
	bool optional; /* added to a format later: what is missing stays 0 */
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
 * ENUM of no name. */
bool check_fields_add(const struct check_field *fields, const void *from,
		      json_t *object);

/* check_fields_json returns an object of them; NULL: as above. */
json_t *check_fields_json(const struct check_field *fields, const void *from);

/* check_fields_read sets the members of *to, which is zeroed, of a job of
 * world_size ranks. False: one that is not optional is missing, or one is of
 * another type or out of range, as why says, which begins with where. Members
 * that no table names are passed over. */
bool check_fields_read(const struct check_field *fields, const json_t *object,
		       uint32_t world_size, const char *where, void *to,
		       char why[CHECK_WHY]);

/* check_fields_mend holds *to, a struct that somebody else wrote, against the
 * same: ranks, times, enums, counts. What text has that is no UTF-8, or a
 * control character, becomes '?'. False: one is out of range, or a text has no
 * end. */
bool check_fields_mend(const struct check_field *fields, void *to,
		       uint32_t world_size);

#endif
