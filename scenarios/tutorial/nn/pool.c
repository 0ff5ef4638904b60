#include "scenarios/tutorial/nn/pool.h"

#include <string.h>

void pool_forward(const float *x, size_t channels, size_t side, float *y,
		  size_t *from)
{
	size_t half = side / 2;

	for (size_t i = 0; i < channels * half * half; i++) {
		/* Lines of all channels follow one another. */
		size_t corner = i / half * 2 * side + i % half * 2;
		const size_t square[] = {corner, corner + 1, corner + side,
					 corner + side + 1};

		from[i] = corner;
		for (size_t k = 1; k < 4; k++)
			if (x[square[k]] > x[from[i]])
				from[i] = square[k];
		y[i] = x[from[i]];
	}
}

void pool_backward(const float *dy, const size_t *from, size_t num_out,
		   float *dx, size_t num_in)
{
	memset(dx, 0, num_in * sizeof(float));
	for (size_t i = 0; i < num_out; i++)
		dx[from[i]] = dy[i];
}
