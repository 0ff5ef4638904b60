#include "scenarios/model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/data.h"

#define HEADER          "parameter,numel,forward_flops"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* Where the reader stands in its file. */
struct reader {
	const char *path;
	int line;
	struct dist_message *message;
};

static enum dist_error __attribute__((format(printf, 2, 3)))
expected(const struct reader *r, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(r->message->text, sizeof(r->message->text),
		 "%.200s:%d: expected %s", r->path, r->line, what);
	return DIST_ERR_INVALID_ARGUMENT;
}

static bool ends_in(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && strcmp(text + n - m, tail) == 0;
}

static void find_path(const char *name, char *path, size_t size)
{
	char file[512];

	if (strchr(name, '/') || ends_in(name, ".csv")) {
		snprintf(path, size, "%s", name);
		return;
	}
	snprintf(file, sizeof(file), "models/%.480s.csv", name);
	data_path(path, size, file);
}

static void set_name(struct model *model, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	int n = (int)strlen(base) - (ends_in(base, ".csv") ? 4 : 0);

	snprintf(model->name, sizeof(model->name), "%.*s", n, base);
}

/* Reads a whole decimal number of at most 2^53, which a double holds exactly:
 * more than any model has, and sums of a few cannot overflow. */
static bool parse_count(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *value <= UINT64_C(1) << 53;
}

/* Splits line at its commas into exactly num fields. */
static bool split(char *line, char **fields, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++) {
		fields[i] = line;
		line = strchr(line, ',');
		if (!line)
			return i + 1 == num;
		*line++ = '\0';
	}
	return false;
}

static enum dist_error append(struct model *model, const char *name,
			      size_t numel, double flops)
{
	/* Grows at powers of two: the table is full exactly then. */
	if ((model->num_rows & (model->num_rows - 1)) == 0) {
		size_t room = model->num_rows ? 2 * model->num_rows : 1;
		struct model_row *rows =
			realloc(model->rows, room * sizeof(*rows));

		if (!rows)
			return DIST_ERR_NO_MEMORY;
		model->rows = rows;
	}
	model->rows[model->num_rows].name = strdup(name);
	if (!model->rows[model->num_rows].name)
		return DIST_ERR_NO_MEMORY;
	model->rows[model->num_rows].numel = numel;
	model->rows[model->num_rows].forward_flops = flops;
	model->num_rows++;
	model->num_parameters += numel > 0;
	model->numel += numel;
	model->forward_flops += flops;
	return DIST_OK;
}

static enum dist_error read_row(struct model *model, const struct reader *r,
				char *line)
{
	uint64_t numel, flops;
	char *fields[3];

	if (!split(line, fields, 3))
		return expected(r, "three fields: " HEADER);
	if (!*fields[0])
		return expected(r, "a parameter's name before the first comma");
	if (!parse_count(fields[1], &numel))
		return expected(r, "numel to be a whole number, got \"%.40s\"",
				fields[1]);
	if (!parse_count(fields[2], &flops))
		return expected(r,
				"forward_flops to be a whole number, got "
				"\"%.40s\"",
				fields[2]);
	if (numel > (UINT64_C(1) << 53) - model->numel)
		return expected(r, "at most 2^53 elements in all");
	return append(model, fields[0], (size_t)numel, (double)flops);
}

static enum dist_error read_line(struct model *model, const struct reader *r,
				 char *line, bool *seen_header)
{
	bool is_header = !*seen_header;

	/* Editors on Windows put a byte order mark in front. */
	if (r->line == 1 && strncmp(line, BYTE_ORDER_MARK, 3) == 0)
		line += 3;
	if (line[0] == '#' || line[0] == '\0')
		return DIST_OK;
	*seen_header = true;
	if (!is_header)
		return read_row(model, r, line);
	return strcmp(line, HEADER) == 0
		       ? DIST_OK
		       : expected(r, "the header \"" HEADER "\"");
}

static enum dist_error read_rows(struct model *model, struct reader *r,
				 FILE *in)
{
	enum dist_error err = DIST_OK;
	bool seen_header = false;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (!err && (n = getline(&line, &room, in)) >= 0) {
		r->line++;
		if (strlen(line) != (size_t)n)
			err = expected(r, "text, found a zero byte");
		line[strcspn(line, "\r\n")] = '\0';
		if (!err)
			err = read_line(model, r, line, &seen_header);
	}
	free(line);
	if (!err && ferror(in)) {
		snprintf(r->message->text, sizeof(r->message->text),
			 "%.200s: %s", r->path, strerror(errno));
		return DIST_ERR_IO;
	}
	r->line++;
	if (!err && !seen_header)
		err = expected(r, "the header \"" HEADER "\"");
	if (!err && model->num_parameters == 0)
		err = expected(r, "at least one row with numel above 0");
	return err;
}

enum dist_error model_load(struct model *model, const char *name,
			   struct dist_message *message)
{
	char path[4096];
	struct reader r = {path, 0, message};
	enum dist_error err;
	FILE *in;

	memset(model, 0, sizeof(*model));
	message->text[0] = '\0';
	find_path(name, path, sizeof(path));
	in = fopen(path, "r");
	if (!in) {
		snprintf(message->text, sizeof(message->text),
			 "model %.100s: cannot read %.200s: %s; expected one "
			 "of lockstep list models, or a FILE.csv",
			 name, path, strerror(errno));
		return DIST_ERR_INVALID_ARGUMENT;
	}
	set_name(model, path);
	err = read_rows(model, &r, in);
	fclose(in);
	if (err) {
		if (!*message->text)
			snprintf(message->text, sizeof(message->text), "%s",
				 dist_error_string(err));
		model_release(model);
	}
	return err;
}

void model_release(struct model *model)
{
	size_t i;

	for (i = 0; i < model->num_rows; i++)
		free(model->rows[i].name);
	free(model->rows);
	memset(model, 0, sizeof(*model));
}
