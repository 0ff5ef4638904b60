#include "base/yaml_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/printable.h"
#include "base/spelling.h"

void dist__yaml_names_add(struct dist__yaml_names *names, const char *name)
{
	size_t room = sizeof names->text - names->used;
	int len = snprintf(names->text + names->used, room, "%s%s",
			   names->used ? ", " : "", name);

	if (len > 0)
		names->used += (size_t)len < room ? (size_t)len : room - 1;
}

/* A text with a zero byte in it ends there: a name that nothing has. */
const char *dist__yaml_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE
		       ? (const char *)node->data.scalar.value
		       : "";
}

const yaml_node_t *dist__yaml_node(const struct dist__yaml *yaml, int number)
{
	return yaml_document_get_node(yaml->document, number);
}

/* ---- complaints ------------------------------------------------------- */

/* lines are counted from 0 in libyaml, from 1 in every editor. */
static enum dist_error refuse_line(const struct dist__yaml *yaml, size_t line,
				   const char *format, va_list args)
{
	char *text = yaml->message->text;
	size_t size = sizeof yaml->message->text;
	int len = snprintf(text, size, "%.200s:%zu: ", yaml->path, line + 1);

	if (len > 0 && (size_t)len < size)
		vsnprintf(text + len, size - (size_t)len, format, args);
	dist__printable(text);
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist__yaml_refuse(const struct dist__yaml *yaml,
				  const yaml_node_t *node, const char *format,
				  ...)
{
	enum dist_error error;
	va_list args;

	va_start(args, format);
	error = refuse_line(yaml, node->start_mark.line, format, args);
	va_end(args);
	return error;
}

/* As above, where there is no node to point at. */
__attribute__((format(printf, 3, 4))) static enum dist_error
refuse_at(const struct dist__yaml *yaml, size_t line, const char *format, ...)
{
	enum dist_error error;
	va_list args;

	va_start(args, format);
	error = refuse_line(yaml, line, format, args);
	va_end(args);
	return error;
}

enum dist_error dist__yaml_refuse_value(const struct dist__yaml *yaml,
					const char *key,
					const yaml_node_t *value,
					const char *expected)
{
	if (value->type == YAML_SCALAR_NODE)
		return dist__yaml_refuse(yaml, value,
					 "%.40s: expected %s, not \"%.40s\"",
					 key, expected, dist__yaml_text(value));
	return dist__yaml_refuse(
		yaml, value, "%.40s: expected %s, not a %s", key, expected,
		value->type == YAML_SEQUENCE_NODE ? "list" : "mapping");
}

/* ---- scalars ---------------------------------------------------------- */

enum dist_error dist__yaml_read_text(const struct dist__yaml *yaml,
				     const struct dist__yaml_key *key,
				     const yaml_node_t *value, void *into)
{
	size_t len = strlen(dist__yaml_text(value));

	if (len == 0)
		return dist__yaml_refuse_value(yaml, key->name, value,
					       "a text");
	if (len >= key->bytes)
		return dist__yaml_refuse(
			yaml, value, "%s: expected %zu bytes at most, not %zu",
			key->name, key->bytes - 1, len);
	memcpy((char *)into + key->offset, dist__yaml_text(value), len + 1);
	return DIST_OK;
}

/* Returns whether node is an unquoted scalar of these characters only. */
static bool is_plain(const yaml_node_t *node, const char *characters)
{
	const char *text = dist__yaml_text(node);

	return *text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       text[strspn(text, characters)] == '\0';
}

enum dist_error dist__yaml_read_double(const struct dist__yaml *yaml,
				       const struct dist__yaml_key *key,
				       const yaml_node_t *value, void *into)
{
	double number = -1;
	char *end = NULL;

	if (is_plain(value, "0123456789.eE+-"))
		number = strtod(dist__yaml_text(value), &end);
	if (!end || *end || number < 0 || !isfinite(number))
		return dist__yaml_refuse_value(yaml, key->name, value,
					       "a number of 0 or more");
	memcpy((char *)into + key->offset, &number, sizeof number);
	return DIST_OK;
}

/* Reads a whole number from least to most; false if it is none. */
static bool whole_number(const yaml_node_t *value, uintmax_t least,
			 uintmax_t most, uintmax_t *number)
{
	if (!is_plain(value, "0123456789"))
		return false;
	errno = 0;
	*number = strtoumax(dist__yaml_text(value), NULL, 10);
	return errno == 0 && *number >= least && *number <= most;
}

enum dist_error dist__yaml_read_size(const struct dist__yaml *yaml,
				     const struct dist__yaml_key *key,
				     const yaml_node_t *value, void *into)
{
	uintmax_t number;
	size_t size;

	if (!whole_number(value, 0, SIZE_MAX, &number))
		return dist__yaml_refuse_value(yaml, key->name, value,
					       "a whole number of 0 or more");
	size = (size_t)number;
	memcpy((char *)into + key->offset, &size, sizeof size);
	return DIST_OK;
}

enum dist_error dist__yaml_read_count(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *value, void *into)
{
	uintmax_t number;
	int count;

	if (!whole_number(value, 1, INT_MAX, &number))
		return dist__yaml_refuse_value(yaml, key->name, value,
					       "a whole number of 1 or more");
	count = (int)number;
	memcpy((char *)into + key->offset, &count, sizeof count);
	return DIST_OK;
}

/* ---- mappings --------------------------------------------------------- */

static const struct dist__yaml_key *key_find(const struct dist__yaml_key *keys,
					     const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

static struct dist__yaml_names key_names(const struct dist__yaml_key *keys)
{
	struct dist__yaml_names names = {.used = 0};

	for (; keys->name; keys++)
		dist__yaml_names_add(&names, keys->name);
	return names;
}

static enum dist_error refuse_key(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *keys,
				  const char *what, const yaml_node_t *node)
{
	const char *name = dist__yaml_text(node);
	struct dist__spelling near = dist__spelling_of(name);

	for (const struct dist__yaml_key *key = keys; key->name; key++)
		dist__spelling_offer(&near, key->name, strlen(key->name));
	return dist__yaml_refuse(
		yaml, node, "unknown key \"%.40s\" of %s%s%s", name, what,
		*near.name ? "" : ": expected one of ",
		*near.name ? dist__spelling_hint(&near) : key_names(keys).text);
}

enum dist_error dist__yaml_repeated(const struct dist__yaml *yaml,
				    const yaml_node_t *mapping,
				    const yaml_node_pair_t *pair)
{
	const char *name = dist__yaml_text(dist__yaml_node(yaml, pair->key));
	const yaml_node_pair_t *p;

	for (p = pair + 1; p < mapping->data.mapping.pairs.top; p++) {
		const yaml_node_t *later = dist__yaml_node(yaml, p->key);

		if (strcmp(name, dist__yaml_text(later)) == 0)
			return dist__yaml_refuse(yaml, later,
						 "expected \"%.40s\" only once",
						 name);
	}
	return DIST_OK;
}

/* Reads one pair of a mapping. */
static enum dist_error read_pair(const struct dist__yaml *yaml,
				 const struct dist__yaml_key *keys,
				 const char *what, const yaml_node_pair_t *pair,
				 void *into)
{
	const yaml_node_t *name = dist__yaml_node(yaml, pair->key);
	const struct dist__yaml_key *key =
		key_find(keys, dist__yaml_text(name));

	if (!key)
		return refuse_key(yaml, keys, what, name);
	return key->read(yaml, key, dist__yaml_node(yaml, pair->value), into);
}

/* Returns whether the mapping has a key of that name. */
static bool has_key(const struct dist__yaml *yaml, const yaml_node_t *mapping,
		    const char *name)
{
	const yaml_node_pair_t *p;

	for (p = mapping->data.mapping.pairs.start;
	     p < mapping->data.mapping.pairs.top; p++)
		if (strcmp(name,
			   dist__yaml_text(dist__yaml_node(yaml, p->key))) == 0)
			return true;
	return false;
}

enum dist_error dist__yaml_read_mapping(const struct dist__yaml *yaml,
					const struct dist__yaml_key *keys,
					const char *what,
					const yaml_node_t *mapping, void *into)
{
	const yaml_node_pair_t *pair;
	enum dist_error error = DIST_OK;

	if (mapping->type != YAML_MAPPING_NODE)
		return dist__yaml_refuse(
			yaml, mapping,
			"expected %s: a mapping with the keys %s", what,
			key_names(keys).text);
	for (pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top && !error; pair++) {
		error = read_pair(yaml, keys, what, pair, into);
		if (!error)
			error = dist__yaml_repeated(yaml, mapping, pair);
	}
	for (; keys->name && !error; keys++)
		if (keys->required && !has_key(yaml, mapping, keys->name))
			error = dist__yaml_refuse(yaml, mapping,
						  "expected a key \"%s\" in %s",
						  keys->name, what);
	return error;
}

/* ---- the file --------------------------------------------------------- */

/* Lists in lists: more than any file of ours has, and few enough that libyaml,
 * which looks at all of them at every token, is done soon. */
#define MOST_DEPTH 32

/* What the file is to be read as. */
struct shape {
	const struct dist__yaml_key *keys;
	const char *what;
	void *into;
};

/* Takes in the next document of the file: the first is what we read, a second
 * one must not be there. */
static enum dist_error read_document(const struct dist__yaml *yaml,
				     const struct shape *shape, bool first)
{
	const yaml_node_t *root = yaml_document_get_root_node(yaml->document);

	if (first && root)
		return dist__yaml_read_mapping(yaml, shape->keys, shape->what,
					       root, shape->into);
	if (first)
		return refuse_at(yaml, 0,
				 "expected %s: a mapping with the keys %s",
				 shape->what, key_names(shape->keys).text);
	if (root)
		return dist__yaml_refuse(
			yaml, root, "expected nothing after %s", shape->what);
	return DIST_OK;
}

/* A text in memory, to be parsed from its beginning. */
struct text {
	const char *path;
	char *bytes;
	size_t len;
};

static enum dist_error read_stream(const struct text *text,
				   yaml_parser_t *parser,
				   const struct shape *shape,
				   struct dist_message *message)
{
	yaml_document_t document;
	struct dist__yaml yaml = {
		.path = text->path, .document = &document, .message = message};
	enum dist_error error = DIST_OK;

	for (int i = 0; i < 2 && !error; i++) {
		if (!yaml_parser_load(parser, &document)) {
			/* What libyaml did not like. */
			if (parser->error == YAML_MEMORY_ERROR)
				return DIST_ERR_NO_MEMORY;
			return refuse_at(&yaml, parser->problem_mark.line,
					 "expected YAML: %.200s",
					 parser->problem ? parser->problem
							 : "not readable");
		}
		error = read_document(&yaml, shape, i == 0);
		yaml_document_delete(&document);
	}
	return error;
}

/* How much deeper one is after an event. */
static int step_of(yaml_event_type_t type)
{
	switch (type) {
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return 1;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return -1;
	default:
		return 0;
	}
}

/* Refuses what is nested too deep; faults of syntax are found later. */
static enum dist_error check_depth(const struct text *text,
				   yaml_parser_t *parser,
				   struct dist_message *message)
{
	const struct dist__yaml yaml = {.path = text->path, .message = message};
	enum dist_error error = DIST_OK;
	bool over = false;
	yaml_event_t event;
	int depth = 0;

	while (!over && !error && yaml_parser_parse(parser, &event)) {
		depth += step_of(event.type);
		over = event.type == YAML_STREAM_END_EVENT;
		if (depth > MOST_DEPTH)
			error = refuse_at(&yaml, event.start_mark.line,
					  "expected at most %d lists and "
					  "mappings in one another",
					  MOST_DEPTH);
		yaml_event_delete(&event);
	}
	return error;
}

/* Parses the text once; shape NULL: to see how deep it is. */
static enum dist_error parse_text(const struct text *text,
				  const struct shape *shape,
				  struct dist_message *message)
{
	enum dist_error error;
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return DIST_ERR_NO_MEMORY;
	yaml_parser_set_input_string(&parser, (unsigned char *)text->bytes,
				     text->len);
	error = shape ? read_stream(text, &parser, shape, message)
		      : check_depth(text, &parser, message);
	yaml_parser_delete(&parser);
	return error;
}

enum dist_error dist__yaml_load(const char *path,
				const struct dist__yaml_key *keys,
				const char *what, void *into,
				struct dist_message *message)
{
	struct shape shape = {.keys = keys, .what = what, .into = into};
	struct text text = {.path = path};
	enum dist_error error = dist__input_read(path, &text.bytes, &text.len);

	if (!error)
		error = parse_text(&text, NULL, message);
	if (!error)
		error = parse_text(&text, &shape, message);
	free(text.bytes);
	if (error == DIST_ERR_IO)
		snprintf(message->text, sizeof message->text,
			 "%.200s: cannot be read: %s", path, strerror(errno));
	if (error == DIST_ERR_NO_MEMORY)
		snprintf(message->text, sizeof message->text,
			 "%.200s: out of memory", path);
	return error;
}
