/* llm.c - reading measured steps of language models, and recipes. */
#include "model/measured/llm.h"

#include <string.h>

#include "base/text.h"

#define FIELD(kind, field) TSV_FIELD(struct llm_row, kind, field)

static const struct tsv_field fields[] = {
	{FIELD(dist__tsv_text, id), .required = true},
	{FIELD(dist__tsv_text, at)},
	{FIELD(dist__tsv_text, model), .required = true},
	{FIELD(value_read_count, layers)},
	{FIELD(value_read_count, hidden)},
	{FIELD(value_read_count, heads)},
	{FIELD(value_read_count, ffn)},
	{FIELD(value_read_count, vocab)},
	{FIELD(dist__tsv_text, gpu), .required = true},
	{FIELD(value_read_count, gpus)},
	{FIELD(value_read_count, domain)},
	{FIELD(value_read_count, cards)},
	{FIELD(value_read_count, card_gbit)},
	{FIELD(dist__tsv_text, transport)},
	{FIELD(dist__tsv_text, framework), .required = true},
	{FIELD(dist__tsv_text, version)},
	{FIELD(dist__tsv_text, task), .required = true},
	{FIELD(dist__tsv_text, precision), .required = true},
	{FIELD(value_read_count, seq), .required = true},
	{FIELD(value_read_count, batch)},
	{FIELD(value_read_count, micro_batch)},
	{FIELD(value_read_count, tp)},
	{FIELD(value_read_count, pp)},
	{FIELD(value_read_count, vpp)},
	{FIELD(value_read_count, cp)},
	{FIELD(value_read_count, ep)},
	{FIELD(value_read_count, etp)},
	{FIELD(dist__tsv_text, schedule)},
	{FIELD(dist__tsv_text, shard)},
	{FIELD(value_read_count, shard_ranks)},
	{FIELD(value_read_count, loss_chunks)},
	{FIELD(dist__tsv_text, recompute)},
	{FIELD(dist__tsv_text, overlap)},
	{FIELD(value_read_number, step_s)},
	{FIELD(value_read_number, tokens_per_s_gpu)},
	{FIELD(value_read_number, tflops_gpu)},
	{FIELD(value_read_number, mfu)},
	{FIELD(value_read_number, memory_gib)},
	{FIELD(dist__tsv_text, group)},
	{FIELD(dist__tsv_text, unfit)},
	{FIELD(dist__tsv_text, remark)},
	{.name = NULL},
};

static enum dist_error check_row(const struct tsv_table *tsv, size_t i,
				 const void *of, struct dist_message *message)
{
	const struct llm_row *row = of;

	if (row->step_s.value > 0 || row->tokens_per_s_gpu.value > 0 ||
	    row->tflops_gpu.value > 0 || row->mfu.value > 0)
		return DIST_OK;
	return dist__tsv_refuse(tsv, tsv->lines[i], message,
				"step_s, tokens_per_s_gpu, tflops_gpu or mfu, "
				"above 0");
}

TSV_LOADER(llm_rows_load, llm_rows, fields, check_row)

/* ---- recipes ---------------------------------------------------------- */

#define RECIPE_FIELD(kind, field) TSV_FIELD(struct llm_recipe, kind, field)

static const struct tsv_field recipe_fields[] = {
	{RECIPE_FIELD(dist__tsv_text, framework), .required = true},
	{RECIPE_FIELD(dist__tsv_text, model), .required = true},
	{RECIPE_FIELD(dist__tsv_text, task), .required = true},
	{RECIPE_FIELD(dist__tsv_text, gpu), .required = true},
	{RECIPE_FIELD(dist__tsv_text, precision), .required = true},
	{RECIPE_FIELD(value_read_count, gpus)},
	{RECIPE_FIELD(dist__tsv_text, recompute)},
	{RECIPE_FIELD(dist__tsv_text, overlap)},
	{RECIPE_FIELD(dist__tsv_text, shard)},
	{RECIPE_FIELD(value_read_count, offload_layers)},
	{RECIPE_FIELD(dist__tsv_text, dispatcher)},
	{RECIPE_FIELD(dist__tsv_text, version)},
	{.name = NULL},
};

TSV_LOADER(llm_recipes_load, llm_recipes, recipe_fields, NULL)

static bool is_for(const struct llm_recipe *recipe, const struct llm_row *row)
{
	return dist__begins(row->framework, recipe->framework) &&
	       dist__begins(row->gpu, recipe->gpu) &&
	       strcmp(row->model, recipe->model) == 0 &&
	       strcmp(row->task, recipe->task) == 0 &&
	       strcmp(row->precision, recipe->precision) == 0 &&
	       (!recipe->version ||
		dist__begins(row->version, recipe->version));
}

const struct llm_recipe *llm_recipe_of(const struct llm_recipes *table,
				       const struct llm_row *row)
{
	const struct llm_recipe *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct llm_recipe *recipe = &table->rows[i];
		size_t fit = recipe->gpus == row->gpus ? 2 : 1;

		if (recipe->version)
			fit += 2 * strlen(recipe->version);

		if (fit > most && is_for(recipe, row)) {
			best = recipe;
			most = fit;
		}
	}
	return best;
}
