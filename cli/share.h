/* share.h - which part of many points this process is to do. */
#ifndef LOCKSTEP_CLI_SHARE_H
#define LOCKSTEP_CLI_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* Part `part`, from 1, of `parts`. */
struct share {
	int part;
	int parts;
};

/* share_read reads "2/4". Returns false when words are nothing of that kind. */
bool share_read(struct share *share, const char *words);

/* share_inherit takes rank and size from srun's or mpirun's variables; without
 * them the share is all there is. Returns false when they make no sense. */
bool share_inherit(struct share *share);

/* share_has returns whether the share holds the `place`-th of many, from 0. */
bool share_has(const struct share *share, size_t place);

#endif
