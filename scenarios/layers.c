#include "scenarios/layers.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much of name says which block it belongs to: up to its first component
 * that is a number; 0: none is. */
static size_t block_length(const char *name)
{
	const char *at = name;

	for (;;) {
		size_t len = strcspn(at, ".");
		size_t digits = strspn(at, "0123456789");

		if (len > 0 && digits == len)
			return (size_t)(at + len - name);
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* The same where no row has a number: all but the last component. */
static size_t module_length(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

static bool has_blocks(const struct model *model)
{
	size_t i;

	for (i = 0; i < model->num_rows; i++)
		if (block_length(model->rows[i].name) > 0)
			return true;
	return false;
}

/* Whether row i begins another layer than that of row last, the last one with
 * a name for its layer; lengths are those of these names. */
static bool is_other(const struct model *model, size_t last, size_t last_length,
		     size_t i, size_t length)
{
	return length != last_length ||
	       strncmp(model->rows[last].name, model->rows[i].name, length) !=
		       0;
}

static void add_row(struct layer *layer, const struct model_row *row)
{
	layer->num_rows++;
	layer->numel += row->numel;
	layer->forward_flops += row->forward_flops;
}

/* Sets what leaves each layer. Positions carry over where nothing tells. */
static void measure(struct layers *layers, const struct model *model)
{
	double positions = 1;
	size_t l, i;

	for (l = 0; l < layers->num; l++) {
		struct layer *layer = &layers->list[l];
		size_t channels = 1;

		for (i = 0; i < layer->num_rows; i++) {
			const struct model_row *row =
				&model->rows[layer->first_row + i];

			if (row->numel == 0)
				continue;
			channels = row->numel;
			if (row->forward_flops > 0)
				positions = row->forward_flops /
					    (2 * (double)row->numel);
		}
		layer->positions = positions;
		layer->activation = (size_t)((double)channels * positions);
		if (layer->numel > layers->largest)
			layers->largest = layer->numel;
	}
}

enum dist_error layers_init(struct layers *layers, const struct model *model)
{
	size_t (*length_of)(const char *name) =
		has_blocks(model) ? block_length : module_length;
	size_t i, begin = 0, last = 0, last_length = 0;

	memset(layers, 0, sizeof(*layers));
	layers->list = calloc(model->num_rows, sizeof(*layers->list));
	if (!layers->list)
		return DIST_ERR_NO_MEMORY;
	for (i = 0; i < model->num_rows; i++) {
		size_t length = length_of(model->rows[i].name);

		if (length == 0)
			continue;
		if (layers->num == 0 ||
		    is_other(model, last, last_length, i, length))
			layers->list[layers->num++].first_row = begin;
		for (; begin <= i; begin++)
			add_row(&layers->list[layers->num - 1],
				&model->rows[begin]);
		last = i;
		last_length = length;
	}
	for (; begin < model->num_rows; begin++)
		add_row(&layers->list[layers->num - 1], &model->rows[begin]);
	measure(layers, model);
	return DIST_OK;
}

void layers_release(struct layers *layers)
{
	free(layers->list);
	memset(layers, 0, sizeof(*layers));
}

/* Where stage index of num begins: leaves a layer for each stage on both
 * sides. */
static size_t stage_begin(const struct layers *layers, size_t num, size_t index)
{
	double all = 0, share, before = 0;
	size_t l, begin = 0;

	for (l = 0; l < layers->num; l++)
		all += layers->list[l].forward_flops;
	share = all * (double)index / (double)num;
	while (begin < layers->num &&
	       before + layers->list[begin].forward_flops / 2 < share)
		before += layers->list[begin++].forward_flops;
	if (begin < index)
		return index;
	return begin > layers->num - (num - index) ? layers->num - (num - index)
						   : begin;
}

void layers_stage(const struct layers *layers, int num, int index,
		  size_t *first, size_t *count)
{
	size_t l, end, n = (size_t)num;

	/* A stage that would be empty takes a layer from those behind it. */
	for (l = 0, end = 0; l <= (size_t)index; l++) {
		*first = end;
		end = l + 1 == n ? layers->num : stage_begin(layers, n, l + 1);
		if (end <= *first)
			end = *first + 1;
	}
	*count = end - *first;
}

int64_t layer_backward_ns(const struct layer *layer,
			  const struct schedule *schedule)
{
	int64_t sum_ns = 0;
	size_t i;

	for (i = 0; i < layer->num_rows; i++)
		sum_ns += schedule->backward_ns[layer->first_row + i];
	return sum_ns;
}

int64_t layer_forward_ns(const struct layer *layer,
			 const struct schedule *schedule)
{
	return llround((double)layer_backward_ns(layer, schedule) /
		       SCHEDULE_BACKWARD_FACTOR);
}
