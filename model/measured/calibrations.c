/* calibrations.c - what is fitted for a machine, in its description's file; and
 * lists there. */
#include "model/measured/machine_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/refuse.h"

/* ---- reading ---------------------------------------------------------- */

enum dist_error machine_read_list(const struct dist__yaml *yaml,
				  const struct dist__yaml_key *key,
				  const yaml_node_t *value,
				  const struct machine_list *list)
{
	const yaml_node_item_t *item, *end;
	enum dist_error error = DIST_OK;
	char expected[40];

	snprintf(expected, sizeof expected, "a list of 1 to %zu", list->most);
	if (value->type != YAML_SEQUENCE_NODE)
		return dist__yaml_refuse_value(yaml, key->name, value,
					       expected);
	item = value->data.sequence.items.start;
	end = value->data.sequence.items.top;
	if (item == end || (size_t)(end - item) > list->most)
		return dist__yaml_refuse(yaml, value, "%s: expected %s",
					 key->name, expected);
	for (; item < end && !error; item++)
		error = dist__yaml_read_mapping(
			yaml, list->keys, key->name,
			dist__yaml_node(yaml, *item),
			(char *)list->items + (*list->num)++ * list->size);
	return error;
}

static enum dist_error read_constant(const struct dist__yaml *yaml,
				     const yaml_node_pair_t *pair,
				     bool is_given, struct calibration *c)
{
	const yaml_node_t *key = dist__yaml_node(yaml, pair->key);
	const struct dist__yaml_key number = {.name = dist__yaml_text(key)};
	struct calibration_constant *constant;
	double value;
	enum dist_error error = dist__yaml_read_double(
		yaml, &number, dist__yaml_node(yaml, pair->value), &value);

	if (error)
		return error;
	if (library_calibration_constant(c, number.name) ||
	    !library_calibration_set(c, number.name, value))
		return dist__yaml_refuse(
			yaml, key, "expected at most %d constants, each once",
			CALIBRATION_CONSTANTS);
	constant = library_calibration_constant(c, number.name);
	constant->is_given = is_given;
	return DIST_OK;
}

static enum dist_error read_constants(const struct dist__yaml *yaml,
				      const struct dist__yaml_key *key,
				      const yaml_node_t *mapping, void *into)
{
	bool is_given = strcmp(key->name, "given") == 0;
	enum dist_error error = DIST_OK;
	const yaml_node_pair_t *pair;

	if (mapping->type != YAML_MAPPING_NODE)
		return dist__yaml_refuse_value(yaml, key->name, mapping,
					       "a mapping of numbers");
	for (pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top && !error; pair++)
		error = read_constant(yaml, pair, is_given, into);
	return error;
}

/* An item, and the names of constants that stand beside them. */
struct item {
	struct calibration calibration;
	char at_bound[128];
};

/* The calibration is at its head. */
#define KEY(reader, field) YAML_KEY(struct calibration, reader, field)

static const struct dist__yaml_key item_keys[] = {
	{KEY(dist__yaml_read_text, library), .required = true},
	{KEY(dist__yaml_read_text, transport)},
	{KEY(dist__yaml_read_text, version)},
	{KEY(dist__yaml_read_text, date), .required = true},
	{KEY(dist__yaml_read_text, from), .required = true},
	{KEY(dist__yaml_read_count, rows), .required = true},
	{KEY(dist__yaml_read_double, residual), .required = true},
	{KEY(dist__yaml_read_count, checked)},
	{KEY(dist__yaml_read_double, error)},
	{YAML_KEY(struct item, dist__yaml_read_text, at_bound)},
	{.name = "constants", .read = read_constants},
	{.name = "given", .read = read_constants},
	{.name = NULL}};

enum dist_error machine_read_calibrations(const struct dist__yaml *yaml,
					  const struct dist__yaml_key *key,
					  const yaml_node_t *value, void *into)
{
	struct item items[CALIBRATIONS];
	struct machine *machine = into;
	const struct machine_list list = {item_keys, items, sizeof items[0],
					  CALIBRATIONS,
					  &machine->num_calibrations};
	enum dist_error error;

	memset(items, 0, sizeof items);
	error = machine_read_list(yaml, key, value, &list);
	for (size_t i = 0; i < machine->num_calibrations && !error; i++) {
		struct calibration *c = &items[i].calibration;
		char *save = NULL,
		     *name = strtok_r(items[i].at_bound, ", ", &save);

		for (; name && !error; name = strtok_r(NULL, ", ", &save))
			if (library_calibration_constant(c, name))
				library_calibration_constant(c, name)
					->is_at_bound = true;
			else
				error = dist__yaml_refuse(
					yaml, value,
					"at_bound: expected names of the "
					"constants, not \"%s\"",
					name);
		if (library_calibration_find(machine->calibrations, i,
					     c->library, c->transport))
			error = dist__yaml_refuse(
				yaml, value,
				"library, transport: expected each pair once");
		machine->calibrations[i] = *c;
	}
	return error;
}

/* ---- writing ---------------------------------------------------------- */

static void write_constants(struct dist__output *out,
			    const struct calibration *c, bool given)
{
	const char *lead = given ? "    given: {" : "    constants: {";
	bool any = false;

	for (size_t i = 0; i < c->num_constants; i++) {
		if (c->constants[i].is_given != given)
			continue;
		dist__output_print(out, "%s%s: %.7g", any ? ", " : lead,
				   c->constants[i].name, c->constants[i].value);
		any = true;
	}
	if (any)
		dist__output_text(out, "}\n");
}

static void write_bounds(struct dist__output *out, const struct calibration *c)
{
	const char *lead = "    at_bound: ";

	for (size_t i = 0; i < c->num_constants; i++)
		if (c->constants[i].is_at_bound) {
			dist__output_print(out, "%s%s", lead,
					   c->constants[i].name);
			lead = ", ";
		}
	if (*lead == ',')
		dist__output_text(out, "\n");
}

static void write_one(struct dist__output *out, const struct calibration *c)
{
	dist__output_print(out, "  - library: %s\n", c->library);
	if (c->transport[0])
		dist__output_print(out, "    transport: %s\n", c->transport);
	if (c->version[0])
		dist__output_print(out, "    version: %s\n", c->version);
	dist__output_print(out,
			   "    date: %s\n    rows: %d\n    from: %s\n"
			   "    residual: %.6f\n    checked: %d\n"
			   "    error: %.4f\n",
			   c->date, c->rows, c->from, c->residual, c->checked,
			   c->error);
	write_bounds(out, c);
	write_constants(out, c, false);
	write_constants(out, c, true);
}

enum dist_error machine_write(const struct machine *machine, const char *path,
			      const char *new_path,
			      struct dist_message *message)
{
	struct dist__output *out = NULL;
	FILE *in = fopen(path, "r");
	enum dist_error error;
	char *line = NULL;
	size_t size = 0;

	if (!in) {
		(void)dist__refuse(message, "%s: %s", path, strerror(errno));
		return DIST_ERR_IO;
	}
	error = dist__output_open(new_path, &out, message);
	while (!error && getline(&line, &size, in) >= 0 &&
	       strncmp(line, "calibrations:", 13) != 0)
		dist__output_text(out, line);
	free(line);
	fclose(in);
	if (error)
		return error;
	if (machine->num_calibrations > 0)
		dist__output_text(out, "calibrations:\n");
	for (size_t i = 0; i < machine->num_calibrations; i++)
		write_one(out, &machine->calibrations[i]);
	return dist__output_close(out, message);
}
