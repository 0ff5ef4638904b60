/* shard.h - the part of a study's points that this process does. */
#ifndef LOCKSTEP_CLI_SHARD_H
#define LOCKSTEP_CLI_SHARD_H

#include <stdbool.h>
#include <stddef.h>

/* Part `part`, from 1, of `parts`. */
struct shard {
	int part;
	int parts;
};

/* shard_read reads "2/4". Returns false if text is not of that form. */
bool shard_read(struct shard *share, const char *text);

/* shard_inherit takes rank and size from srun's or mpirun's variables; without
 * them the part is all points. Returns false if they are invalid. */
bool shard_inherit(struct shard *share);

/* shard_has returns whether point number `place`, from 0, is in the part. */
bool shard_has(const struct shard *share, size_t place);

#endif
