/* endian.h - little-endian numbers on the wire, whatever the machine is. */
#ifndef LOCKSTEP_CORE_ENDIAN_H
#define LOCKSTEP_CORE_ENDIAN_H

#include <stdint.h>

static inline void dist__put32(unsigned char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

static inline void dist__put64(unsigned char *out, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

static inline uint32_t dist__get32(const unsigned char *in)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t)in[i] << (8 * i);
	return value;
}

static inline uint64_t dist__get64(const unsigned char *in)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)in[i] << (8 * i);
	return value;
}

#endif
