/* dtype.c - names of element types and reduction operators, and sizes of
 * elements. */
#include "base/dtype.h"

#include <string.h>

static const struct {
	const char *name, *torch;
	size_t bytes;
} dtypes[] = {
	[DIST_FLOAT16] = {"float16", "Half", 2},
	[DIST_BFLOAT16] = {"bfloat16", "BFloat16", 2},
	[DIST_FLOAT32] = {"float32", "Float", sizeof(float)},
	[DIST_FLOAT64] = {"float64", "Double", sizeof(double)},
	[DIST_INT8] = {"int8", "Char", sizeof(int8_t)},
	[DIST_UINT8] = {"uint8", "Byte", sizeof(uint8_t)},
	[DIST_INT32] = {"int32", "Int", sizeof(int32_t)},
	[DIST_INT64] = {"int64", "Long", sizeof(int64_t)},
	[DIST_BOOL] = {"bool", "Bool", 1},
	[DIST_INT16] = {"int16", "Short", sizeof(int16_t)},
	[DIST_UINT16] = {"uint16", "UInt16", sizeof(uint16_t)},
	[DIST_UINT32] = {"uint32", "UInt32", sizeof(uint32_t)},
	[DIST_UINT64] = {"uint64", "UInt64", sizeof(uint64_t)},
	[DIST_FLOAT8_E4M3FN] = {"float8_e4m3fn", "Float8_e4m3fn", 1},
	[DIST_FLOAT8_E5M2] = {"float8_e5m2", "Float8_e5m2", 1},
	[DIST_COMPLEX64] = {"complex64", "ComplexFloat", 2 * sizeof(float)},
	[DIST_COMPLEX128] = {"complex128", "ComplexDouble", 2 * sizeof(double)},
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

const char *dist__torch_dtype(enum dist_dtype dtype)
{
	return is_dtype(dtype) ? dtypes[dtype].torch : "?";
}

enum dist_dtype dist__torch_dtype_find(const char *name, size_t len)
{
	size_t i = 0;

	while (i < DIST_NUM_DTYPES && (strlen(dtypes[i].torch) != len ||
				       memcmp(dtypes[i].torch, name, len) != 0))
		i++;
	return (enum dist_dtype)i;
}

const char *dist_reduce_op_name(enum dist_reduce_op op)
{
	return (size_t)op < DIST_NUM_REDUCE_OPS ? reduce_ops[op] : "?";
}
