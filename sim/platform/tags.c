/*
 * tags.c - the tags of an XML file, one after the other, in place: no copies,
 * no entities but the five of XML itself, no text between tags.
 */
#include "sim/platform/read.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static char *skip_blanks(char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

static bool ends_name(char c)
{
	return is_blank(c) || c == '=' || c == '/' || c == '>' || c == '<' ||
	       c == '"' || c == '\'' || c == '\0';
}

static char *skip_name(char *at)
{
	while (!ends_name(*at))
		at++;
	return at;
}

/* Puts the character in place of the entity at from, behind its ampersand, and
 * returns where the text goes on; NULL: another entity. */
static char *decode(char *from, char *to)
{
	static const struct {
		const char *name;
		char is;
	} entities[] = {{"quot;", '"'},
			{"amp;", '&'},
			{"lt;", '<'},
			{"gt;", '>'},
			{"apos;", '\''}};

	for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
		size_t len = strlen(entities[i].name);

		if (strncmp(from, entities[i].name, len) == 0) {
			*to = entities[i].is;
			return from + len;
		}
	}
	return NULL;
}

/* Ends the value that begins at `at`, behind its quote, with a zero; returns
 * what comes behind the other quote, NULL: it is not plain. */
static char *end_value(char *at, char quote)
{
	char *to = at;

	while (*at != quote) {
		if ((unsigned char)*at < ' ' || *at == '<')
			return NULL;
		if (*at != '&') {
			*to++ = *at++;
			continue;
		}
		at = decode(at + 1, to++);
		if (!at)
			return NULL;
	}
	*to = '\0';
	return at + 1;
}

/* What stands before the root: declarations and comments. NULL: not plain. */
static char *skip_others(char *at)
{
	for (;;) {
		at = skip_blanks(at);
		if (strncmp(at, "<!--", 4) == 0)
			at = strstr(at + 4, "-->");
		else if (strncmp(at, "<?", 2) == 0 ||
			 strncmp(at, "<!DOCTYPE", 9) == 0)
			at = strchr(at, '>');
		else
			return at;
		if (!at)
			return NULL;
		at = strchr(at, '>') + 1;
	}
}

static char *read_attributes(char *at, struct dist__tag *tag)
{
	tag->num = 0;
	for (;;) {
		char *behind = skip_blanks(at), *end, quote;

		if (*behind == '>' || *behind == '/')
			return behind;
		end = skip_name(behind);
		if (behind == at || end == behind || *end != '=' ||
		    tag->num == DIST__MOST_ATTRIBUTES)
			return NULL;
		quote = end[1];
		if (quote != '"' && quote != '\'')
			return NULL;
		*end = '\0';
		if (dist__tag_value(tag, behind))
			return NULL;
		tag->names[tag->num] = behind;
		tag->values[tag->num++] = end + 2;
		at = end_value(end + 2, quote);
		if (!at)
			return NULL;
	}
}

bool dist__tag_next(struct dist__tags *tags, struct dist__tag *tag)
{
	char *at = skip_others(tags->at), *end, last;

	if (!at || *at != '<')
		return false;
	tag->kind = at[1] == '/' ? DIST__TAG_CLOSE : DIST__TAG_OPEN;
	at += tag->kind == DIST__TAG_CLOSE ? 2 : 1;
	end = skip_name(at);
	tag->name = at;
	at = end > at ? read_attributes(end, tag) : NULL;
	if (!at)
		return false;
	for (const char *c = tags->at; c < at; c++)
		tags->line += *c == '\n';
	tag->line = tags->line;
	last = *at;
	*end = '\0';
	if (last == '/') {
		if (at[1] != '>' || tag->kind == DIST__TAG_CLOSE)
			return false;
		tag->kind = DIST__TAG_EMPTY;
		at++;
	}
	tags->at = at + 1;
	return tag->kind != DIST__TAG_CLOSE || tag->num == 0;
}

const char *dist__tag_value(const struct dist__tag *tag, const char *name)
{
	for (size_t i = 0; i < tag->num; i++)
		if (strcmp(tag->names[i], name) == 0)
			return tag->values[i];
	return NULL;
}

bool dist__tag_has_only(const struct dist__tag *tag, const char *list)
{
	for (size_t i = 0; i < tag->num; i++) {
		size_t len = strlen(tag->names[i]);
		const char *at = list;

		while (strncmp(at, tag->names[i], len) != 0 ||
		       (at[len] != ' ' && at[len] != '\0')) {
			at = strchr(at, ' ');
			if (!at)
				return false;
			at++;
		}
	}
	return true;
}
