/* phantom_call.h - one collective without contents, by its kind, for tests of
 * times. */
#ifndef LOCKSTEP_TESTS_SUPPORT_PHANTOM_CALL_H
#define LOCKSTEP_TESTS_SUPPORT_PHANTOM_CALL_H

#include "core/op.h"

#define PHANTOM_RANKS 16 /* at most, of gather and scatter */

/* phantom_call makes a call of kind: of numel floats, or, where it has parts,
 * `each` for every rank. op is that of a reduce-scatter. */
enum dist_error phantom_call(struct dist_group *group, enum dist__op_kind kind,
			     size_t numel, size_t each, int root,
			     enum dist_reduce_op op);

/* phantom_start lets all ranks go on in one instant, at the next whole second:
 * they leave a barrier at different times where their ways differ. */
enum dist_error phantom_start(struct dist_group *group);

#endif
