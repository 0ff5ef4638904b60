/* data.h - where the data that come with Lockstep lie. */
#ifndef LOCKSTEP_SCENARIOS_DATA_H
#define LOCKSTEP_SCENARIOS_DATA_H

#include <stddef.h>

/* data_path writes to path where file lies, a name such as "models/a.csv":
 * under $LOCKSTEP_DATA, else where Lockstep was built or installed. */
void data_path(char *path, size_t size, const char *file);

#endif
