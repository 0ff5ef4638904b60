/* efficiency.c - levels of kernels by GPU and precision, from tables of
 * measured rates; and what the shape of a matrix product costs. */
#include "model/llm/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/statistics.h"
#include "base/tsv_table.h"

#define GEMM_TABLE "measured/hardware/gemm.tsv"

struct gemm_row {
	const char *gpu, *kind, *layout, *accumulate, *from;
	enum llm_precision precision;
	struct llm_gemm gemm;
	double tflops;
};

static const char *read_text(const char *text, void *into)
{
	*(const char **)into = text;
	return NULL;
}

static const char *read_kind(const char *text, void *into)
{
	*(const char **)into = text;
	return strcmp(text, "best") == 0 || strcmp(text, "steady") == 0 ||
			       strcmp(text, "sustained") == 0
		       ? NULL
		       : "best, steady or sustained";
}

static const char *read_precision(const char *text, void *into)
{
	*(enum llm_precision *)into = llm_precision_find(text);
	return *(enum llm_precision *)into == LLM_PRECISIONS ? "a precision"
							     : NULL;
}

static const char *read_number(const char *text, void *into)
{
	char *end;

	*(double *)into = strtod(text, &end);
	return end != text && !*end && *(double *)into > 0 ? NULL
							   : "a number over 0";
}

#define FIELD(label, kind, field)                                              \
	.name = (label), .read = (kind),                                       \
	.offset = offsetof(struct gemm_row, field)

static const struct tsv_field gemm_fields[] = {
	{FIELD("gpu", read_text, gpu), .required = true},
	{FIELD("kind", read_kind, kind), .required = true},
	{FIELD("precision", read_precision, precision), .required = true},
	{FIELD("groups", read_number, gemm.batch), .required = true},
	{FIELD("m", read_number, gemm.m), .required = true},
	{FIELD("n", read_number, gemm.n), .required = true},
	{FIELD("k", read_number, gemm.k), .required = true},
	{FIELD("layout", read_text, layout)},
	{FIELD("accumulate", read_text, accumulate)},
	{FIELD("tflops", read_number, tflops), .required = true},
	{FIELD("from", read_text, from), .required = true},
	{.name = NULL},
};

/* ---- shape of a product ------------------------------------------------ */

#define TILE_M 128
#define TILE_N 256

double llm_gemm_shape(const struct llm_device *device,
		      enum llm_precision precision, const struct llm_gemm *gemm)
{
	double tiles =
		ceil(gemm->m / TILE_M) * ceil(gemm->n / TILE_N) * gemm->batch;
	double waves = ceil(tiles / device->sms);
	double ideal = gemm->m * gemm->n * gemm->batch /
		       ((double)TILE_M * TILE_N * device->sms);

	(void)precision;
	return ideal / waves * gemm->k / (gemm->k + 256);
}

/* ---- levels ----------------------------------------------------------- */

/* The median, over rows of a GPU and precision of kind `best` or not, of the
 * measured share over that of the shape; 0: no row. */
static double level_of(const struct llm_device *gpu,
		       enum llm_precision precision, bool best,
		       const struct gemm_row *rows, size_t num, double *shares)
{
	size_t used = 0;

	for (size_t i = 0; i < num; i++)
		if (strcmp(rows[i].gpu, gpu->name) == 0 &&
		    rows[i].precision == precision &&
		    (strcmp(rows[i].kind, "best") == 0) == best)
			shares[used++] =
				rows[i].tflops * 1e12 / gpu->peak[precision] /
				llm_gemm_shape(gpu, precision, &rows[i].gemm);
	if (!used)
		return 0;
	dist__sort_numbers(shares, used);
	return dist__quantile(shares, used, 0.5);
}

/* Stores a level for each precision: of the nearest GPU that was measured, in
 * that precision, else in another, as the peaks say. */
static void set_levels(struct llm_device *device,
		       const struct llm_device *const *kin, size_t num_kin,
		       const struct gemm_row *rows, size_t num, double *shares)
{
	static const enum llm_precision order[] = {LLM_BF16, LLM_FP16, LLM_FP8};
	double level = 0;

	for (size_t k = 0; k < num_kin && level == 0; k++) {
		for (int p = 0; p < 3 && level == 0; p++)
			level = level_of(kin[k], order[p], false, rows, num,
					 shares);
		if (level > 0 && k > 0)
			snprintf(device->assumed, sizeof device->assumed,
				 "rates of kernels as on %s", kin[k]->name);
	}
	for (int p = 0; p < LLM_PRECISIONS; p++) {
		double own = level_of(kin[0], (enum llm_precision)p, false,
				      rows, num, shares);

		device->efficiency->gemm[p] = own > 0 ? own : level;
	}
}

enum dist_error llm_efficiency_load(struct llm_device *device,
				    const struct llm_device *const *kin,
				    size_t num, struct dist_message *message)
{
	struct tsv_table tsv;
	char path[PATH_MAX];
	void *rows = NULL;
	double *shares;
	enum dist_error error;

	dist__data_dir(GEMM_TABLE, path, sizeof path);
	error = dist__tsv_load_rows(&tsv, path, gemm_fields, &rows,
				    sizeof(struct gemm_row), message);
	if (error)
		return error;
	device->efficiency = calloc(1, sizeof *device->efficiency);
	shares = calloc(tsv.num_rows + 1, sizeof *shares);
	if (device->efficiency && shares) {
		device->efficiency->forward = 0.55;
		device->efficiency->backward = 0.45;
		set_levels(device, kin, num, rows, tsv.num_rows, shares);
	} else
		error = DIST_ERR_NO_MEMORY;
	free(shares);
	free(rows);
	dist__tsv_release(&tsv);
	return error;
}
