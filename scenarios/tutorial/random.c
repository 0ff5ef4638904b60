#include "scenarios/tutorial/random.h"
#include "base/random.h"

struct random_stream random_stream(uint64_t seed, uint64_t index)
{
	struct random_stream stream = {seed};

	stream.state = dist__random_next(&stream.state) ^ index;
	stream.state = dist__random_next(&stream.state);
	return stream;
}

size_t random_below(struct random_stream *stream, size_t limit)
{
	return (size_t)((dist__random_next(&stream->state) >> 32) * limit >>
			32);
}

float random_uniform(struct random_stream *stream, float low, float high)
{
	/* The 24 bits that a float32 holds. */
	float unit =
		(float)(dist__random_next(&stream->state) >> 40) * 0x1p-24F;

	return low + (high - low) * unit;
}

float random_normal(struct random_stream *stream)
{
	float sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_uniform(stream, -0.5F, 0.5F);
	return sum;
}
