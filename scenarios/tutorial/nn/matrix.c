#include "scenarios/tutorial/nn/matrix.h"

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

void matrix_add_ab(size_t rows, size_t columns, size_t depth, const float *a,
		   const float *b, float *c)
{
	add_rows(rows, columns, depth, a, (struct layout){depth, 1}, b, c);
}

void matrix_add_atb(size_t rows, size_t columns, size_t depth, const float *a,
		    const float *b, float *c)
{
	add_rows(rows, columns, depth, a, (struct layout){1, rows}, b, c);
}

void matrix_add_abt(size_t rows, size_t columns, size_t depth, const float *a,
		    const float *b, float *c)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			c[i * columns + j] +=
				dot(a + i * depth, b + j * depth, depth);
}
