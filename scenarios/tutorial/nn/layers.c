#include "scenarios/tutorial/nn/layers.h"

#include <math.h>
#include <string.h>

/* Products of matrices that lie row by row, for layers as small as these. Each
 * adds one to the rows x columns of c, which lies apart from a and b; every
 * element adds up depth products, in the same order in every run. There are:
 *   matrix_add_ab    rows x depth of a, depth x columns of b
 *   matrix_add_atb   depth x rows of a, depth x columns of b
 *   matrix_add_abt   rows x depth of a, columns x depth of b
 */

#define LANES 8 /* sums at a time, for the compiler to make vectors of */

/* Where an element lies: at row * of_row + column * of_column. */
struct layout {
	size_t of_row, of_column;
};

/* Adds a b, where a is laid out as layout says. */
static void add_rows(size_t rows, size_t columns, size_t depth, const float *a,
		     struct layout layout, const float *b, float *c)
{
	for (size_t i = 0; i < rows; i++) {
		float *restrict sum = c + i * columns;

		for (size_t k = 0; k < depth; k++) {
			const float *restrict row = b + k * columns;
			float factor =
				a[i * layout.of_row + k * layout.of_column];

			for (size_t j = 0; j < columns; j++)
				sum[j] += factor * row[j];
		}
	}
}

static float dot(const float *x, const float *y, size_t n)
{
	float parts[LANES] = {0}, sum = 0;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t l = 0; l < LANES; l++)
			parts[l] += x[i + l] * y[i + l];
	for (; i < n; i++)
		sum += x[i] * y[i];
	for (size_t l = 0; l < LANES; l++)
		sum += parts[l];
	return sum;
}

static void matrix_add_ab(size_t rows, size_t columns, size_t depth,
			  const float *a, const float *b, float *c)
{
	add_rows(rows, columns, depth, a, (struct layout){depth, 1}, b, c);
}

static void matrix_add_atb(size_t rows, size_t columns, size_t depth,
			   const float *a, const float *b, float *c)
{
	add_rows(rows, columns, depth, a, (struct layout){1, rows}, b, c);
}

static void matrix_add_abt(size_t rows, size_t columns, size_t depth,
			   const float *a, const float *b, float *c)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			c[i * columns + j] +=
				dot(a + i * depth, b + j * depth, depth);
}

/* ---- fully connected ---------------------------------------------------- */

void linear_forward(const struct layer *layer, const float *x, size_t rows,
		    float *y)
{
	size_t in = layer->inputs, out = layer->outputs;

	for (size_t r = 0; r < rows; r++)
		memcpy(y + r * out, layer->bias, out * sizeof(float));
	matrix_add_abt(rows, out, in, x, layer->weight, y);
}

void linear_backward(const struct layer *layer, const float *x, const float *dy,
		     size_t rows, float *dx)
{
	size_t in = layer->inputs, out = layer->outputs;

	matrix_add_atb(out, in, rows, dy, x, layer->weight_grad);
	for (size_t r = 0; r < rows; r++)
		for (size_t o = 0; o < out; o++)
			layer->bias_grad[o] += dy[r * out + o];
	if (!dx)
		return;
	memset(dx, 0, rows * in * sizeof(float));
	matrix_add_ab(rows, in, out, dy, layer->weight, dx);
}

/* ---- convolution -------------------------------------------------------- */

static size_t side_out(const struct conv_shape *shape)
{
	return shape->side - shape->kernel + 1;
}

/* Row (c, ky, kx) of the columns is channel c seen through the kernel's pixel
 * (ky, kx), line by line: the lines of the image, moved. Returns where in the
 * image a line of the columns begins. */
static size_t line_begin(const struct conv_shape *shape, size_t line)
{
	size_t y = line % side_out(shape), row = line / side_out(shape);
	size_t kernel = shape->kernel, c = row / (kernel * kernel);
	size_t ky = row / kernel % kernel, kx = row % kernel;

	return (c * shape->side + y + ky) * shape->side + kx;
}

static size_t num_lines(const struct layer *layer,
			const struct conv_shape *shape)
{
	return layer->inputs * side_out(shape);
}

void conv_forward(const struct layer *layer, const struct conv_shape *shape,
		  const float *x, float *columns, float *y)
{
	size_t in = layer->inputs, out = layer->outputs;
	size_t length = side_out(shape), n = length * length;

	for (size_t i = 0; i < num_lines(layer, shape); i++)
		memcpy(columns + i * length, x + line_begin(shape, i),
		       length * sizeof(float));
	for (size_t o = 0; o < out; o++)
		for (size_t i = 0; i < n; i++)
			y[o * n + i] = layer->bias[o];
	matrix_add_ab(out, n, in, layer->weight, columns, y);
}

void conv_backward(const struct layer *layer, const struct conv_shape *shape,
		   const float *dy, float *columns, float *dx)
{
	size_t in = layer->inputs, out = layer->outputs;
	size_t length = side_out(shape), n = length * length;

	matrix_add_abt(out, in, n, dy, columns, layer->weight_grad);
	for (size_t o = 0; o < out; o++)
		for (size_t i = 0; i < n; i++)
			layer->bias_grad[o] += dy[o * n + i];
	if (!dx)
		return;
	memset(columns, 0, in * n * sizeof(float));
	matrix_add_atb(in, n, out, layer->weight, dy, columns);
	memset(dx, 0,
	       shape->channels * shape->side * shape->side * sizeof(float));
	/* A pixel lies under the kernel several times; its gradients add up. */
	for (size_t i = 0; i < num_lines(layer, shape) * length; i++)
		dx[line_begin(shape, i / length) + i % length] += columns[i];
}

/* ---- pooling ------------------------------------------------------------ */

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

/* ---- ReLU and dropout --------------------------------------------------- */

void relu_forward(float *x, size_t num)
{
	for (size_t i = 0; i < num; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

void relu_backward(const float *y, float *dy, size_t num)
{
	for (size_t i = 0; i < num; i++)
		dy[i] = y[i] > 0 ? dy[i] : 0;
}

void dropout_draw(struct random_stream *stream, float *factors, size_t num)
{
	for (size_t i = 0; i < num; i++)
		factors[i] = stream ? 2 * (float)random_below(stream, 2) : 1;
}

void dropout_apply(const float *factors, size_t num, size_t size, float *x)
{
	for (size_t i = 0; i < num * size; i++)
		x[i] *= factors[i / size];
}

/* ---- loss --------------------------------------------------------------- */

void log_softmax(float *scores, size_t num)
{
	float max = scores[0], sum = 0;

	for (size_t i = 1; i < num; i++)
		max = fmaxf(max, scores[i]);
	for (size_t i = 0; i < num; i++)
		sum += expf(scores[i] - max);
	for (size_t i = 0; i < num; i++)
		scores[i] = scores[i] - max - logf(sum);
}

double nll_loss(const float *log_probs, size_t num, size_t label, float scale,
		float *d_scores)
{
	for (size_t i = 0; i < num; i++)
		d_scores[i] = scale * (expf(log_probs[i]) - (i == label));
	return -(double)log_probs[label];
}

double mse_loss(const float *y, const float *target, size_t num, size_t total,
		float *dy)
{
	double sum = 0;

	for (size_t i = 0; i < num; i++) {
		float difference = y[i] - target[i];

		sum += (double)difference * (double)difference;
		dy[i] = 2 * difference / (float)total;
	}
	return sum / (double)total;
}
