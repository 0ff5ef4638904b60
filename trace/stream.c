#include "trace/stream.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/input.h"
#include "base/printable.h"
#include "base/refuse.h"

/* No event is that long: what is, is not a trace. */
#define LONGEST_VALUE ((size_t)64 << 20)

#define AT_END (-1)

struct stream {
	gzFile file;
	const char *path;
	const struct dist__trace_visitor *visitor;
	struct dist_message *message;
	int c; /* the character at hand, or AT_END */
	int line;
	int column;  /* of c, in bytes, from 1 */
	bool broken; /* reading failed: IO, not syntax */
	int reason;  /* why the file itself failed, as errno; 0: it did not */
	unsigned char buffer[16384];
	int filled, taken;
	char *text; /* the value being cut out */
	size_t len, capacity;
	int text_line, text_column; /* of its first character */
};

/* ---- characters ------------------------------------------------------- */

/* zlib does not call it an error when the compressed data ends early, only
 * closing or asking tells. */
static void fill(struct stream *s)
{
	int error = Z_OK;

	s->taken = 0;
	s->filled = gzread(s->file, s->buffer, sizeof s->buffer);
	if (s->filled > 0)
		return;
	gzerror(s->file, &error);
	s->reason = error == Z_ERRNO ? errno : 0;
	s->broken = s->filled < 0 || error == Z_BUF_ERROR;
	s->filled = 0;
}

static void advance(struct stream *s)
{
	if (s->c == '\n') {
		s->line++;
		s->column = 0;
	}
	s->column++;
	if (s->taken == s->filled)
		fill(s);
	s->c = s->taken < s->filled ? s->buffer[s->taken++] : AT_END;
}

static void skip_space(struct stream *s)
{
	while (s->c == ' ' || s->c == '\t' || s->c == '\n' || s->c == '\r')
		advance(s);
}

/* ---- errors ----------------------------------------------------------- */

static enum dist_error fail_at(struct stream *s, int line, int column,
			       enum dist_error error, const char *text)
{
	struct dist_message message;

	snprintf(message.text, sizeof message.text, "%.200s:%d:%d: %.256s",
		 s->path, line, column, text);
	/* The text may quote the file, whatever it holds. */
	dist__printable(message.text);
	*s->message = message;
	return error;
}

static enum dist_error fail(struct stream *s, const char *text)
{
	if (s->reason)
		return dist__refuse_as(s->message, DIST_ERR_IO,
				       "%.300s: cannot be read: %s", s->path,
				       strerror(s->reason));
	if (s->broken)
		return fail_at(s, s->line, s->column, DIST_ERR_IO,
			       "the compressed data is damaged or incomplete");
	return fail_at(s, s->line, s->column, DIST_ERR_INVALID_ARGUMENT,
		       s->c == AT_END ? "the file ends too early" : text);
}

static enum dist_error expect(struct stream *s, int c, const char *text)
{
	skip_space(s);
	if (s->c != c)
		return fail(s, text);
	advance(s);
	return DIST_OK;
}

/* ---- values ----------------------------------------------------------- */

static enum dist_error take(struct stream *s)
{
	size_t capacity = s->capacity ? 2 * s->capacity : 1024;
	char *text;

	if (s->c == AT_END)
		return fail(s, "");
	if (s->len == s->capacity) {
		if (capacity > LONGEST_VALUE)
			return fail(s, "no value of a trace is this long");
		text = realloc(s->text, capacity);
		if (!text)
			return fail_at(s, s->line, s->column,
				       DIST_ERR_NO_MEMORY, "out of memory");
		s->text = text;
		s->capacity = capacity;
	}
	s->text[s->len++] = (char)s->c;
	advance(s);
	return DIST_OK;
}

static enum dist_error take_string(struct stream *s)
{
	enum dist_error error = take(s);

	while (!error && s->c != '"') {
		if (s->c == '\\')
			error = take(s);
		if (!error)
			error = take(s);
	}
	return error ? error : take(s);
}

/* Where a number or a word at the outermost level ends. */
static bool ends_scalar(int c)
{
	return c == ',' || c == ']' || c == '}' || c == ':' || c == AT_END ||
	       isspace(c);
}

/* Cuts the next value out into s->text, looking at brackets and strings only;
 * what lies between them is the JSON library's business. */
static enum dist_error cut_value(struct stream *s)
{
	enum dist_error error = DIST_OK;
	int depth = 0;

	skip_space(s);
	s->len = 0;
	s->text_line = s->line;
	s->text_column = s->column;
	if (ends_scalar(s->c))
		return fail(s, "expected a value");
	do {
		if (s->c == '"') {
			error = take_string(s);
			continue;
		}
		depth += s->c == '{' || s->c == '[';
		depth -= s->c == '}' || s->c == ']';
		error = take(s);
	} while (!error &&
		 (depth > 0 || (!ends_scalar(s->c) &&
				strchr("\"}]", s->text[s->len - 1]) == NULL)));
	return error;
}

static enum dist_error parse_text(struct stream *s, json_t **value)
{
	json_error_t error;

	*value = json_loadb(s->text, s->len, JSON_DECODE_ANY, &error);
	if (*value)
		return DIST_OK;
	return fail_at(s, s->text_line + error.line - 1,
		       error.line > 1 ? error.column
				      : s->text_column + error.column - 1,
		       DIST_ERR_INVALID_ARGUMENT, error.text);
}

/* Puts the value's place in front of the visitor's text. */
static enum dist_error refused(struct stream *s, enum dist_error error,
			       const struct dist_message *text)
{
	return error ? fail_at(s, s->text_line, s->text_column, error,
			       text->text)
		     : DIST_OK;
}

static enum dist_error read_event(struct stream *s)
{
	struct dist_message text = {""};
	enum dist_error error = cut_value(s);
	json_t *event = NULL;

	if (error)
		return error;
	error = parse_text(s, &event);
	if (!error)
		error = refused(
			s, s->visitor->event(event, s->visitor->arg, &text),
			&text);
	json_decref(event);
	return error;
}

static enum dist_error read_events(struct stream *s)
{
	enum dist_error error = expect(s, '[', "expected an array of events");

	skip_space(s);
	if (!error && s->c == ']') {
		advance(s);
		return DIST_OK;
	}
	while (!error) {
		error = read_event(s);
		skip_space(s);
		if (error || s->c != ',')
			break;
		advance(s);
	}
	return error ? error : expect(s, ']', "expected ',' or ']'");
}

static enum dist_error read_plain_member(struct stream *s, const char *key)
{
	struct dist_message text = {""};
	enum dist_error error = cut_value(s);
	json_t *value = NULL;

	if (!error)
		error = parse_text(s, &value);
	if (!error)
		error = refused(
			s,
			s->visitor->member(key, value, s->visitor->arg, &text),
			&text);
	json_decref(value);
	return error;
}

static enum dist_error read_member(struct stream *s, bool *has_events)
{
	enum dist_error error;
	json_t *key = NULL;

	skip_space(s);
	if (s->c != '"')
		return fail(s, "expected the name of a member");
	error = cut_value(s);
	if (!error)
		error = parse_text(s, &key);
	if (!error)
		error = expect(s, ':', "expected ':'");
	if (!error && strcmp(json_string_value(key), "traceEvents") == 0) {
		error = *has_events
				? fail(s, "expected \"traceEvents\" only once")
				: read_events(s);
		*has_events = true;
	} else if (!error) {
		error = read_plain_member(s, json_string_value(key));
	}
	json_decref(key);
	return error;
}

static enum dist_error read_root(struct stream *s)
{
	enum dist_error error;
	bool has_events = false;

	advance(s);
	/* Editors on Windows put a byte order mark in front. */
	for (const char *c = "\xEF\xBB\xBF"; *c && s->c == (unsigned char)*c;
	     c++)
		advance(s);
	s->column = 1;
	error = expect(s, '{', "not a trace: expected '{'");
	skip_space(s);
	while (!error && s->c != '}') {
		error = read_member(s, &has_events);
		skip_space(s);
		if (error || s->c != ',')
			break;
		advance(s);
	}
	if (!error)
		error = expect(s, '}', "expected ',' or '}'");
	skip_space(s);
	if (!error && (s->c != AT_END || s->broken))
		error = fail(s, "expected the end of the file");
	if (!error && !has_events)
		error = fail_at(s, 1, 1, DIST_ERR_INVALID_ARGUMENT,
				"not a trace: there is no \"traceEvents\"");
	return error;
}

enum dist_error dist__trace_visit(const char *path,
				  const struct dist__trace_visitor *visitor,
				  struct dist_message *message)
{
	struct stream *s = calloc(1, sizeof *s);
	enum dist_error error;
	int fd;

	if (!s)
		return dist__refuse_as(message, DIST_ERR_NO_MEMORY,
				       "out of memory");
	s->path = path;
	s->visitor = visitor;
	s->message = message;
	s->line = 1;
	errno = 0;
	fd = dist__input_fd(path);
	s->file = fd < 0 ? NULL : gzdopen(fd, "rb");
	if (!s->file) {
		(void)dist__refuse(message, "%.300s: cannot be read: %s", path,
				   strerror(errno ? errno : ENOMEM));
		if (fd >= 0)
			close(fd);
		free(s);
		return DIST_ERR_IO;
	}
	error = read_root(s);
	gzclose(s->file);
	free(s->text);
	free(s);
	return error;
}
