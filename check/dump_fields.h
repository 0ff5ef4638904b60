/* dump_fields.h - the fields of a dump, as tables. Private to check/. */
#ifndef LOCKSTEP_CHECK_DUMP_FIELDS_H
#define LOCKSTEP_CHECK_DUMP_FIELDS_H

#include "check/fields.h"

/* Identifies a dump. */
#define CHECK_DUMP_FORMAT "lockstep dump"

/* struct check_dump without the slot; struct check_slot without the ring; the
 * struct check_call in the ring. */
extern const struct check_field check_dump_fields[];
extern const struct check_field check_slot_fields[];
extern const struct check_field check_call_fields[];

/* By the values of the enums; NULL ends each. */
extern const char *const check_rank_states[]; /* without CHECK_RANK_UNKNOWN */
extern const char *const check_call_states[];

#endif
