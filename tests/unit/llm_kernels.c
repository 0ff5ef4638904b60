/* llm_kernels.c - predicted times of kernels, held to measured ones that they
 * were not fitted to: every second shape, and GPUs as if they had no rows. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "model/llm/efficiency.h"

static struct llm_measured measured;

static void load(void)
{
	struct dist_message message;

	cr_assert(!llm_measured_load(&measured, &message), "%s", message.text);
}

static void release(void)
{
	llm_measured_release(&measured);
}

TestSuite(llm_kernels, .init = load, .fini = release);

static const struct llm_pace pace = {1, 1, 1};

#define MOST 1024

/* Relative errors of a group of rows. */
struct errors {
	double of[MOST];
	size_t num;
};

static void add(struct errors *errors, double predicted, double ns)
{
	cr_assert(errors->num < MOST);
	errors->of[errors->num++] = fabs(predicted / ns - 1);
}

/* Fails if they are larger than was found, in percent. */
static void expect_errors(struct errors *errors, const char *what, double half,
			  double nine_tenths)
{
	double median, p90;

	cr_assert(errors->num > 0, "%s", what);
	dist__sort_numbers(errors->of, errors->num);
	median = 100 * dist__quantile(errors->of, errors->num, 0.5);
	p90 = 100 * dist__quantile(errors->of, errors->num, 0.9);
	cr_log_info("%-36s %4zu rows: median %4.1f %%, p90 %4.1f %%", what,
		    errors->num, median, p90);
	cr_expect(median <= half && p90 <= nine_tenths,
		  "%s: median %.1f %%, p90 %.1f %%", what, median, p90);
}

/* The device called name, with what kernels reach of the rows of `only`, on it
 * or on `as`. */
static struct llm_device device_of(const char *name, const char *as,
				   const char *only)
{
	struct llm_device device, kin;
	const struct llm_device *list[] = {&kin};
	struct dist_message message;

	cr_assert(!llm_device_find(&device, name, &message), "%s",
		  message.text);
	cr_assert(!llm_device_find(&kin, as, &message), "%s", message.text);
	cr_assert(!llm_efficiency_set(&device, list, 1, &measured, only));
	llm_device_release(&kin);
	return device;
}

enum rows { ONE, GROUPS, BURSTS };

static bool is_of(const struct llm_gemm_row *row, enum rows rows)
{
	if (strcmp(row->kind, "best") == 0)
		return false;
	if (row->gemm.batch > 1)
		return rows == GROUPS;
	return llm_is_burst(row) && strcmp(row->gpu, "B200") == 0
		       ? rows == BURSTS
		       : rows == ONE;
}

static void add_products(struct errors *errors, const char *gpu, const char *as,
			 enum rows rows, const char *use)
{
	struct llm_device device =
		device_of(gpu, as, strcmp(gpu, as) == 0 ? "calibration" : NULL);

	for (size_t i = 0; i < measured.gemm.num_rows; i++) {
		const struct llm_gemm_row *row = &measured.gemm_rows[i];

		if (strcmp(row->gpu, gpu) == 0 && is_of(row, rows) &&
		    (!use || strcmp(row->use, use) == 0))
			add(errors,
			    llm_gemm_ns(&device, row->precision, &pace,
					&row->gemm),
			    row->ns);
	}
	llm_device_release(&device);
}

static const char *const gpus[] = {
	"A100-PCIe-80GB", "A100-SXM-80GB", "B200",  "GB200",
	"H100-SXM",       "H200-SXM",      "MI300X"};

#define GPUS (sizeof gpus / sizeof *gpus)

Test(llm_kernels, products_of_shapes_that_were_held_out)
{
	static struct errors one, groups, bursts, fitted;

	for (size_t i = 0; i < GPUS; i++) {
		add_products(&fitted, gpus[i], gpus[i], ONE, "calibration");
		add_products(&one, gpus[i], gpus[i], ONE, "validation");
		add_products(&groups, gpus[i], gpus[i], GROUPS, "validation");
		add_products(&bursts, gpus[i], gpus[i], BURSTS, "validation");
	}
	expect_errors(&fitted, "GEMM, fitted shapes", 2.2, 11);
	expect_errors(&one, "GEMM, held-out shapes", 2.3, 8.5);
	expect_errors(&groups, "grouped GEMM, held-out shapes", 9, 29);
	expect_errors(&bursts, "GEMM, before B200's clock falls", 18, 48);
}

/* As a GPU whose products nobody measured is answered. */
Test(llm_kernels, products_of_gpus_that_were_held_out)
{
	static const struct {
		const char *gpu, *as;
	} pairs[] = {{"A100-SXM-80GB", "A100-PCIe-80GB"},
		     {"A100-PCIe-80GB", "A100-SXM-80GB"},
		     {"H200-SXM", "H100-SXM"},
		     {"H100-SXM", "H200-SXM"},
		     {"GB200", "B200"},
		     {"B200", "GB200"}};
	static struct errors errors;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		static struct errors own;

		own.num = 0;
		add_products(&own, pairs[i].gpu, pairs[i].as, ONE, NULL);
		for (size_t e = 0; e < own.num; e++)
			errors.of[errors.num++] = own.of[e];
		expect_errors(&own, pairs[i].gpu, 100, 100);
	}
	expect_errors(&errors, "GEMM, held-out GPUs", 11, 18);
}

static void add_attention(struct errors *errors, const char *gpu,
			  const char *library, const char *use)
{
	struct llm_device device = device_of(gpu, gpu, "calibration");

	for (size_t i = 0; i < measured.attention.num_rows; i++) {
		const struct llm_attention_row *row =
			&measured.attention_rows[i];
		double forward, backward;

		if (strcmp(row->gpu, gpu) != 0 ||
		    strcmp(row->implementation, library) != 0 ||
		    strcmp(row->use, use) != 0)
			continue;
		forward = llm_attention_ns(&device, row->precision, &pace,
					   &row->attention, false);
		backward = llm_attention_ns(&device, row->precision, &pace,
					    &row->attention, true);
		add(errors,
		    row->products == 1     ? forward
		    : row->products == 2.5 ? backward
					   : forward + backward,
		    row->ns);
	}
	llm_device_release(&device);
}

Test(llm_kernels, attention_of_shapes_that_were_held_out)
{
	static struct errors fitted, held;

	for (int i = 0; i < 2; i++) {
		struct errors *errors = i ? &held : &fitted;
		const char *use = i ? "validation" : "calibration";

		add_attention(errors, "A100-PCIe-80GB", "transformer-engine",
			      use);
		add_attention(errors, "A100-SXM-80GB", "flash-2", use);
		add_attention(errors, "B200", "transformer-engine", use);
		add_attention(errors, "H100-SXM", "cudnn", use);
		add_attention(errors, "H100-SXM", "flash-2", use);
	}
	expect_errors(&fitted, "attention, fitted shapes", 5, 15);
	expect_errors(&held, "attention, held-out shapes", 7, 19);
}

/* Adds a row on its own GPU, with the backward pass or without. */
static void add_both_ways(struct errors *errors,
			  const struct llm_attention_row *row, const char *use,
			  bool backward)
{
	struct llm_device device = device_of(row->gpu, row->gpu, use);
	double ns = llm_attention_ns(&device, row->precision, &pace,
				     &row->attention, false);

	if (backward)
		ns += llm_attention_ns(&device, row->precision, &pace,
				       &row->attention, true);
	add(errors, ns, row->ns);
	llm_device_release(&device);
}

/* Of 2022. Its heads of 64 were the faster ones, which is not modelled. */
Test(llm_kernels, attention_by_an_old_library)
{
	static struct errors held;

	for (size_t i = 0; i < measured.attention.num_rows; i++) {
		const struct llm_attention_row *row =
			&measured.attention_rows[i];

		if (strcmp(row->implementation, "flash-1") == 0 &&
		    strcmp(row->use, "validation") == 0)
			add_both_ways(&held, row, "calibration", true);
	}
	cr_assert_eq(held.num, 24);
	expect_errors(&held, "attention, FlashAttention 1", 20, 30);
}

/* PyTorch's own without a mask: with one it makes and adds the mask, which
 * Megatron's kernel does not. */
Test(llm_kernels, unfused_attention)
{
	static struct errors errors;

	for (size_t i = 0; i < measured.attention.num_rows; i++) {
		const struct llm_attention_row *row =
			&measured.attention_rows[i];

		if (row->attention.library == LLM_UNFUSED &&
		    !row->attention.causal)
			add_both_ways(&errors, row, NULL, row->products > 1);
	}
	expect_errors(&errors, "unfused attention", 10, 32);
}
