#include "scenarios/layers.h"

#include <math.h>
#include <stdio.h>
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
	for (size_t i = 0; i < model->num_rows; i++)
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
	if (row->width)
		layer->activation = row->width * row->positions;
	if (row->heads) {
		layer->attention = row->width * row->positions;
		layer->heads = row->heads;
		layer->attentions++;
	}
	if (!row->mlp)
		return;
	layer->mlp_numel += row->numel;
	layer->mlp_flops += row->forward_flops;
	if (row->width) {
		layer->width = row->width;
		layer->tokens = row->positions;
	}
}

/* Begins a layer at row first, called as the first length bytes of name. */
static void begin_layer(struct layers *layers, size_t first, const char *name,
			size_t length)
{
	struct layer *layer = &layers->list[layers->num++];

	layer->first_row = first;
	layer->name = name;
	layer->name_length = (int)length;
}

enum dist_error layers_init(struct layers *layers, const struct model *model)
{
	size_t (*length_of)(const char *name) =
		has_blocks(model) ? block_length : module_length;
	size_t i, begin = 0, last = 0, last_length = 0;

	memset(layers, 0, sizeof *layers);
	layers->list = calloc(model->num_rows, sizeof *layers->list);
	if (!layers->list)
		return DIST_ERR_NO_MEMORY;
	for (i = 0; i < model->num_rows; i++) {
		size_t length = length_of(model->rows[i].name);

		if (length == 0)
			continue;
		if (layers->num == 0 ||
		    is_other(model, last, last_length, i, length))
			begin_layer(layers, begin, model->rows[i].name, length);
		for (; begin <= i; begin++)
			add_row(&layers->list[layers->num - 1],
				&model->rows[begin]);
		last = i;
		last_length = length;
	}
	for (; begin < model->num_rows; begin++)
		add_row(&layers->list[layers->num - 1], &model->rows[begin]);
	return DIST_OK;
}

void layers_release(struct layers *layers)
{
	free(layers->list);
	memset(layers, 0, sizeof *layers);
}

bool layer_refuse(const struct layer *layer, const struct model *model,
		  const char *what, struct dist_message *message)
{
	snprintf(message->text, sizeof message->text,
		 "%s:%d: layer %.*s: expected %s", model->path,
		 model->rows[layer->first_row].line,
		 layer->name_length < 64 ? layer->name_length : 64, layer->name,
		 what);
	return false;
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

	for (size_t i = 0; i < layer->num_rows; i++)
		sum_ns += schedule->backward_ns[layer->first_row + i];
	return sum_ns;
}

int64_t layer_forward_ns(const struct layer *layer,
			 const struct schedule *schedule)
{
	return llround((double)layer_backward_ns(layer, schedule) /
		       SCHEDULE_BACKWARD_FACTOR);
}
