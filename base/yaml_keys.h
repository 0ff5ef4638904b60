/*
 * yaml_keys.h - reading YAML strictly, against tables of keys.
 *
 * A mapping of the file fills a struct: each legal key has a reader for its
 * value. Whatever is not in the table, or not of the right kind, is refused
 * with one sentence, "file:line: what was expected".
 */
#ifndef LOCKSTEP_BASE_YAML_KEYS_H
#define LOCKSTEP_BASE_YAML_KEYS_H

#include <yaml.h>

#include "lockstep/dist.h"

/* The file being read. */
struct dist__yaml {
	const char *path;
	yaml_document_t *document;
	struct dist_message *message;
};

/* One key of a mapping; a table of them ends with a name of NULL and has 32 at
 * most. */
struct dist__yaml_key {
	const char *name;

	/* Reads value into the struct at into. Errors: INVALID_ARGUMENT
	 * (message set), NO_MEMORY. */
	enum dist_error (*read)(const struct dist__yaml *yaml,
				const struct dist__yaml_key *key,
				const yaml_node_t *value, void *into);
	size_t offset; /* of the field in the struct */
	size_t bytes;  /* dist__yaml_read_text(): size of the field */
	bool required;
};

/* The key of a member of a struct, which is called as it. */
#define YAML_KEY(type, reader, field)                                          \
	.name = #field, .read = (reader), .offset = offsetof(type, field),     \
	.bytes = sizeof((type *)0)->field

/* A list of names for a message, cut off when it is full. */
struct dist__yaml_names {
	char text[256];
	size_t used;
};

void dist__yaml_names_add(struct dist__yaml_names *names, const char *name);

/*
 * dist__yaml_load reads the file at path as one mapping of keys into the
 * struct at into; what names it in messages ("a profile"). Errors:
 * INVALID_ARGUMENT, IO (cannot be read), NO_MEMORY; message is set, and the
 * struct may be filled in part.
 */
enum dist_error dist__yaml_load(const char *path,
				const struct dist__yaml_key *keys,
				const char *what, void *into,
				struct dist_message *message);

/* dist__yaml_read_mapping reads a mapping inside the file, as above. */
enum dist_error dist__yaml_read_mapping(const struct dist__yaml *yaml,
					const struct dist__yaml_key *keys,
					const char *what,
					const yaml_node_t *mapping, void *into);

/* Readers for a dist__yaml_key: a text (char[bytes]); a number of 0 or more
 * (double); a whole number of 0 or more (size_t); of 1 or more (int). */
enum dist_error dist__yaml_read_text(const struct dist__yaml *yaml,
				     const struct dist__yaml_key *key,
				     const yaml_node_t *value, void *into);
enum dist_error dist__yaml_read_double(const struct dist__yaml *yaml,
				       const struct dist__yaml_key *key,
				       const yaml_node_t *value, void *into);
enum dist_error dist__yaml_read_size(const struct dist__yaml *yaml,
				     const struct dist__yaml_key *key,
				     const yaml_node_t *value, void *into);
enum dist_error dist__yaml_read_count(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *value, void *into);

/* ---- for readers of other things -------------------------------------- */

/* dist__yaml_text returns the text of a scalar, "" for anything else. */
const char *dist__yaml_text(const yaml_node_t *node);

/* dist__yaml_node returns a node by its number in a pair or a list. */
const yaml_node_t *dist__yaml_node(const struct dist__yaml *yaml, int number);

/* dist__yaml_repeated refuses a mapping that has the key of pair again further
 * down. */
enum dist_error dist__yaml_repeated(const struct dist__yaml *yaml,
				    const yaml_node_t *mapping,
				    const yaml_node_pair_t *pair);

/* dist__yaml_refuse says what was expected at node; returns INVALID_ARGUMENT.
 */
enum dist_error dist__yaml_refuse(const struct dist__yaml *yaml,
				  const yaml_node_t *node, const char *format,
				  ...) __attribute__((format(printf, 3, 4)));

/* dist__yaml_refuse_value does, as "key: expected <expected>, not <value>". */
enum dist_error dist__yaml_refuse_value(const struct dist__yaml *yaml,
					const char *key,
					const yaml_node_t *value,
					const char *expected);

#endif
