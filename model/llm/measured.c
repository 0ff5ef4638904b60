/* measured.c - reading the tables of measured kernels. */
#include <string.h>

#include "base/data.h"
#include "model/llm/efficiency.h"
#include "base/tsv_table.h"

#define FOLDER "measured/hardware/"

/* Shorter loops of products ran before the clock fell: on B200 they reach 0.64
 * of the peak, all longer ones 0.49. */
#define BURST_NS 700e3

static const char *read_precision(const char *text, void *into)
{
	*(enum llm_precision *)into = llm_precision_find(text);
	return *(enum llm_precision *)into == LLM_PRECISIONS ? "a precision"
							     : NULL;
}

static const char *read_half(const char *text, void *into)
{
	*(bool *)into = strcmp(text, "half") == 0;
	return *(bool *)into || strcmp(text, "full") == 0 ? NULL
							  : "half or full";
}

static const char *read_mask(const char *text, void *into)
{
	*(bool *)into = strcmp(text, "yes") == 0;
	return *(bool *)into || strcmp(text, "no") == 0 ? NULL : "yes or no";
}

static const char *read_direction(const char *text, void *into)
{
	double *products = into;

	*products = strcmp(text, "fwd") == 0       ? 1
		    : strcmp(text, "bwd") == 0     ? 2.5
		    : strcmp(text, "fwd+bwd") == 0 ? 3.5
						   : 0;
	return *products > 0 ? NULL : "fwd, bwd or fwd+bwd";
}

#define GEMM(label, kind, field)                                               \
	.name = (label), .read = (kind),                                       \
	.offset = offsetof(struct llm_gemm_row, field)

static const struct tsv_field gemm_fields[] = {
	{GEMM("use", dist__tsv_text, use), .required = true},
	{GEMM("gpu", dist__tsv_text, gpu), .required = true},
	{GEMM("kind", dist__tsv_text, kind), .required = true},
	{GEMM("precision", read_precision, precision), .required = true},
	{GEMM("groups", dist__tsv_positive, gemm.batch), .required = true},
	{GEMM("m", dist__tsv_positive, gemm.m), .required = true},
	{GEMM("n", dist__tsv_positive, gemm.n), .required = true},
	{GEMM("k", dist__tsv_positive, gemm.k), .required = true},
	{GEMM("layout", dist__tsv_text, layout)},
	{GEMM("accumulate", dist__tsv_text, accumulate)},
	{GEMM("tflops", dist__tsv_positive, tflops), .required = true},
	{GEMM("from", dist__tsv_text, from), .required = true},
	{.name = NULL},
};

#define ATTENTION(label, kind, field)                                          \
	.name = (label), .read = (kind),                                       \
	.offset = offsetof(struct llm_attention_row, field)

static const struct tsv_field attention_fields[] = {
	{ATTENTION("use", dist__tsv_text, use), .required = true},
	{ATTENTION("gpu", dist__tsv_text, gpu), .required = true},
	{ATTENTION("implementation", dist__tsv_text, implementation),
	 .required = true},
	{ATTENTION("precision", read_precision, precision), .required = true},
	{ATTENTION("direction", read_direction, products), .required = true},
	{ATTENTION("causal", read_mask, attention.causal), .required = true},
	{ATTENTION("count", read_half, half), .required = true},
	{ATTENTION("heads", dist__tsv_positive, attention.heads),
	 .required = true},
	{ATTENTION("kv_heads", dist__tsv_positive, attention.kv_heads),
	 .required = true},
	{ATTENTION("qk_dim", dist__tsv_positive, attention.qk_dim),
	 .required = true},
	{ATTENTION("v_dim", dist__tsv_positive, attention.v_dim),
	 .required = true},
	{ATTENTION("batch", dist__tsv_positive, attention.batch),
	 .required = true},
	{ATTENTION("seq", dist__tsv_positive, attention.seq), .required = true},
	{ATTENTION("tflops", dist__tsv_positive, tflops), .required = true},
	{ATTENTION("approximate", dist__tsv_text, approximate)},
	{ATTENTION("from", dist__tsv_text, from), .required = true},
	{.name = NULL},
};

#define KERNEL(label, kind, field)                                             \
	.name = (label), .read = (kind),                                       \
	.offset = offsetof(struct llm_kernel_row, field)

static const struct tsv_field kernel_fields[] = {
	{KERNEL("gpu", dist__tsv_text, gpu), .required = true},
	{KERNEL("what", dist__tsv_text, what), .required = true},
	{KERNEL("value", dist__tsv_positive, value), .required = true},
	{KERNEL("unit", dist__tsv_text, unit), .required = true},
	{KERNEL("from", dist__tsv_text, from), .required = true},
	{.name = NULL},
};

static enum dist_error load(struct tsv_table *tsv, const char *name,
			    const struct tsv_field *fields, size_t size,
			    struct dist_message *message)
{
	char path[PATH_MAX];

	dist__data_dir(name, path, sizeof path);
	return dist__tsv_load_rows(tsv, path, fields, size, NULL, message);
}

/* Computes how long each row took. */
static void derive(struct llm_measured *measured)
{
	for (size_t i = 0; i < measured->gemm.num_rows; i++) {
		struct llm_gemm_row *row = &measured->gemm_rows[i];

		row->gemm.accumulate =
			row->accumulate && strcmp(row->accumulate, "fp32") == 0;
		row->ns = 2e-3 * row->gemm.m * row->gemm.n * row->gemm.k *
			  row->gemm.batch / row->tflops;
	}
	for (size_t i = 0; i < measured->attention.num_rows; i++) {
		struct llm_attention_row *row = &measured->attention_rows[i];
		struct llm_attention *a = &row->attention;

		a->keys = a->seq;
		if (strcmp(row->implementation, "unfused") == 0)
			a->library = LLM_UNFUSED;
		else if (strcmp(row->implementation, "flash-2") == 0)
			a->library = LLM_FLASH_2;
		else if (strcmp(row->implementation, "flash-1") == 0)
			a->library = LLM_FLASH_1;
		row->ns = 2e-3 * row->products * a->batch * a->heads * a->seq *
			  a->seq * (a->qk_dim + a->v_dim) / row->tflops /
			  (row->half ? 2 : 1);
	}
}

enum dist_error llm_measured_load(struct llm_measured *measured,
				  struct dist_message *message)
{
	enum dist_error error;

	*measured = (struct llm_measured){.gemm_rows = NULL};
	error = load(&measured->gemm, FOLDER "gemm.tsv", gemm_fields,
		     sizeof *measured->gemm_rows, message);
	if (!error)
		error = load(&measured->attention, FOLDER "attention.tsv",
			     attention_fields, sizeof *measured->attention_rows,
			     message);
	if (!error)
		error = load(&measured->kernels, FOLDER "kernels.tsv",
			     kernel_fields, sizeof *measured->kernel_rows,
			     message);
	measured->gemm_rows = measured->gemm.rows;
	measured->attention_rows = measured->attention.rows;
	measured->kernel_rows = measured->kernels.rows;
	if (error)
		llm_measured_release(measured);
	else
		derive(measured);
	return error;
}

void llm_measured_release(struct llm_measured *measured)
{
	dist__tsv_release(&measured->gemm);
	dist__tsv_release(&measured->attention);
	dist__tsv_release(&measured->kernels);
}

bool llm_is_burst(const struct llm_gemm_row *row)
{
	return strcmp(row->kind, "sustained") == 0 && row->ns < BURST_NS;
}
