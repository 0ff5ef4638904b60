/*
 * yaml_keys.h - reads YAML strictly, by tables of keys.
 *
 * A mapping of the file fills a struct: each legal key has a reader for its
 * value. A key that is not in the table, or a value of a wrong kind, is refused
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

/* One key of a mapping; a NULL name ends a table of at most 32 keys.
 */
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

/* The key for the member of a struct with the same name. */
#define YAML_KEY(type, reader, field)                                          \
	.name = #field, .read = (reader), .offset = offsetof(type, field),     \
	.bytes = sizeof((type *)0)->field

/* A list of names for a message, cut off at its size. */
struct dist__yaml_names {
	char text[256];
	size_t used;
};

void dist__yaml_names_add(struct dist__yaml_names *names, const char *name);

/*
 * dist__yaml_load reads the file at path as one mapping of keys into the struct
 * at into; messages call it what ("a profile"). Errors: INVALID_ARGUMENT, IO
 * (cannot be read), NO_MEMORY; message is set, and the struct may be partly
 * filled.
 */
enum dist_error dist__yaml_load(const char *path,
				const struct dist__yaml_key *keys,
				const char *what, void *into,
				struct dist_message *message);

/* dist__yaml_read_mapping does the same with a mapping inside the file. */
enum dist_error dist__yaml_read_mapping(const struct dist__yaml *yaml,
					const struct dist__yaml_key *keys,
					const char *what,
					const yaml_node_t *mapping, void *into);

/* Readers for a dist__yaml_key: a text (char[bytes]); a number >= 0 (double);
 * an integer >= 0 (size_t); an integer >= 1 (int). */
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

/* ---- for other readers ------------------------------------------------- */

/* dist__yaml_text returns the text of a scalar, "" for anything else. */
const char *dist__yaml_text(const yaml_node_t *node);

/* dist__yaml_node returns a node by its number, from a pair or a list. */
const yaml_node_t *dist__yaml_node(const struct dist__yaml *yaml, int number);

/* dist__yaml_repeated refuses a mapping that has the key of pair again below
 * it. */
enum dist_error dist__yaml_repeated(const struct dist__yaml *yaml,
				    const yaml_node_t *mapping,
				    const yaml_node_pair_t *pair);

/* dist__yaml_refuse writes what was expected at node; returns INVALID_ARGUMENT.
 */
enum dist_error dist__yaml_refuse(const struct dist__yaml *yaml,
				  const yaml_node_t *node, const char *format,
				  ...) __attribute__((format(printf, 3, 4)));

/* dist__yaml_refuse_value writes "key: expected <expected>, not <value>". */
enum dist_error dist__yaml_refuse_value(const struct dist__yaml *yaml,
					const char *key,
					const yaml_node_t *value,
					const char *expected);

#endif
