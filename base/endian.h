/* endian.h - little-endian numbers on the wire, on any machine. */
#ifndef LOCKSTEP_BASE_ENDIAN_H
#define LOCKSTEP_BASE_ENDIAN_H

#include <stdint.h>

/* No loops: the compiler makes one move of each function. */
static inline void dist__put32(unsigned char *out, uint32_t value)
{
	out[0] = (unsigned char)value;
	out[1] = (unsigned char)(value >> 8);
	out[2] = (unsigned char)(value >> 16);
	out[3] = (unsigned char)(value >> 24);
}

static inline void dist__put64(unsigned char *out, uint64_t value)
{
	dist__put32(out, (uint32_t)value);
	dist__put32(out + 4, (uint32_t)(value >> 32));
}

static inline uint32_t dist__get32(const unsigned char *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}

static inline uint64_t dist__get64(const unsigned char *in)
{
	return dist__get32(in) | (uint64_t)dist__get32(in + 4) << 32;
}

#endif
