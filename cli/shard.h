/* shard.h - which part of many points this process is to do. */
#ifndef LOCKSTEP_CLI_SHARD_H
#define LOCKSTEP_CLI_SHARD_H

#include <stdbool.h>
#include <stddef.h>

/* Part `part`, from 1, of `parts`. */
struct shard {
	int part;
	int parts;
};

/* shard_read reads "2/4". Returns false when words are nothing of that kind. */
bool shard_read(struct shard *share, const char *text);

/* shard_inherit takes rank and size from srun's or mpirun's variables; without
 * them the share is all there is. Returns false when they make no sense. */
bool shard_inherit(struct shard *share);

/* shard_has returns whether the share holds the `place`-th of many, from 0. */
bool shard_has(const struct shard *share, size_t place);

#endif
