/* dtype.c - what the element types and reduction operators are called, and how
 * large an element is. */
#include "lockstep/dist.h"

static const struct {
	const char *name;
	size_t bytes;
} dtypes[] = {
	[DIST_FLOAT16] = {"float16", 2},
	[DIST_BFLOAT16] = {"bfloat16", 2},
	[DIST_FLOAT32] = {"float32", sizeof(float)},
	[DIST_FLOAT64] = {"float64", sizeof(double)},
	[DIST_INT8] = {"int8", sizeof(int8_t)},
	[DIST_UINT8] = {"uint8", sizeof(uint8_t)},
	[DIST_INT32] = {"int32", sizeof(int32_t)},
	[DIST_INT64] = {"int64", sizeof(int64_t)},
	[DIST_BOOL] = {"bool", 1},
	[DIST_INT16] = {"int16", sizeof(int16_t)},
	[DIST_UINT16] = {"uint16", sizeof(uint16_t)},
	[DIST_UINT32] = {"uint32", sizeof(uint32_t)},
	[DIST_UINT64] = {"uint64", sizeof(uint64_t)},
	[DIST_FLOAT8_E4M3FN] = {"float8_e4m3fn", 1},
	[DIST_FLOAT8_E5M2] = {"float8_e5m2", 1},
	[DIST_COMPLEX64] = {"complex64", 2 * sizeof(float)},
	[DIST_COMPLEX128] = {"complex128", 2 * sizeof(double)},
};
_Static_assert(sizeof dtypes / sizeof dtypes[0] == DIST_NUM_DTYPES,
	       "a line for each dtype");

static const char *const reduce_ops[] = {
	[DIST_SUM] = "sum",
	[DIST_AVG] = "avg",
	[DIST_PRODUCT] = "product",
	[DIST_MIN] = "min",
	[DIST_MAX] = "max",
	[DIST_BAND] = "band",
	[DIST_BOR] = "bor",
	[DIST_BXOR] = "bxor",
	[DIST_PREMUL_SUM] = "premul_sum",
};
_Static_assert(sizeof reduce_ops / sizeof reduce_ops[0] == DIST_NUM_REDUCE_OPS,
	       "a name for each op");

/* Callers may pass any number: these functions are how it is looked at. */
static bool is_dtype(enum dist_dtype dtype)
{
	return (size_t)dtype < DIST_NUM_DTYPES;
}

size_t dist_dtype_size(enum dist_dtype dtype)
{
	return is_dtype(dtype) ? dtypes[dtype].bytes : 0;
}

const char *dist_dtype_name(enum dist_dtype dtype)
{
	return is_dtype(dtype) ? dtypes[dtype].name : "?";
}

const char *dist_reduce_op_name(enum dist_reduce_op op)
{
	return (size_t)op < DIST_NUM_REDUCE_OPS ? reduce_ops[op] : "?";
}
