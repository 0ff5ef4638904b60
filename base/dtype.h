/* dtype.h - torch's names of the element types; for ours see dist.h. */
#ifndef LOCKSTEP_BASE_DTYPE_H
#define LOCKSTEP_BASE_DTYPE_H

#include "lockstep/dist.h"

/* dist__torch_dtype returns the name that c10::ScalarType prints, "BFloat16";
 * "?": dtype is none. */
const char *dist__torch_dtype(enum dist_dtype dtype);

/* dist__torch_dtype_find returns the type with this name, of len bytes;
 * DIST_NUM_DTYPES: none. */
enum dist_dtype dist__torch_dtype_find(const char *name, size_t len);

#endif
