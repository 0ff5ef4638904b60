#include "scenarios/tutorial/nn/random.h"

/* splitmix64: Steele, Lea and Flood, OOPSLA 2014. */
static uint64_t next(struct random_stream *stream)
{
	uint64_t x = stream->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

struct random_stream random_stream(uint64_t seed, uint64_t index)
{
	struct random_stream stream = {seed};

	stream.state = next(&stream) ^ index;
	stream.state = next(&stream);
	return stream;
}

size_t random_below(struct random_stream *stream, size_t limit)
{
	return (size_t)((next(stream) >> 32) * limit >> 32);
}

float random_uniform(struct random_stream *stream, float low, float high)
{
	/* The 24 bits that a float32 holds. */
	float unit = (float)(next(stream) >> 40) * 0x1p-24F;

	return low + (high - low) * unit;
}

float random_normal(struct random_stream *stream)
{
	float sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_uniform(stream, -0.5F, 0.5F);
	return sum;
}
