/* llm_rows.c - the measured steps of language models that come with Lockstep,
 * and the recipes of their frameworks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/measured/llm.h"
#include "tests/support/data_files.h"

Test(llm_rows, those_of_the_project_hold)
{
	struct dist__files files = data_files("measured/llm", ".tsv");
	size_t rows = 0, unfit = 0;

	for (size_t i = 0; i < files.num; i++) {
		struct dist_message message;
		struct llm_rows table;

		okay_or(llm_rows_load(&table, files.paths[i], &message),
			message);
		for (size_t k = 0; k < table.tsv.num_rows; k++) {
			const struct llm_row *row = &table.rows[k];

			unfit += row->unfit != NULL;
			cr_assert(row->unfit || row->gpus, "%s", row->id);
			cr_assert(row->unfit || row->batch, "%s", row->id);
		}
		rows += table.tsv.num_rows;
		dist__tsv_release(&table.tsv);
	}
	dist__files_release(&files);
	cr_assert_eq(rows, 689);
	cr_assert_lt(unfit, rows / 5);
}

Test(llm_rows, a_recipe_is_found_by_model_gpu_and_precision)
{
	const struct llm_row row = {.framework = "Megatron-Bridge",
				    .model = "Llama-3-70B",
				    .task = "pretrain",
				    .gpu = "GB200",
				    .gpus = 64,
				    .precision = "fp8"};
	struct llm_row other = row;
	struct dist_message message;
	struct llm_recipes table;

	okay_or(llm_recipes_load(
			&table,
			"scenarios/measured/llm-recipes/megatron-bridge.tsv",
			&message),
		message);
	cr_assert_not_null(llm_recipe_of(&table, &row));
	cr_assert_str_eq(llm_recipe_of(&table, &row)->shard, "fsdp");
	other.model = "Llama-3-71B";
	cr_assert_null(llm_recipe_of(&table, &other));
	/* Of the row's release, the nearest one stated. */
	other.model = "Qwen3-30B-A3B";
	other.gpu = "B200";
	other.gpus = 8;
	other.version = "NeMo 26.02";
	cr_assert_str_eq(llm_recipe_of(&table, &other)->dispatcher, "alltoall");
	other.version = "NeMo 26.02.01";
	cr_assert_str_eq(llm_recipe_of(&table, &other)->dispatcher, "hybridep");
	other.version = "NeMo 26.08";
	cr_assert_null(llm_recipe_of(&table, &other)->version);
	dist__tsv_release(&table.tsv);
}

Test(llm_rows, a_row_without_a_figure_is_refused)
{
	static const char text[] =
		"# title: t\n# source: s\n"
		"id\tmodel\tgpu\tframework\ttask\tprecision\tseq\n"
		"a\tm\tg\tf\tpretrain\tbf16\t8\n";
	char path[] = "/tmp/llm-rows-XXXXXX";
	struct dist_message message;
	struct llm_rows table;
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	cr_assert_eq(llm_rows_load(&table, path, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_assert_not_null(strstr(message.text, ":4: expected step_s"), "%s",
			   message.text);
	unlink(path);
}
