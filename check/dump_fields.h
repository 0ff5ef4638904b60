/* dump_fields.h - what a dump says, as tables. Private to check/. */
#ifndef LOCKSTEP_CHECK_DUMP_FIELDS_H
#define LOCKSTEP_CHECK_DUMP_FIELDS_H

#include "check/fields.h"

/* By which a dump is recognised. */
#define CHECK_DUMP_FORMAT "lockstep dump"

/* Of struct check_dump all but the slot; of struct check_slot all but the ring,
 * which has calls of struct check_call. */
extern const struct check_field check_dump_fields[];
extern const struct check_field check_slot_fields[];
extern const struct check_field check_call_fields[];

/* By the numbers of the enums, ended by NULL. */
extern const char *const check_rank_states[]; /* but CHECK_RANK_UNKNOWN */
extern const char *const check_call_states[];

#endif
