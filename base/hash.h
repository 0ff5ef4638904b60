/* hash.h - hashes of bytes and words; not where somebody may want to construct
 * two equal ones. */
#ifndef LOCKSTEP_BASE_HASH_H
#define LOCKSTEP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The first value: FNV-1a's offset for 64 bits, draft-eastlake-fnv. */
#define DIST__HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* 2^64 / golden ratio: D. Knuth, The Art of Computer Programming 3, 6.4. */
#define DIST__HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* dist__hash_word adds a byte, or a number below 2^32, to an FNV-1a hash. */
static inline uint64_t dist__hash_word(uint64_t hash, uint32_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

/* dist__hash_bytes adds bytes to an FNV-1a hash. */
static inline uint64_t dist__hash_bytes(uint64_t hash, const void *data,
					size_t bytes)
{
	const unsigned char *byte = data;

	for (size_t i = 0; i < bytes; i++)
		hash = dist__hash_word(hash, byte[i]);
	return hash;
}

#endif
