/*
 * types.c - one MPI type for each dtype, so that our reduce op knows from its
 * type argument which elements to combine.
 */
#include "realbackend/mpi/types.h"

#include <string.h>

#include "core/reduce.h"

/* A process has one MPI. */
static struct {
	size_t handle_bytes;
	uintptr_t types[DIST_NUM_DTYPES];
	uintptr_t ops[DIST_NUM_REDUCE_OPS];
} made;

static void combine(enum dist_reduce_op op, const void *in, void *inout,
		    int len, const void *type)
{
	enum dist_dtype dtype = 0;
	uintptr_t handle = 0;

	memcpy(&handle, type, made.handle_bytes);
	while (dtype < DIST_COMPLEX128 && made.types[dtype] != handle)
		dtype++;
	dist__reduce(dtype, op, inout, in, (size_t)len);
}

/* One function an op: MPI does not tell it which it is called for. */
#define COMBINE(name, op)                                                      \
	static void name(void *in, void *inout, int *len, void *type)          \
	{                                                                      \
		combine(op, in, inout, *len, type);                            \
	}
COMBINE(sum, DIST_SUM)
COMBINE(product, DIST_PRODUCT)
COMBINE(least, DIST_MIN)
COMBINE(most, DIST_MAX)
COMBINE(band, DIST_BAND)
COMBINE(bor, DIST_BOR)
COMBINE(bxor, DIST_BXOR)

static dist__mpi_combine *const functions[DIST_NUM_REDUCE_OPS] = {
	[DIST_SUM] = sum,   [DIST_PRODUCT] = product, [DIST_MIN] = least,
	[DIST_MAX] = most,  [DIST_BAND] = band,       [DIST_BOR] = bor,
	[DIST_BXOR] = bxor,
};

static int make_type(const struct dist__mpi *mpi, enum dist_dtype dtype)
{
	int status, bytes = (int)dist_dtype_size(dtype);

	made.types[dtype] = mpi->is.types[dtype];
	if (made.types[dtype])
		return 0;
	status = mpi->call.Type_contiguous(bytes, mpi->is.types[DIST_UINT8],
					   &made.types[dtype]);
	return status ? status : mpi->call.Type_commit(&made.types[dtype]);
}

enum dist_error dist__mpi_types_make(const struct dist__mpi *mpi,
				     struct dist_message *text)
{
	int status = 0;

	if (made.handle_bytes)
		return DIST_OK;
	for (enum dist_dtype d = 0; d < DIST_NUM_DTYPES && !status; d++)
		status = make_type(mpi, d);
	for (enum dist_reduce_op op = 0; op < DIST_NUM_REDUCE_OPS && !status;
	     op++)
		if (functions[op])
			status = mpi->call.Op_create(functions[op], 1,
						     &made.ops[op]);
	made.handle_bytes = mpi->is.handle_bytes;
	return dist__mpi_check(mpi, text, "MPI_Type_contiguous", status);
}

void dist__mpi_types_free(const struct dist__mpi *mpi)
{
	for (enum dist_dtype d = 0; d < DIST_NUM_DTYPES; d++)
		if (made.types[d] && !mpi->is.types[d])
			(void)mpi->call.Type_free(&made.types[d]);
	for (enum dist_reduce_op op = 0; op < DIST_NUM_REDUCE_OPS; op++)
		if (made.ops[op])
			(void)mpi->call.Op_free(&made.ops[op]);
	memset(&made, 0, sizeof made);
}

uintptr_t dist__mpi_type(enum dist_dtype dtype)
{
	return made.types[dtype];
}

/*
 * MPI's own ops may be faster than ours, and are what it is measured by. But it
 * leaves open what the lesser of a number and a NaN is; MPICH 4.0 takes the
 * lesser of uint8 and uint16 as if they had a sign; and Open MPI 4.1 adds these
 * up to the greatest number and no further, where the processor has AVX.
 */
static bool means_the_same(const struct dist__mpi *mpi, enum dist_reduce_op op,
			   enum dist_dtype dtype)
{
	return mpi->is.types[dtype] && dist_dtype_size(dtype) >= 4 &&
	       op != DIST_MIN && op != DIST_MAX;
}

uintptr_t dist__mpi_op(const struct dist__mpi *mpi, enum dist_reduce_op op,
		       enum dist_dtype dtype)
{
	if (op == DIST_AVG || op == DIST_PREMUL_SUM)
		op = DIST_SUM;
	return means_the_same(mpi, op, dtype) ? mpi->is.ops[op] : made.ops[op];
}
