/*
 * random.h - seeded pseudo-random numbers: the same on every machine, so that
 * ranks that share a seed agree without a message.
 */
#ifndef LOCKSTEP_TUTORIAL_RANDOM_H
#define LOCKSTEP_TUTORIAL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Where a sequence of numbers stands. */
struct random_stream {
	uint64_t state;
};

/* random_stream returns the beginning of the sequence that seed and index
 * name; sequences of different names are unrelated. */
struct random_stream random_stream(uint64_t seed, uint64_t index);

/* random_below returns a whole number from 0 to limit - 1; limit is 1 to
 * 2^32. */
size_t random_below(struct random_stream *stream, size_t limit);

/* random_uniform returns a number from low up to, but not, high. */
float random_uniform(struct random_stream *stream, float low, float high);

/* random_normal returns a number of mean 0 and variance 1, up to what the sum
 * of twelve uniform ones can tell. */
float random_normal(struct random_stream *stream);

#endif
