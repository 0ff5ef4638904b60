#include "trace/stream.h"

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
	/* The character at hand, or AT_END; the one before, and behind. */
	struct place {
		int c, line, column; /* in bytes, from 1 */
	} at, before;
	int behind;
	bool is_back; /* behind is known */
	bool broken;  /* reading failed: IO, not syntax */
	int reason;   /* why the file itself failed, as errno; 0: it did not */
	unsigned char buffer[16384];
	int filled, taken;
	size_t len;         /* of the value being parsed */
	struct place value; /* its first character */
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
	struct place *at = &s->at;

	s->before = *at;
	if (at->c == '\n') {
		at->line++;
		at->column = 0;
	}
	at->column++;
	if (!s->is_back && s->taken == s->filled)
		fill(s);
	if (s->is_back)
		at->c = s->behind;
	else
		at->c = s->taken < s->filled ? s->buffer[s->taken++] : AT_END;
	s->is_back = false;
}

static void go_back(struct stream *s)
{
	s->behind = s->at.c;
	s->is_back = true;
	s->at = s->before;
}

static void skip_space(struct stream *s)
{
	while (s->at.c == ' ' || s->at.c == '\t' || s->at.c == '\n' ||
	       s->at.c == '\r')
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
		return fail_at(s, s->at.line, s->at.column, DIST_ERR_IO,
			       "the compressed data is damaged or incomplete");
	return fail_at(s, s->at.line, s->at.column, DIST_ERR_INVALID_ARGUMENT,
		       s->at.c == AT_END ? "the file ends too early" : text);
}

static enum dist_error expect(struct stream *s, int c, const char *text)
{
	skip_space(s);
	if (s->at.c != c)
		return fail(s, text);
	advance(s);
	return DIST_OK;
}

/* ---- values ----------------------------------------------------------- */

/* Gives the JSON library one character, so that it takes no more than the
 * value's. */
static size_t feed(void *to, size_t size, void *arg)
{
	struct stream *s = arg;

	(void)size;
	if (s->at.c == AT_END || ++s->len > LONGEST_VALUE)
		return 0;
	*(char *)to = (char)s->at.c;
	advance(s);
	return 1;
}

static enum dist_error parse_value(struct stream *s, json_t **value)
{
	json_error_t error;
	int line;

	skip_space(s);
	s->value = s->at;
	s->len = 0;
	*value = NULL;
	if (s->at.c == AT_END || strchr(",]}:", s->at.c))
		return fail(s, "expected a value");
	*value = json_load_callback(
		feed, s, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
	/* What ends a number or a word is none of it. */
	if (*value && !json_is_object(*value) && !json_is_array(*value) &&
	    !json_is_string(*value) && s->at.c != AT_END)
		go_back(s);
	if (*value)
		return DIST_OK;
	if (s->len > LONGEST_VALUE)
		return fail(s, "no value of a trace is this long");
	if (s->at.c == AT_END)
		return fail(s, "");
	line = s->value.line + error.line - 1;
	return fail_at(s, line,
		       error.line > 1 ? error.column
				      : s->value.column + error.column - 1,
		       DIST_ERR_INVALID_ARGUMENT, error.text);
}

/* Puts the value's place in front of the visitor's text. */
static enum dist_error refused(struct stream *s, enum dist_error error,
			       const struct dist_message *text)
{
	return error ? fail_at(s, s->value.line, s->value.column, error,
			       text->text)
		     : DIST_OK;
}

static enum dist_error read_event(struct stream *s)
{
	struct dist_message text = {""};
	json_t *event;
	enum dist_error error = parse_value(s, &event);

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
	if (!error && s->at.c == ']') {
		advance(s);
		return DIST_OK;
	}
	while (!error) {
		error = read_event(s);
		skip_space(s);
		if (error || s->at.c != ',')
			break;
		advance(s);
	}
	return error ? error : expect(s, ']', "expected ',' or ']'");
}

static enum dist_error read_plain_member(struct stream *s, const char *key)
{
	struct dist_message text = {""};
	json_t *value;
	enum dist_error error = parse_value(s, &value);

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
	if (s->at.c != '"')
		return fail(s, "expected the name of a member");
	error = parse_value(s, &key);
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
	for (const char *c = "\xEF\xBB\xBF"; *c && s->at.c == (unsigned char)*c;
	     c++)
		advance(s);
	s->at.column = 1;
	error = expect(s, '{', "not a trace: expected '{'");
	skip_space(s);
	while (!error && s->at.c != '}') {
		error = read_member(s, &has_events);
		skip_space(s);
		if (error || s->at.c != ',')
			break;
		advance(s);
	}
	if (!error)
		error = expect(s, '}', "expected ',' or '}'");
	skip_space(s);
	if (!error && (s->at.c != AT_END || s->broken))
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
	s->at.line = 1;
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
	free(s);
	return error;
}
