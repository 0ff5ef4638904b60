/* dump_fields.h - what a dump says, as tables. Private to check/. */
#ifndef LOCKSTEP_CHECK_DUMP_FIELDS_H
#define LOCKSTEP_CHECK_DUMP_FIELDS_H

#include "check/fields.h"

/* The word by which a dump is known. */
#define CHECK_DUMP_FORMAT "lockstep dump"

extern const struct check_field check_dump_fields[];  /* struct check_dump */
extern const struct check_field check_cause_fields[]; /* struct check_cause */
extern const struct check_field check_membership_fields[];
extern const struct check_field check_kind_fields[];
extern const struct check_field check_parts_fields[];
extern const struct check_field check_hazard_fields[];
extern const struct check_field check_refusal_fields[];
extern const struct check_field check_call_fields[];

#endif
