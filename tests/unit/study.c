/* Reading studies: ranges, grids, and what is refused. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep/range.h"
#include "cli/sweep/study.h"
#include "tests/support/okay.h"
#include "tests/support/text_file.h"

#define MOST 8

/* Writes the numbers of a range, "8 16 32"; "refused", "more". */
static void list_range(const char *words, char *text, size_t size)
{
	double values[MOST];
	struct range range;
	size_t used = 0, num;

	snprintf(text, size, "refused");
	if (!range_parse(words, &range))
		return;
	num = range_values(&range, values, MOST);
	snprintf(text, size, "more");
	for (size_t i = 0; i < num && num <= MOST; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%g",
					 i ? " " : "", values[i]);
}

Test(study, a_range_names_its_numbers)
{
	static const char *const cases[][2] = {
		{"8..1024 *2", "8 16 32 64 128 256 512 1024"},
		{"8..1000*2", "8 16 32 64 128 256 512"},
		{"1..4", "1 2 3 4"},
		{"10..50 +20", "10 30 50"},
		{"0..3 + 1.5", "0 1.5 3"},
		{"0.1..0.3 +0.1", "0.1 0.2 0.3"},
		{"0.5..4 *2", "0.5 1 2 4"},
		{"7..7", "7"},
		{"1..9", "more"},
		{"1..1e9 *2", "refused"},
		{"8..4", "refused"},
		{"8..", "refused"},
		{"..8", "refused"},
		{"8...16", "refused"},
		{"-8..8", "refused"},
		{"8..16 *1", "refused"},
		{"0..16 *2", "refused"},
		{"8..16 +0", "refused"},
		{"8..16 -2", "refused"},
		{"8..16 *", "refused"},
		{"8..16 *2 more", "refused"},
		{"8", "refused"},
		{"", "refused"},
	};
	char text[256];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		list_range(cases[i][0], text, sizeof text);
		cr_expect_str_eq(text, cases[i][1], "%s: %s", cases[i][0],
				 text);
	}
}

Test(study, a_path_is_no_range)
{
	cr_expect(!range_is_meant("../platform.xml"));
	cr_expect(!range_is_meant("8"));
	cr_expect(range_is_meant("8..x"));
}

TEXT_LOADER(load_text, study_load, struct study)

Test(study, points_are_every_combination_the_last_axis_first)
{
	struct dist_message message;
	struct study study;
	char text[64];

	okay_or(load_text("title: t\n"
			  "predict: {model: mnist, no-overlap: true}\n"
			  "grid:\n"
			  "  world-size: [2, 4..8 *2]\n"
			  "  algorithm: [ring, tree]\n",
			  &study, &message),
		message);
	cr_assert_eq(study_num_points(&study), 6);
	cr_expect_eq(study.num_axes, 4);
	study_describe(&study, 0, text, sizeof text);
	cr_expect_str_eq(text, "world-size 2, algorithm ring");
	study_describe(&study, 1, text, sizeof text);
	cr_expect_str_eq(text, "world-size 2, algorithm tree");
	study_describe(&study, 5, text, sizeof text);
	cr_expect_str_eq(text, "world-size 8, algorithm tree");
	cr_expect_str_eq(study_value(&study, 3, 0), "mnist");
	cr_expect_eq(study.axes[2].values[2].line, 4);
	study_release(&study);
}

/* What answers follow from is in the stamp, what is said about it is not. */
Test(study, the_stamp_changes_with_the_points_alone)
{
	static const char *const texts[] = {
		"title: t\ngrid: {world-size: [1, 2]}\n",
		"# c\ntitle: other\nabout: a\ngrid:\n  world-size: 1..2\n",
		"title: t\ngrid: {world-size: [1, 3]}\n",
		"title: t\ngrid: {batch: [1, 2]}\n"};
	struct dist_message message;
	struct study study;
	char stamps[4][256];

	for (size_t i = 0; i < 4; i++) {
		FILE *out = fmemopen(stamps[i], sizeof stamps[i], "w");

		okay(load_text(texts[i], &study, &message));
		study_stamp(&study, out);
		fclose(out);
		study_release(&study);
	}
	cr_expect_str_eq(stamps[0], stamps[1]);
	cr_expect_str_neq(stamps[0], stamps[2]);
	cr_expect_str_neq(stamps[0], stamps[3]);
}

Test(study, nonsense_is_refused_with_its_line)
{
	static const char *const cases[][2] = {
		{"title: t\n", ":1: expected a key \"grid\""},
		{"grid: {world-size: 1}\n", ":1: expected a key \"title\""},
		{"title: t\ngrid: 8\n", ":2: grid: expected a mapping"},
		{"title: t\ngrid:\n  world-size: [1,\n    1]\n",
		 ":4: world-size: expected \"1\" only once"},
		{"title: t\npredict: {batch: 1}\ngrid: {batch: [1, 2]}\n",
		 ":3: expected \"batch\" only once, in predict or in grid"},
		{"title: t\npredict: {batch: [1, 2]}\ngrid: {steps: 1}\n",
		 ":2: batch: expected a value, not a list"},
		{"title: t\ngrid: {batch: []}\n",
		 ":2: batch: expected a value at least"},
		{"title: t\ngrid: {batch: [{}]}\n",
		 ":2: batch: expected a value, not a mapping"},
		{"title: t\ngrid: {batch: 8..4}\n",
		 ":2: batch: expected FIRST..LAST"},
		{"title: t\ngrid: {batch: 1..129}\n",
		 ":2: batch: expected 128 values at most"},
		{"title: t\ngrid: {--batch: 1}\n",
		 ":2: expected a flag of lockstep predict"},
		{"title: t\ngrid: {a: 1..64, b: 1..64, c: 1..64}\n",
		 ":2: grid: expected 100000 points at most"},
		{"title: t\ngrids: {a: 1}\n", ":2: unknown key \"grids\""},
	};
	struct dist_message message;
	struct study study;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		cr_expect_eq(load_text(cases[i][0], &study, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", cases[i][0]);
		cr_expect(strstr(message.text, cases[i][1]), "%s: %s",
			  cases[i][0], message.text);
	}
}
