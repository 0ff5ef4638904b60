/* list_backends.c - lockstep list backends: which are on this machine, and what
 * of the API each has. */
#include "cli/list.h"

#include <stdio.h>

#include "core/capability.h"
#include "core/reduce.h"
#include "worlds/worlds.h"
#include "base/text.h"

#define MOST_WORLDS 8

/* ---- one row a back end ------------------------------------------------- */

const char list_backends_columns[] =
	"name;available;summary;found;calls|;reduces|";

static json_t *calls_json(const struct dist__world *world)
{
	json_t *calls = json_object();

	for (const struct dist__capability *c = dist__capabilities(); c->name;
	     c++)
		json_object_set_new(
			calls, c->name,
			json_boolean(dist__world_has(world, c->need)));
	return calls;
}

static json_t *reduces_json(const struct dist__world *world)
{
	json_t *reduces = json_object();

	for (int op = 0; op < DIST_NUM_REDUCE_OPS; op++) {
		json_t *dtypes = json_array();

		for (int dtype = 0; dtype < DIST_NUM_DTYPES; dtype++)
			if (dist__world_reduces(world, (enum dist_reduce_op)op,
						(enum dist_dtype)dtype))
				json_array_append_new(
					dtypes,
					json_string(dist_dtype_name(
						(enum dist_dtype)dtype)));
		json_object_set_new(
			reduces, dist_reduce_op_name((enum dist_reduce_op)op),
			dtypes);
	}
	return reduces;
}

int list_backends(struct dist__rows *table)
{
	for (const struct dist__world *const *world = dist__worlds(); *world;
	     world++) {
		struct dist_message found = {""};
		bool good = (*world)->is_available(&found);

		ADD_ROW(table, cell_text((*world)->name),
			cell_text(good ? "yes" : "no"),
			cell_text((*world)->summary),
			cell_copy(found.text[0] ? found.text : NULL),
			cell_json(calls_json(*world)),
			cell_json(reduces_json(*world)));
	}
	return DIST_EXIT_OK;
}

/* ---- one row a call ------------------------------------------------------ */

/* What a row says of a back end. */
struct answer {
	char text[128];
};

static struct answer about_call(const struct dist__world *world, int i)
{
	if (dist__world_has(world, dist__capabilities()[i].need))
		return (struct answer){"yes"};
	return (struct answer){"no"};
}

/* An op is there if the back end combines all that may legally be combined by
 * it; else it says what not. */
static struct answer about_op(const struct dist__world *world, int op)
{
	struct answer answer = {""};
	bool some = false;

	for (int i = 0; i < DIST_NUM_DTYPES; i++) {
		enum dist_dtype dtype = (enum dist_dtype)i;

		if (dist__world_reduces(world, (enum dist_reduce_op)op, dtype))
			some = true;
		else if (dist__reduce_has(dtype, (enum dist_reduce_op)op))
			(void)dist__append(answer.text, sizeof answer.text,
					   "%s%s",
					   answer.text[0] ? ", " : "not ",
					   dist_dtype_name(dtype));
	}
	if (!some)
		return (struct answer){"no"};
	return answer.text[0] ? answer : (struct answer){"yes"};
}

static struct answer about_dtype(const struct dist__world *world, int dtype)
{
	for (int op = 0; op < DIST_NUM_REDUCE_OPS; op++)
		if (dist__world_reduces(world, (enum dist_reduce_op)op,
					(enum dist_dtype)dtype))
			return (struct answer){"yes"};
	return (struct answer){"moved only"};
}

/* A table of num rows, with a column for each back end. */
struct section {
	const char *heading;
	int num;
	const char *(*name)(int i);
	struct answer (*about)(const struct dist__world *world, int i);
};

static void add_row(const struct section *section, int i,
		    struct dist__rows *table)
{
	struct dist__cell cells[1 + MOST_WORLDS] = {
		cell_text(section->name(i))};
	struct answer answers[MOST_WORLDS];
	size_t num = 0;

	for (const struct dist__world *const *w = dist__worlds(); *w; w++) {
		answers[num] = section->about(*w, i);
		cells[1 + num] = cell_copy(answers[num].text);
		num++;
	}
	dist__rows_add(table, cells, 1 + num);
}

static int print(const struct section *section, enum dist__form form, FILE *out)
{
	struct dist__rows table = {.columns = NULL};
	char columns[256];

	snprintf(columns, sizeof columns, "%s", section->heading);
	for (const struct dist__world *const *w = dist__worlds(); *w; w++)
		(void)dist__append(columns, sizeof columns, ";%s", (*w)->name);
	table.columns = columns;
	for (int i = 0; i < section->num; i++)
		add_row(section, i, &table);
	return dist__rows_section(&table, "", form, out);
}

static const char *call_name(int i)
{
	return dist__capabilities()[i].name;
}

static const char *op_name(int op)
{
	return dist_reduce_op_name((enum dist_reduce_op)op);
}

static const char *dtype_name(int dtype)
{
	return dist_dtype_name((enum dist_dtype)dtype);
}

int list_backends_calls(enum dist__form form, FILE *out)
{
	struct section sections[] = {
		{"call", 0, call_name, about_call},
		{"reduce op", DIST_NUM_REDUCE_OPS, op_name, about_op},
		{"element type", DIST_NUM_DTYPES, dtype_name, about_dtype},
	};
	int failed = 0;

	while (call_name(sections[0].num))
		sections[0].num++;
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		failed |= print(&sections[i], form, out);
	return failed;
}
