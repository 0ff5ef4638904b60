/* log_line.c - lines of a log, without what terminals and launchers put around
 * them. */
#include "model/measured/log_line.h"

#include <string.h>

#include "base/text.h"

#define ESCAPE 0x1b

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the end of a control sequence of ECMA-48 that begins at c: behind
 * "ESC [ parameters letter", or two bytes. */
static const char *skip_escape(const char *c, const char *end)
{
	c++;
	if (c < end && *c == '[')
		for (c++; c < end && !(*c >= '@' && *c <= '~');)
			c++;
	return c < end ? c + 1 : end;
}

char *log_line_next(struct log_cursor *cursor)
{
	char *line = cursor->at, *into = line, *end;
	const char *from = line;

	if (line == cursor->end)
		return NULL;
	end = memchr(line, '\n', (size_t)(cursor->end - line));
	if (!end)
		end = cursor->end;
	cursor->at = end < cursor->end ? end + 1 : end;
	/* Editors on Windows put a byte order mark in front. */
	if (cursor->line++ == 0 && end - from >= 3 &&
	    memcmp(from, "\xEF\xBB\xBF", 3) == 0)
		from += 3;
	while (from < end) {
		unsigned char c = (unsigned char)*from;

		if (c == ESCAPE) {
			from = skip_escape(from, end);
			continue;
		}
		*into++ = c < ' ' || c == 0x7f ? ' ' : *from;
		from++;
	}
	*into = '\0';
	return line;
}

const char *log_line_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, " \t");

	*len = strcspn(word, " \t");
	*at = word + *len;
	return *len ? word : NULL;
}

size_t log_line_split(char *line, char **words, size_t most)
{
	size_t num = 0;

	while (num < most && *(line += strspn(line, " \t"))) {
		words[num++] = line;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
	}
	return num;
}

char *log_line_skip(char *line, const char *prefix)
{
	for (;;) {
		prefix += strspn(prefix, " \t");
		line += strspn(line, " \t");
		if (!*prefix)
			return line;
		if (is_digit(*prefix) && is_digit(*line)) {
			prefix += strspn(prefix, "0123456789");
			line += strspn(line, "0123456789");
		} else if (*prefix++ != *line++) {
			return NULL;
		}
	}
}

/* ---- words ------------------------------------------------------------ */

/* nccl-tests' words for types, and ours; NULL: we have no such type. */
static const struct type {
	const char *word, *name;
} types[] = {
	{"float", "float32"},     {"half", "float16"}, {"double", "float64"},
	{"bfloat16", "bfloat16"}, {"int8", "int8"},    {"uint8", "uint8"},
	{"int32", "int32"},       {"int64", "int64"},  {"int", "int32"},
	{"char", "int8"},         {"uint32", NULL},    {"uint64", NULL},
	{"fp8_e4m3", NULL},       {"fp8_e5m2", NULL},  {"f8e4m3", NULL},
	{"f8e5m2", NULL},         {"bool", "bool"},
};

bool log_type_find(const char *word, const char **name)
{
	const struct type *type = DIST__NAMED(types, word);

	if (type)
		*name = type->name;
	return type != NULL;
}
