/*
 * efficiency.c - what kernels reach on a GPU: the median of what was measured
 * there, row by row, by the laws of kernels.c turned round.
 *
 * A precision without rows reaches the share of its peak that another does: the
 * peaks are ratios of what tensor cores do in a clock, and power holds all
 * back. A GPU without rows reaches what the nearest kind does; where both have
 * a best product of a search, times their ratio.
 */
#include "model/llm/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text.h"

/* Where nothing was measured of a pass of attention: A100 and B200 reach 0.86
 * and 0.90 of the forward pass in the backward one. */
#define BEHIND 0.88

/* Kernels of training reach of a pure copy, on A100, where both were
 * measured. */
#define ELEMENTWISE 0.93

#define UNKNOWN_MEMORY 0.75

/* What products reach of a peak that power does not hold back: cuBLAS on L20,
 * whose products in 16 bits are slow for its power, up to 115 of 119.5 TFLOP/s
 * (github.com/xlite-dev/LeetCUDA, kernels/hgemm). */
#define UNHELD 0.95

/* What is looked at, and room for the shares of all rows. */
struct search {
	const struct llm_measured *measured;
	const char *only;
	double *shares;
};

static bool is_used(const struct search *search, const char *use)
{
	return !search->only || strcmp(search->only, use) == 0;
}

static double median(double *numbers, size_t num)
{
	if (!num)
		return 0;
	dist__sort_numbers(numbers, num);
	return dist__quantile(numbers, num, 0.5);
}

/* ---- products --------------------------------------------------------- */

static double product_level(const struct search *search,
			    const struct llm_device *gpu,
			    enum llm_precision precision)
{
	const struct llm_gemm_row *rows = search->measured->gemm_rows;
	size_t num = 0;

	for (size_t i = 0; i < search->measured->gemm.num_rows; i++) {
		double level;

		if (rows[i].precision != precision ||
		    strcmp(rows[i].gpu, gpu->name) != 0 ||
		    strcmp(rows[i].kind, "best") == 0 ||
		    llm_is_burst(&rows[i]) || !is_used(search, rows[i].use))
			continue;
		level = llm_gemm_level(gpu, precision, &rows[i].gemm,
				       rows[i].ns);
		if (level > 0)
			search->shares[num++] = level;
	}
	return median(search->shares, num);
}

/* A measured product of that kind; NULL: none. */
static const struct llm_gemm_row *product_of(const struct search *search,
					     const struct llm_device *gpu,
					     enum llm_precision precision,
					     const char *kind)
{
	const struct llm_gemm_row *rows = search->measured->gemm_rows;

	for (size_t i = 0; i < search->measured->gemm.num_rows; i++)
		if (rows[i].precision == precision &&
		    strcmp(rows[i].gpu, gpu->name) == 0 &&
		    strcmp(rows[i].kind, kind) == 0)
			return &rows[i];
	return NULL;
}

/* The best share that a search over shapes found; 0: no such row. */
static double product_best(const struct search *search,
			   const struct llm_device *gpu,
			   enum llm_precision precision)
{
	const struct llm_gemm_row *row =
		product_of(search, gpu, precision, "best");

	return row ? row->tflops * 1e12 / gpu->peak[precision] : 0;
}

/* Whether products of that precision were measured in a loop as of training. */
static bool is_sustained(const struct search *search,
			 const struct llm_device *gpu,
			 enum llm_precision precision)
{
	return product_of(search, gpu, precision, "sustained") != NULL;
}

/* Precisions that products were measured in. */
static const enum llm_precision measured_in[] = {LLM_BF16, LLM_FP16, LLM_FP8};

/* How much more of its peak the best product of the nearest of the kin reaches
 * than that of kin[num], in that precision, else in another; 1: not known. *of
 * is the GPU that it is of. */
static double best_ratio(const struct search *search,
			 const struct llm_device *const *kin, size_t num,
			 enum llm_precision precision,
			 const struct llm_device **of)
{
	const enum llm_precision order[] = {precision, LLM_BF16, LLM_FP8};

	*of = kin[num];
	for (size_t k = 0; k < num; k++)
		for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
			double own = product_best(search, kin[k], order[i]);
			double its = product_best(search, kin[num], order[i]);

			if (own > 0 && its > 0) {
				*of = kin[k];
				return own / its;
			}
		}
	return 1;
}

/* The kin[*from] whose rows of a precision are used: of kin[0]'s generation
 * the nearest that was measured in a loop as of training and has a best product
 * to compare by, else the nearest that was measured; false: none was. Short
 * runs of a few products on one machine say less. */
static bool find_level(const struct search *search,
		       const struct llm_device *const *kin, size_t num,
		       enum llm_precision precision, size_t *from)
{
	const enum llm_generation generation = llm_generation_of(kin[0]->name);
	const struct llm_device *of;
	bool found = false;

	for (size_t k = 0; k < num; k++) {
		if (llm_generation_of(kin[k]->name) != generation ||
		    product_level(search, kin[k], precision) == 0)
			continue;
		(void)best_ratio(search, kin, k, precision, &of);
		if (is_sustained(search, kin[k], precision) &&
		    (k == 0 || of != kin[k])) {
			*from = k;
			return true;
		}
		if (!found)
			*from = k;
		found = true;
	}
	return found;
}

/* Of an older generation: the nearest that was measured. */
static bool find_other(const struct search *search,
		       const struct llm_device *const *kin, size_t num,
		       enum llm_precision precision, size_t *from)
{
	for (size_t k = 0; k < num; k++)
		if (product_level(search, kin[k], precision) > 0) {
			*from = k;
			return true;
		}
	return false;
}

static double watts_a_flop(const struct llm_device *gpu)
{
	return gpu->power_w / fmax(gpu->peak[LLM_BF16], gpu->peak[LLM_FP16]);
}

/* What another precision reaches, if it was measured on a nearer GPU: of one
 * GPU the best products of bf16 and fp8 reach shares that differ by up to 5 %.
 * What is higher counts, for a loop can be held back by its machine, and by
 * nothing else: bf16 on one B200 (SimuMax) reaches 0.65 of its best product,
 * fp8 on GB200 0.81. */
static double nearer_level(const double *levels, const size_t *distance,
			   enum llm_precision precision)
{
	double level = levels[precision];

	for (size_t i = 0; i < sizeof measured_in / sizeof *measured_in; i++)
		if (distance[measured_in[i]] < distance[precision])
			level = fmax(level, levels[measured_in[i]]);
	return level;
}

/* Stores the level of every precision that finds rows, and of the others that
 * of the first. Returns whether any did; *from is the kin that the first is
 * of. */
static bool set_levels(struct llm_device *device, const struct search *search,
		       const struct llm_device *const *kin, size_t num,
		       bool (*find)(const struct search *search,
				    const struct llm_device *const *kin,
				    size_t num, enum llm_precision precision,
				    size_t *from),
		       size_t *from)
{
	double *levels = device->efficiency->gemm, first = 0;
	const struct llm_device *of, *gpu = kin[0];
	size_t distance[LLM_PRECISIONS], k;

	for (int p = 0; p < LLM_PRECISIONS; p++) {
		levels[p] = 0;
		distance[p] = num;
	}
	for (size_t i = 0; i < sizeof measured_in / sizeof *measured_in; i++) {
		const enum llm_precision p = measured_in[i];

		if (!find(search, kin, num, p, &k))
			continue;
		levels[p] = product_level(search, kin[k], p) *
			    best_ratio(search, kin, k, p, &of);
		distance[p] = k;
		if (first > 0)
			continue;
		first = levels[p];
		*from = k;
		gpu = of;
	}
	for (size_t i = 0; i < sizeof measured_in / sizeof *measured_in; i++)
		if (levels[measured_in[i]] > 0)
			levels[measured_in[i]] =
				nearer_level(levels, distance, measured_in[i]);
	for (int p = 0; p < LLM_PRECISIONS; p++)
		if (levels[p] == 0)
			levels[p] = p == LLM_MXFP8 || p == LLM_FP4
					    ? levels[LLM_FP8]
					    : first;
	snprintf(device->gemm_gpu, sizeof device->gemm_gpu, "%s", gpu->name);
	device->power_ratio = watts_a_flop(kin[0]) / watts_a_flop(gpu);
	device->far = llm_generation_of(kin[0]->name) == LLM_GRAPHICS;
	if (gpu != kin[0] && device->power_ratio * first > UNHELD) {
		device->power_ratio = UNHELD / first;
		device->far = true;
	}
	return first > 0;
}

/* Returns which of the kin products were measured on. */
static size_t set_products(struct llm_device *device,
			   const struct search *search,
			   const struct llm_device *const *kin, size_t num)
{
	size_t from = 0;

	if (!set_levels(device, search, kin, num, find_level, &from))
		(void)set_levels(device, search, kin, num, find_other, &from);
	return from;
}

/* ---- attention -------------------------------------------------------- */

static double pass_level(const struct search *search,
			 const struct llm_device *gpu, const char *library,
			 double products)
{
	const struct llm_attention_row *rows = search->measured->attention_rows;
	size_t num = 0;

	for (size_t i = 0; i < search->measured->attention.num_rows; i++)
		if (rows[i].products == products &&
		    strcmp(rows[i].gpu, gpu->name) == 0 &&
		    strcmp(rows[i].implementation, library) == 0 &&
		    is_used(search, rows[i].use))
			search->shares[num++] = llm_attention_level(
				gpu, &rows[i].attention, products, rows[i].ns);
	return median(search->shares, num);
}

/* Those that made attention, the fastest first. */
static const char *const libraries[] = {"transformer-engine", "cudnn",
					"flash-3", "aiter", "flash-2"};

#define FIRST_FLASH_2 4

static const char *const old_libraries[] = {"flash-1", "flash-2"};

/* Stores both passes of a GPU by the first of these libraries that it has rows
 * of; false: of none. */
static bool own_passes(struct llm_efficiency *efficiency,
		       enum llm_attention_library library,
		       const char *const *names, size_t num,
		       const struct search *search,
		       const struct llm_device *gpu)
{
	double *forward = &efficiency->forward[library];
	double *backward = &efficiency->backward[library];

	for (size_t i = 0; i < num; i++) {
		double both = pass_level(search, gpu, names[i], 1 + 2.5);

		*forward = pass_level(search, gpu, names[i], 1);
		*backward = pass_level(search, gpu, names[i], 2.5);
		if (*forward == 0)
			*forward = both * (1 + 2.5 / BEHIND) / 3.5;
		if (*backward == 0)
			*backward = BEHIND * *forward;
		if (*forward > 0)
			return true;
	}
	return false;
}

/* Stores both passes by the first of the names that the nearest of the kin has
 * rows of, and returns which of the kin it is. */
static size_t nearest_passes(struct llm_efficiency *efficiency,
			     enum llm_attention_library library,
			     const char *const *names, size_t num_names,
			     const struct search *search,
			     const struct llm_device *const *kin, size_t num)
{
	size_t from = 0;

	while (!own_passes(efficiency, library, names, num_names, search,
			   kin[from]) &&
	       from < num - 1)
		from++;
	return from;
}

/*
 * Of a GPU that makes more exponentials beside each product than the one that
 * attention was measured on: a score of heads of 128 takes two products forward
 * and five backward, and an exponential, which the tensor cores wait for
 * (NVIDIA, "Making Softmax More Efficient with NVIDIA Blackwell Ultra"). Stores
 * how much more of its peak it reaches.
 */
static double exponential_ratio(const struct llm_device *gpu,
				const struct llm_device *of, double products)
{
	const double flops = products * 2 * 128;

	if (gpu->exp_rate <= 0 || of->exp_rate <= 0)
		return 1;
	return (1 + of->peak[LLM_BF16] / flops / of->exp_rate) /
	       (1 + gpu->peak[LLM_BF16] / flops / gpu->exp_rate);
}

/* An older library is no faster than a newer one. */
static void limit(double passes[LLM_UNFUSED], enum llm_attention_library older,
		  enum llm_attention_library newer)
{
	if (passes[older] == 0 || passes[older] > passes[newer])
		passes[older] = passes[newer];
}

#define NUM(names) (sizeof(names) / sizeof *(names))

static size_t set_attention(struct llm_efficiency *efficiency,
			    const struct search *search,
			    const struct llm_device *const *kin, size_t num)
{
	size_t from = nearest_passes(efficiency, LLM_FASTEST, libraries,
				     NUM(libraries), search, kin, num);

	(void)nearest_passes(efficiency, LLM_FLASH_2, libraries + FIRST_FLASH_2,
			     NUM(libraries) - FIRST_FLASH_2, search, kin, num);
	(void)nearest_passes(efficiency, LLM_FLASH_1, old_libraries,
			     NUM(old_libraries), search, kin, num);
	efficiency->forward[LLM_FASTEST] *=
		exponential_ratio(kin[0], kin[from], 2);
	efficiency->backward[LLM_FASTEST] *=
		exponential_ratio(kin[0], kin[from], 5);
	limit(efficiency->forward, LLM_FLASH_2, LLM_FASTEST);
	limit(efficiency->backward, LLM_FLASH_2, LLM_FASTEST);
	limit(efficiency->forward, LLM_FLASH_1, LLM_FLASH_2);
	limit(efficiency->backward, LLM_FLASH_1, LLM_FLASH_2);
	return from;
}

/* ---- memory ----------------------------------------------------------- */

/* Which share of its bandwidth kernels reach; 0: nothing was measured. */
static double own_memory(const struct search *search,
			 const struct llm_device *gpu)
{
	const struct llm_kernel_row *rows = search->measured->kernel_rows;
	double share = 0;

	for (size_t i = 0; i < search->measured->kernels.num_rows; i++) {
		double value = rows[i].value * 1e9 / gpu->memory_Bps;

		if (strcmp(rows[i].gpu, gpu->name) != 0)
			continue;
		if (strcmp(rows[i].what, "element-wise") == 0)
			return value;
		if (strcmp(rows[i].what, "HBM copy") == 0)
			share = ELEMENTWISE * value;
	}
	return share;
}

static size_t set_memory(struct llm_device *device, const struct search *search,
			 const struct llm_device *const *kin, size_t num)
{
	size_t from = 0;
	double share;

	while ((share = own_memory(search, kin[from])) == 0 && from < num - 1)
		from++;
	device->copy_share = share > 0 ? share : UNKNOWN_MEMORY;
	return from;
}

/* ---- all -------------------------------------------------------------- */

/* Says where what stands for kin[0] was measured, "GEMM and attention as on
 * B200", by the numbers of the kin. */
static void say(struct llm_device *device, const struct llm_device *const *kin,
		size_t num, const size_t from[3])
{
	static const char *const what[] = {"GEMM", "attention", "memory"};
	char *text = device->assumed;
	size_t room = sizeof device->assumed;

	text[0] = '\0';
	for (size_t k = 1; k < num; k++) {
		bool any = false;

		for (size_t i = 0; i < 3; i++)
			if (from[i] == k) {
				(void)dist__append(text, room, "%s%s",
						   any     ? " and "
						   : *text ? ", "
							   : "",
						   what[i]);
				any = true;
			}
		if (any)
			(void)dist__append(text, room, " as on %s",
					   kin[k]->name);
	}
}

enum dist_error llm_efficiency_set(struct llm_device *device,
				   const struct llm_device *const *kin,
				   size_t num,
				   const struct llm_measured *measured,
				   const char *only)
{
	size_t room = measured->gemm.num_rows + measured->attention.num_rows;
	struct search search = {.measured = measured, .only = only};
	size_t from[3];

	search.shares = calloc(room + 1, sizeof *search.shares);
	if (!device->efficiency)
		device->efficiency = calloc(1, sizeof *device->efficiency);
	if (!search.shares || !device->efficiency) {
		free(search.shares);
		return DIST_ERR_NO_MEMORY;
	}
	from[0] = set_products(device, &search, kin, num);
	from[1] = set_attention(device->efficiency, &search, kin, num);
	from[2] = set_memory(device, &search, kin, num);
	say(device, kin, num, from);
	free(search.shares);
	return DIST_OK;
}
