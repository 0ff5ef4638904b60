/* call.h - the call that a row of a table timed, as a library is asked. */
#ifndef LOCKSTEP_MODEL_VALIDATION_CALL_H
#define LOCKSTEP_MODEL_VALIDATION_CALL_H

#include "model/library/library.h"
#include "model/measured/collectives.h"

/* call_of_row returns it; its texts are the row's. A size that is no multiple
 * of the type's, or of a type that is not stated, counts in bytes. */
struct library_call call_of_row(const struct collective_row *row);

#endif
