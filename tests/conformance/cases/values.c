/* values.c - what goes into a case and what must come out. The elements of a
 * type are made once, in a row; a tensor takes a part of it that begins where a
 * hash of who has it for whom says. */
#include "tests/conformance/cases/case.h"
#include "scenarios/element.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of so many ranks in a row, 7 put a 2 into a product. */
#define TURN 32

/* Elements in a row, behind which it begins again: 251 is prime, so that no
 * chunk of an algorithm is as long. */
#define LENGTH (251 * (size_t)TURN)

/* The largest of the whole numbers; the least is -MOST. */
#define MOST 7

/* Elements that are added up at once. */
#define CHUNK ((size_t)256)

/* What a row is of. */
enum kind {
	WHOLE_NUMBERS, /* from -7 to 7 */
	FRACTIONS,
	FACTORS, /* 2, 1 and -1 */
	MOSTLY_ONES,
	MOSTLY_ZEROS,
	EVEN_BITS,
	KINDS
};

struct case_values {
	/* Twice the row, so that a chunk has no end in it. */
	signed char whole[2 * LENGTH];
	size_t first[KINDS][DIST_NUM_DTYPES]; /* byte of the row */
	_Alignas(16) unsigned char rows[];
};

static bool is_bitwise(enum dist_reduce_op op)
{
	return op == DIST_BAND || op == DIST_BOR || op == DIST_BXOR;
}

bool case_is_legal(const struct one_case *c)
{
	if (!conformance_calls[c->call].reduces)
		return true;
	if (c->dtype == DIST_FLOAT8_E4M3FN || c->dtype == DIST_FLOAT8_E5M2)
		return false;
	if (c->op == DIST_PREMUL_SUM)
		return case_has_fractions(c->dtype);
	if (is_bitwise(c->op))
		return c->dtype >= DIST_INT8 && c->dtype <= DIST_UINT64;
	if (c->dtype >= DIST_COMPLEX64)
		return c->op == DIST_SUM || c->op == DIST_AVG;
	return c->op != DIST_AVG || c->dtype != DIST_BOOL;
}

bool case_has_fractions(enum dist_dtype dtype)
{
	return dtype <= DIST_FLOAT64 || dtype >= DIST_COMPLEX64;
}

bool case_is_supported(const struct one_case *c, const char *backend)
{
	bool lacks = is_bitwise(c->op) || c->dtype == DIST_INT16 ||
		     c->dtype == DIST_UINT16;

	return strcmp(backend, "nccl") != 0 ||
	       !(conformance_calls[c->call].reduces && lacks);
}

static bool has_row(enum kind kind, enum dist_dtype dtype)
{
	switch (kind) {
	case WHOLE_NUMBERS:
	case FACTORS:
		return true;
	case FRACTIONS:
		return case_has_fractions(dtype);
	default:
		return dtype >= DIST_INT8 && dtype <= DIST_UINT64;
	}
}

static enum kind kind_of(const struct one_case *c)
{
	if (!c->exact)
		return FRACTIONS;
	if (c->op == DIST_PRODUCT && c->dtype != DIST_BOOL)
		return FACTORS;
	/* What has no bits to combine is refused as it is. */
	if (!has_row(EVEN_BITS, c->dtype) ||
	    (c->dtype != DIST_BOOL && !is_bitwise(c->op)))
		return WHOLE_NUMBERS;
	switch (c->op) {
	case DIST_BAND:
	case DIST_PRODUCT:
	case DIST_MIN:
		return MOSTLY_ONES;
	case DIST_BXOR:
		return EVEN_BITS;
	default:
		return MOSTLY_ZEROS;
	}
}

/* Bits such that what many ranks make of them is neither all zeros nor all
 * ones. Of bool: 1 or 0. */
static double bits(enum kind kind, enum dist_dtype dtype, uint64_t seed)
{
	uint64_t rare = seed & dist__random_of(seed);

	rare &= dist__random_of(rare ^ seed);
	rare &= dist__random_of(rare + seed);
	if (kind == EVEN_BITS)
		rare = seed;
	if (kind == MOSTLY_ONES)
		rare = ~rare;
	if (dtype == DIST_BOOL)
		return (double)(rare & 1);
	return (double)(int32_t)(rare & 0x7fffffff) - 0x40000000;
}

/* Element i of a row, before it is rounded to the type. */
static double element(enum kind kind, enum dist_dtype dtype, size_t i)
{
	uint64_t seed = dist__random_of(i * KINDS + kind);
	double value;

	switch (kind) {
	case WHOLE_NUMBERS:
		value = (double)(seed % (2 * MOST + 1)) - MOST;
		break;
	case FRACTIONS:
		return ((double)(seed >> 11) / 9007199254740992.0 - 0.5) * 1e3;
	case FACTORS:
		value = i % TURN < 7 ? 2 : (double)(seed % 2) * 2 - 1;
		break;
	default:
		value = bits(kind, dtype, seed);
	}
	/* A double would not hold what these wrap around to. */
	return dtype == DIST_UINT32 || dtype == DIST_UINT64 ? fabs(value)
							    : value;
}

struct case_values *case_values_new(void)
{
	size_t used = 0, first[KINDS][DIST_NUM_DTYPES];
	struct case_values *values;

	for (int kind = 0; kind < KINDS; kind++)
		for (int dtype = 0; dtype < DIST_NUM_DTYPES; dtype++) {
			first[kind][dtype] = used;
			if (has_row(kind, dtype))
				used += LENGTH * dist_dtype_size(dtype);
		}
	values = malloc(sizeof *values + used);
	if (!values)
		return NULL;
	memcpy(values->first, first, sizeof first);
	for (size_t i = 0; i < 2 * LENGTH; i++)
		values->whole[i] = (signed char)element(WHOLE_NUMBERS,
							DIST_INT8, i % LENGTH);
	for (int kind = 0; kind < KINDS; kind++)
		for (int dtype = 0; dtype < DIST_NUM_DTYPES; dtype++)
			for (size_t i = 0; has_row(kind, dtype) && i < LENGTH;
			     i++)
				element_store(dtype,
					      values->rows + first[kind][dtype],
					      i, element(kind, dtype, i));
	return values;
}

/* Where in its row the tensor begins that src has for dst. */
static size_t begin_of(const struct one_case *c, int src, int dst)
{
	uint64_t hash = dist__random_of(c->index * UINT64_C(1000003) +
					(uint64_t)dst * 20021 + (uint64_t)src);
	size_t turn = hash % (LENGTH / TURN);
	size_t place = kind_of(c) == FACTORS
			       ? (size_t)src + (size_t)dst + c->index
			       : hash >> 32;

	return turn * TURN + place % TURN;
}

static const unsigned char *row_of(const struct one_case *c)
{
	return c->values->rows + c->values->first[kind_of(c)][c->dtype];
}

double case_value(const struct one_case *c, int src, int dst, size_t i)
{
	return element_load(c->dtype, row_of(c),
			    (begin_of(c, src, dst) + i) % LENGTH);
}

/* Bytes of the row from where *at, counted in elements, says, for left
 * elements or until the row ends; advances both. */
static const void *next_part(const struct one_case *c, size_t *at, size_t *left,
			     size_t *bytes)
{
	size_t size = dist_dtype_size(c->dtype);
	size_t room = LENGTH - *at, n = *left < room ? *left : room;
	const void *part = row_of(c) + *at * size;

	*at = (*at + n) % LENGTH;
	*left -= n;
	*bytes = n * size;
	return part;
}

void case_fill(const struct one_case *c, struct dist_tensor t, int src, int dst)
{
	size_t at = begin_of(c, src, dst), bytes;
	unsigned char *to = t.data;

	for (size_t left = t.numel; left; to += bytes) {
		const void *part = next_part(c, &at, &left, &bytes);

		memcpy(to, part, bytes);
	}
}

bool case_holds(const struct one_case *c, struct dist_tensor t, int src,
		int dst)
{
	size_t at = begin_of(c, src, dst), bytes;
	const unsigned char *from = t.data;

	for (size_t left = t.numel; left; from += bytes) {
		const void *part = next_part(c, &at, &left, &bytes);

		if (memcmp(from, part, bytes) != 0)
			return false;
	}
	return true;
}

int case_contributors(const struct one_case *c, int world_size)
{
	return c->form == MULTIGPU ? 2 * world_size : world_size;
}

/* ---- combined ----------------------------------------------------------- */

/* Where the contributors' tensors begin. */
struct begins {
	int num;
	size_t at[2 * CONFORMANCE_MAX_WORLD];
};

/* Stores the sums of elements first to first + num: no matter when they are
 * rounded, of whole numbers and halves that a type of floats holds all, and of
 * integers that wrap around. */
static void add_up(const struct one_case *c, const struct begins *begins,
		   struct dist_tensor want, size_t first, size_t num)
{
	bool wraps = c->dtype != DIST_UINT32 && c->dtype != DIST_UINT64;
	int sums[CHUNK] = {0};

	for (int src = 0; src < begins->num; src++) {
		const signed char *whole =
			c->values->whole + (begins->at[src] + first) % LENGTH;

		for (size_t i = 0; i < num; i++)
			sums[i] += wraps ? whole[i] : abs(whole[i]);
	}
	for (size_t i = 0; i < num; i++) {
		double value = sums[i];

		if (c->op == DIST_PREMUL_SUM)
			value *= FACTOR;
		if (c->op == DIST_AVG)
			value = element_divide(c->dtype,
					       element_round(c->dtype, value),
					       begins->num);
		element_store(c->dtype, want.data, first + i, value);
	}
}

static double combination(const struct one_case *c, const struct begins *begins,
			  size_t i)
{
	const unsigned char *row = row_of(c);
	double value = 0;

	for (int src = 0; src < begins->num; src++) {
		double more = element_load(c->dtype, row,
					   (begins->at[src] + i) % LENGTH);

		value = src == 0
				? more
				: element_combine(c->dtype, c->op, value, more);
	}
	return value;
}

void case_reduced(const struct one_case *c, int dst, int contributors,
		  struct dist_tensor want)
{
	bool sums = c->op == DIST_SUM || c->op == DIST_AVG ||
		    c->op == DIST_PREMUL_SUM;
	struct begins begins = {.num = contributors};

	for (int src = 0; src < contributors; src++)
		begins.at[src] = begin_of(c, src, dst);
	sums &= kind_of(c) == WHOLE_NUMBERS;
	for (size_t i = 0; sums && i < want.numel; i += CHUNK)
		add_up(c, &begins, want, i,
		       want.numel - i < CHUNK ? want.numel - i : CHUNK);
	for (size_t i = 0; !sums && i < want.numel; i++)
		element_store(c->dtype, want.data, i,
			      combination(c, &begins, i));
}
