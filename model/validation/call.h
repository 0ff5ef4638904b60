/* call.h - the measured call of a row, as a call of a library. */
#ifndef LOCKSTEP_MODEL_VALIDATION_CALL_H
#define LOCKSTEP_MODEL_VALIDATION_CALL_H

#include "model/library/library.h"
#include "model/measured/collectives.h"

/* call_of_row returns it; its texts are the row's. If the type is not stated,
 * or its size does not divide the bytes, elements are bytes. */
struct library_call call_of_row(const struct collective_row *row);

#endif
