/*
 * matrix.h - products of matrices that lie row by row, for layers as small as
 * the tutorials' are.
 */
#ifndef LOCKSTEP_TUTORIAL_NN_MATRIX_H
#define LOCKSTEP_TUTORIAL_NN_MATRIX_H

#include <stddef.h>

/*
 * Each adds a product to the rows x columns of c, which lies apart from a and
 * b; every element adds up depth products, in the same order in every run. Of a
 * and b lies there: matrix_add_ab    rows x depth of a, depth x columns of b
 *   matrix_add_atb   depth x rows of a, depth x columns of b
 *   matrix_add_abt   rows x depth of a, columns x depth of b
 */
void matrix_add_ab(size_t rows, size_t columns, size_t depth, const float *a,
		   const float *b, float *c);
void matrix_add_atb(size_t rows, size_t columns, size_t depth, const float *a,
		    const float *b, float *c);
void matrix_add_abt(size_t rows, size_t columns, size_t depth, const float *a,
		    const float *b, float *c);

#endif
