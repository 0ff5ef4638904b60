#include "cli/sweep/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml_keys.h"
#include "base/text.h"
#include "cli/sweep/range.h"

/* ---- values ----------------------------------------------------------- */

static enum dist_error add_value(const struct dist__yaml *yaml,
				 struct study_axis *axis,
				 const yaml_node_t *node, const char *text)
{
	struct study_value *value;

	for (size_t i = 0; i < axis->num_values; i++)
		if (strcmp(axis->values[i].text, text) == 0)
			return dist__yaml_refuse(
				yaml, node, "%s: expected \"%.40s\" only once",
				axis->name, text);
	if (axis->num_values == STUDY_VALUES)
		return dist__yaml_refuse(yaml, node,
					 "%s: expected %d values at most",
					 axis->name, STUDY_VALUES);
	value = &axis->values[axis->num_values++];
	snprintf(value->text, sizeof value->text, "%s", text);
	value->line = node->start_mark.line + 1;
	return DIST_OK;
}

static enum dist_error add_range(const struct dist__yaml *yaml,
				 struct study_axis *axis,
				 const yaml_node_t *node)
{
	enum dist_error error = DIST_OK;
	double values[STUDY_VALUES + 1];
	struct range range;
	char text[32];
	size_t i, num;

	if (!range_parse(dist__yaml_text(node), &range))
		return dist__yaml_refuse_value(yaml, axis->name, node,
					       RANGE_WORDS);
	/* One more than there may be is refused as any other. */
	num = range_values(&range, values, STUDY_VALUES + 1);
	for (i = 0; i < num && !error; i++) {
		snprintf(text, sizeof text, "%.10g", values[i]);
		error = add_value(yaml, axis, node, text);
	}
	return error;
}

/* Adds one scalar, which in the grid may be a range. */
static enum dist_error add_scalar(const struct dist__yaml *yaml,
				  struct study_axis *axis,
				  const yaml_node_t *node)
{
	const char *text = dist__yaml_text(node);

	if (*text == '\0')
		return dist__yaml_refuse_value(yaml, axis->name, node,
					       "a value");
	if (strlen(text) >= sizeof axis->values->text)
		return dist__yaml_refuse(
			yaml, node, "%s: expected %zu bytes at most, not %zu",
			axis->name, sizeof axis->values->text - 1,
			strlen(text));
	if (strpbrk(text, "\t\n\r"))
		return dist__yaml_refuse(yaml, node,
					 "%s: expected one line without tabs",
					 axis->name);
	if (axis->in_grid && range_is_meant(text))
		return add_range(yaml, axis, node);
	return add_value(yaml, axis, node, text);
}

static enum dist_error add_values(const struct dist__yaml *yaml,
				  struct study_axis *axis,
				  const yaml_node_t *node)
{
	enum dist_error error = DIST_OK;
	const yaml_node_item_t *item;

	if (!axis->in_grid || node->type != YAML_SEQUENCE_NODE)
		return add_scalar(yaml, axis, node);
	for (item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top && !error; item++)
		error = add_scalar(yaml, axis, dist__yaml_node(yaml, *item));
	if (!error && axis->num_values == 0)
		error = dist__yaml_refuse(yaml, node,
					  "%s: expected a value at least",
					  axis->name);
	return error;
}

/* ---- mappings --------------------------------------------------------- */

static enum dist_error check_name(const struct dist__yaml *yaml,
				  const struct study *study,
				  const yaml_node_t *node)
{
	const char *name = dist__yaml_text(node);

	if (*name == '\0' || *name == '-' ||
	    strlen(name) >= sizeof study->axes->name ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return dist__yaml_refuse(yaml, node,
					 "expected a flag of lockstep predict "
					 "without its dashes, not \"%.40s\"",
					 name);
	if (study_axis(study, name) < study->num_axes)
		return dist__yaml_refuse(
			yaml, node,
			"expected \"%s\" only once, in predict or in grid",
			name);
	if (study->num_axes == STUDY_AXES)
		return dist__yaml_refuse(yaml, node, "expected %d keys at most",
					 STUDY_AXES);
	return DIST_OK;
}

static enum dist_error add_axis(const struct dist__yaml *yaml,
				struct study *study, bool in_grid,
				const yaml_node_pair_t *pair)
{
	const yaml_node_t *name = dist__yaml_node(yaml, pair->key);
	enum dist_error error = check_name(yaml, study, name);
	struct study_axis *axis;

	if (error)
		return error;
	axis = &study->axes[study->num_axes++];
	snprintf(axis->name, sizeof axis->name, "%s", dist__yaml_text(name));
	axis->line = name->start_mark.line + 1;
	axis->in_grid = in_grid;
	axis->values = calloc(STUDY_VALUES, sizeof *axis->values);
	if (!axis->values)
		return DIST_ERR_NO_MEMORY;
	return add_values(yaml, axis, dist__yaml_node(yaml, pair->value));
}

static enum dist_error read_axes(const struct dist__yaml *yaml,
				 const struct dist__yaml_key *key,
				 const yaml_node_t *value, void *into)
{
	bool in_grid = strcmp(key->name, "grid") == 0;
	enum dist_error error = DIST_OK;
	struct study *study = into;
	const yaml_node_pair_t *pair;

	if (value->type != YAML_MAPPING_NODE)
		return dist__yaml_refuse_value(
			yaml, key->name, value,
			"a mapping of flags of lockstep predict");
	for (pair = value->data.mapping.pairs.start;
	     pair < value->data.mapping.pairs.top && !error; pair++)
		error = add_axis(yaml, study, in_grid, pair);
	if (!error && in_grid && study_num_points(study) > STUDY_POINTS)
		error = dist__yaml_refuse(yaml, value,
					  "grid: expected %d points at most",
					  STUDY_POINTS);
	return error;
}

enum dist_error study_load(struct study *study, const char *path,
			   struct dist_message *message)
{
	static const struct dist__yaml_key keys[] = {
		{"title", dist__yaml_read_text, offsetof(struct study, title),
		 sizeof study->title, true},
		{"about", dist__yaml_read_text, offsetof(struct study, about),
		 sizeof study->about, false},
		{"predict", read_axes, 0, 0, false},
		{"grid", read_axes, 0, 0, true},
		{0}};
	enum dist_error error;

	memset(study, 0, sizeof *study);
	error = dist__yaml_load(path, keys, "a study", study, message);
	if (error)
		study_release(study);
	return error;
}

void study_release(struct study *study)
{
	for (size_t i = 0; i < study->num_axes; i++)
		free(study->axes[i].values);
	study->num_axes = 0;
}

/* ---- points ----------------------------------------------------------- */

size_t study_num_points(const struct study *study)
{
	size_t num = 1;

	/* No overflow: what is too many stays so. */
	for (size_t i = 0; i < study->num_axes && num <= STUDY_POINTS; i++)
		num *= study->axes[i].num_values;
	return num;
}

size_t study_choice(const struct study *study, size_t point, size_t axis)
{
	for (size_t i = study->num_axes - 1; i > axis; i--)
		point /= study->axes[i].num_values;
	return point % study->axes[axis].num_values;
}

const char *study_value(const struct study *study, size_t point, size_t axis)
{
	return study->axes[axis].values[study_choice(study, point, axis)].text;
}

size_t study_axis(const struct study *study, const char *name)
{
	size_t i;

	for (i = 0; i < study->num_axes; i++)
		if (strcmp(study->axes[i].name, name) == 0)
			break;
	return i;
}

void study_stamp(const struct study *study, FILE *out)
{
	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];

		fprintf(out, "%s:", axis->name);
		for (size_t v = 0; v < axis->num_values; v++)
			fprintf(out, "%s%s", v ? "\t" : " ",
				axis->values[v].text);
		fputc('\n', out);
	}
}

void study_describe(const struct study *study, size_t point, char *text,
		    size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].num_values > 1)
			(void)dist__append(text, size, "%s%s %s",
					   *text ? ", " : "",
					   study->axes[i].name,
					   study_value(study, point, i));
}
