/* phantom_call.h - one collective without contents, by its kind, for tests of
 * times. */
#ifndef LOCKSTEP_TESTS_SUPPORT_PHANTOM_CALL_H
#define LOCKSTEP_TESTS_SUPPORT_PHANTOM_CALL_H

#include "core/op.h"

/* phantom_call makes a call of kind (another than those below: an all-to-all):
 * of numel floats, or, where it has parts, `each` for every rank. Rank 1 is the
 * root; op is that of a reduce-scatter. */
enum dist_error phantom_call(struct dist_group *group, enum dist__op_kind kind,
			     size_t numel, size_t each, enum dist_reduce_op op);

#endif
