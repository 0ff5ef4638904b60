#include "model/training/model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/quantity.h"
#include "base/data.h"
#include "base/input.h"
#include "base/printable.h"
#include "base/refuse.h"

#define HEADER          "parameter,numel,forward_flops"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* Up to there a double holds every whole number, and sums of a few cannot
 * overflow. */
#define MOST (UINT64_C(1) << 53)

/* Elements of a whole model: more than any has, and few enough for their
 * transfers to be simulated message by message. */
#define MOST_NUMEL (UINT64_C(1) << 43)

/* The first columns stand in this order, the others in any. */
enum column { NAME, NUMEL, FLOPS, WIDTH, POSITIONS, HEADS, MLP, NUM_COLUMNS };
#define NUM_FIRST WIDTH

static const char *const columns[NUM_COLUMNS] = {
	"parameter", "numel", "forward_flops", "width", "positions",
	"heads",     "mlp"};

/* Where the reader stands in its file. */
struct reader {
	const char *path;
	int line;
	enum column order[NUM_COLUMNS]; /* of the file */
	size_t num_columns;             /* 0: there was no header yet */
	struct dist_message *message;
};

static enum dist_error __attribute__((format(printf, 2, 3)))
expected(const struct reader *r, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	snprintf(r->message->text, sizeof r->message->text,
		 "%.200s:%d: expected %s", r->path, r->line, what);
	dist__printable(r->message->text);
	return DIST_ERR_INVALID_ARGUMENT;
}

static void find_path(const char *name, char *path, size_t size)
{
	char file[512];

	if (strchr(name, '/') || dist__ends_in(name, ".csv")) {
		snprintf(path, size, "%s", name);
		return;
	}
	snprintf(file, sizeof file, "models/%.480s.csv", name);
	dist__data_dir(file, path, size);
}

static void set_names(struct model *model, const char *path)
{
	dist__stem(model->name, sizeof model->name, path, ".csv");
	snprintf(model->path, sizeof model->path, "%.255s", path);
}

/* Reads a whole decimal number of at most MOST. */
static bool parse_count(const char *text, uint64_t *value)
{
	return dist__digits_step(&text, MOST, value) && *text == '\0';
}

/* Splits line at its commas into exactly num fields. */
static bool split(char *line, char **fields, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		fields[i] = line;
		line = strchr(line, ',');
		if (!line)
			return i + 1 == num;
		*line++ = '\0';
	}
	return false;
}

static enum dist_error append(struct model *model, const struct model_row *row)
{
	struct model_row *added = dist__array_add(
		&model->rows, &model->num_rows, row, sizeof *row);

	if (!added)
		return DIST_ERR_NO_MEMORY;
	added->name = strdup(row->name);
	if (!added->name)
		return DIST_ERR_NO_MEMORY;
	model->num_parameters += row->numel > 0;
	model->numel += row->numel;
	model->forward_flops += row->forward_flops;
	return DIST_OK;
}

/* Reads the numbers of a row. A field of the columns behind the first may be
 * empty: not said. */
static enum dist_error read_numbers(const struct reader *r, char **fields,
				    uint64_t values[NUM_COLUMNS])
{
	for (size_t i = NUMEL; i < r->num_columns; i++) {
		enum column column = r->order[i];

		if (column >= NUM_FIRST && !*fields[i])
			continue;
		if (!parse_count(fields[i], &values[column]))
			return expected(r,
					"%s to be a whole number of at most "
					"2^53, got \"%.40s\"",
					columns[column], fields[i]);
	}
	return DIST_OK;
}

static enum dist_error check_numbers(const struct model *model,
				     const struct reader *r,
				     const uint64_t values[NUM_COLUMNS])
{
	if (values[NUMEL] > MOST_NUMEL - model->numel)
		return expected(r, "at most 2^43 elements in all");
	if (!values[WIDTH] != !values[POSITIONS])
		return expected(r, "width and positions both, or neither");
	if (values[POSITIONS] && values[WIDTH] > MOST / values[POSITIONS])
		return expected(r, "width times positions to be at most 2^53");
	if (values[NUMEL] && values[WIDTH] > values[NUMEL])
		return expected(r, "width to be at most numel: elements of one "
				   "position, which its parameters make");
	if (values[HEADS] > INT32_MAX)
		return expected(r, "heads to be at most 2147483647");
	if (values[HEADS] && !values[WIDTH])
		return expected(r, "width and positions beside heads");
	if (values[MLP] > 1)
		return expected(r, "mlp to be 1 or empty");
	return DIST_OK;
}

static enum dist_error read_row(struct model *model, const struct reader *r,
				char *line)
{
	uint64_t values[NUM_COLUMNS] = {0};
	char *fields[NUM_COLUMNS];
	enum dist_error error;

	if (!split(line, fields, r->num_columns))
		return expected(r, "%zu fields, as in the header",
				r->num_columns);
	if (!*fields[NAME])
		return expected(r, "a parameter's name before the first comma");
	error = read_numbers(r, fields, values);
	if (!error)
		error = check_numbers(model, r, values);
	if (error)
		return error;
	return append(model, &(struct model_row){
				     .name = fields[NAME],
				     .line = r->line,
				     .numel = values[NUMEL],
				     .forward_flops = (double)values[FLOPS],
				     .width = values[WIDTH],
				     .positions = values[POSITIONS],
				     .heads = (int)values[HEADS],
				     .mlp = values[MLP] > 0,
			     });
}

/* Stores which column stands where. */
static enum dist_error read_header(struct reader *r, char *line)
{
	unsigned seen = 0;
	char *word = line, *comma;

	for (; word; word = comma ? comma + 1 : NULL) {
		size_t c = 0;

		comma = strchr(word, ',');
		if (comma)
			*comma = '\0';
		while (c < NUM_COLUMNS && strcmp(columns[c], word) != 0)
			c++;
		if (c == NUM_COLUMNS || seen & 1U << c ||
		    (r->num_columns < NUM_FIRST && c != r->num_columns))
			break;
		seen |= 1U << c;
		r->order[r->num_columns++] = (enum column)c;
	}
	if (word || r->num_columns < NUM_FIRST)
		return expected(r, "the header \"" HEADER
				   "\", and behind it any of width, "
				   "positions, heads, mlp");
	return DIST_OK;
}

static enum dist_error read_line(struct model *model, struct reader *r,
				 char *line)
{
	/* Editors on Windows put a byte order mark in front. */
	if (r->line == 1 && strncmp(line, BYTE_ORDER_MARK, 3) == 0)
		line += 3;
	if (line[0] == '#' || line[0] == '\0')
		return DIST_OK;
	return r->num_columns ? read_row(model, r, line) : read_header(r, line);
}

static enum dist_error read_rows(struct model *model, struct reader *r,
				 FILE *in)
{
	enum dist_error error = DIST_OK;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (!error && (n = getline(&line, &room, in)) >= 0) {
		r->line++;
		if (strlen(line) != (size_t)n)
			error = expected(r, "text, found a zero byte");
		line[strcspn(line, "\r\n")] = '\0';
		if (!error)
			error = read_line(model, r, line);
	}
	free(line);
	if (!error && ferror(in))
		return dist__refuse_as(r->message, DIST_ERR_IO, "%.200s: %s",
				       r->path, strerror(errno));
	r->line++;
	if (!error && !r->num_columns)
		error = expected(r, "the header \"" HEADER "\"");
	if (!error && model->num_parameters == 0)
		error = expected(r, "at least one row with numel above 0");
	if (!error && !(model->forward_flops > 0))
		error = expected(r, "at least one row with forward_flops above "
				    "0");
	return error;
}

/* The parameters without memory. Errors: NO_MEMORY. */
static enum dist_error add_phantoms(struct model *model)
{
	size_t next = 0;

	model->phantoms =
		calloc(model->num_parameters, sizeof *model->phantoms);
	if (!model->phantoms)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < model->num_rows; i++) {
		const struct model_row *row = &model->rows[i];
		struct dist_tensor none =
			dist_tensor(NULL, row->numel, DIST_FLOAT32);

		if (row->numel > 0)
			model->phantoms[next++] = (struct dist_ddp_parameter){
				row->name, none, none};
	}
	return DIST_OK;
}

enum dist_error model_load(struct model *model, const char *name,
			   struct dist_message *message)
{
	char path[4096];
	struct dist__spelling near = dist__spelling_of(name);
	struct reader r = {.path = path, .message = message};
	enum dist_error error;
	FILE *in;

	memset(model, 0, sizeof *model);
	message->text[0] = '\0';
	find_path(name, path, sizeof path);
	in = dist__input_open(path);
	if (!in) {
		if (strchr(name, '/') || dist__ends_in(name, ".csv"))
			return dist__refuse(message, "--model %.300s: %s", name,
					    strerror(errno));
		dist__data_offer(&near, "models", ".csv");
		return dist__refuse(
			message,
			"no model \"%.100s\": expected one of lockstep list "
			"models or lockstep list llms, or a FILE.csv%s",
			name, dist__spelling_hint(&near));
	}
	set_names(model, path);
	error = read_rows(model, &r, in);
	fclose(in);
	if (!error)
		error = add_phantoms(model);
	if (error) {
		if (!*message->text)
			snprintf(message->text, sizeof message->text, "%s",
				 dist_error_string(error));
		model_release(model);
	}
	return error;
}

void model_release(struct model *model)
{
	free(model->phantoms);
	for (size_t i = 0; i < model->num_rows; i++)
		free(model->rows[i].name);
	free(model->rows);
	memset(model, 0, sizeof *model);
}
