/* wire_fuzz.h - requests to a store, right and wrong, against what reads them.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_WIRE_FUZZ_H
#define LOCKSTEP_TESTS_SUPPORT_WIRE_FUZZ_H

#include <stdint.h>

/*
 * wire_fuzz_session talks to a session of a store's server, with a secret or
 * without, in requests that are mutated and cut into pieces by seed. Returns
 * NULL, or what the server did that it must not: an answer that is no parcel,
 * room for more than a request may have.
 */
const char *wire_fuzz_session(uint64_t seed);

/* wire_fuzz_file opens a file store, at path, of records mutated by seed.
 * Returns NULL, or what was wrong: an answer that is neither a store nor a
 * refusal. */
const char *wire_fuzz_file(uint64_t seed, const char *path);

#endif
