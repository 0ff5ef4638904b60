/* One description of a row must do for every form. */
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/rows.h"

#define COLUMNS                                                                \
	"name;num|rows;ratio;share|share %;error;time_ns|time;more|;|note"

/* Two rows: all cells known, and none but the name. */
static struct dist__rows filled(void)
{
	struct dist__rows table = {.columns = COLUMNS};

	ADD_ROW(&table, cell_text("a|b\tc"), cell_int(1234567890123),
		cell_fixed(2, 0.125), cell_percent(0.25), cell_error(0.5),
		cell_time(12345678901.0), cell_json(json_pack("[i]", 7)),
		cell_copy(""));
	ADD_ROW(&table, cell_text("longer name"), cell_int(CELL_UNKNOWN),
		cell_fixed(2, NAN), cell_percent(NAN), cell_error(NAN),
		cell_time(NAN), cell_json(json_null()), cell_copy("end"));
	return table;
}

static void expect(struct dist__rows table, enum dist__form form,
		   const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	cr_assert_eq(dist__rows_print(&table, form, memory), 0);
	fclose(memory);
	cr_expect_str_eq(text, expected);
	free(text);
	dist__rows_release(&table);
}

/* No line ends in a space, numbers end below each other. */
Test(rows, is_aligned_as_text)
{
	expect(filled(), FORM_TEXT,
	       "name                  rows  ratio  share %    error     time"
	       "  note\n"
	       "a|b c        1234567890123   0.12     25.0  +50.0 %  12.35 s\n"
	       "longer name              -      -        -        -        -"
	       "  end\n");
}

Test(rows, escapes_what_ends_a_cell_of_markdown)
{
	expect(filled(), FORM_MARKDOWN,
	       "| name | rows | ratio | share % | error | time | note |\n"
	       "|---|--:|--:|--:|--:|--:|---|\n"
	       "| a\\|b c | 1234567890123 | 0.12 | 25.0 | +50.0 % | 12.35 s | "
	       " |\n"
	       "| longer name | - | - | - | - | - | end |\n");
}

Test(rows, has_whole_values_in_tsv)
{
	expect(filled(), FORM_TSV,
	       "name\tnum\tratio\tshare\terror\ttime_ns\n"
	       "a|b c\t1234567890123\t0.125\t0.25\t0.5\t12345678901\n"
	       "longer name\t-\t-\t-\t-\t-\n");
}

Test(rows, keeps_types_and_digits_in_json)
{
	struct dist__rows table = filled();
	json_t *rows = dist__rows_json(&table), *expected;

	expected = json_pack("[{sssIsfsfsfsIs[i]} {sssnsnsnsnsnsn}]", "name",
			     "a|b\tc", "num", (json_int_t)1234567890123,
			     "ratio", 0.125, "share", 0.25, "error", 0.5,
			     "time_ns", (json_int_t)12345678901, "more", 7,
			     "name", "longer name", "num", "ratio", "share",
			     "error", "time_ns", "more");
	cr_assert_not_null(expected);
	cr_expect(json_equal(rows, expected));
	json_decref(rows);
	json_decref(expected);
}

Test(rows, prints_what_is_asked_for_the_unknown)
{
	struct dist__rows table = {.columns = "a", .unknown = "none"};

	ADD_ROW(&table, cell_text(NULL));
	expect(table, FORM_TEXT, "a\nnone\n");
}

/* Who reads the file finds the columns though there is nothing below them. */
Test(rows, of_no_rows_has_a_head)
{
	const struct dist__rows table = {.columns = "a;b|c"};

	expect(table, FORM_TSV, "a\tb\n");
	expect(table, FORM_TEXT, "a  c\n");
	expect(table, FORM_JSON, "[]\n");
}

/* A value there was no memory for must not go unnoticed. */
Test(rows, fails_after_a_lost_value)
{
	struct dist__rows table = {.columns = "a;b"};

	ADD_ROW(&table, cell_json(NULL), cell_text("c"));
	cr_expect_eq(dist__rows_print(&table, FORM_TEXT, stdout), -1);
	cr_expect_null(dist__rows_json(&table));
}

Test(rows, keeps_cells_of_many_rows)
{
	struct dist__rows table = {.columns = "i;text"};
	char text[32];
	json_t *rows;

	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "row %d", i);
		ADD_ROW(&table, cell_int(i), cell_copy(text));
	}
	rows = dist__rows_json(&table);
	for (int i = 0; i < 1000; i++) {
		const json_t *row = json_array_get(rows, (size_t)i);

		snprintf(text, sizeof text, "row %d", i);
		cr_assert_eq(json_integer_value(json_object_get(row, "i")), i);
		cr_assert_str_eq(
			json_string_value(json_object_get(row, "text")), text);
	}
	json_decref(rows);
}
