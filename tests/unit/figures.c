/* Which figures a grid affords, and what they are drawn from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep/figures.h"
#include "tests/support/okay.h"

/* A study of such a grid whose points have answers of one's own. */
struct setup {
	struct study study;
	struct answers answers;
	struct figure figures[FIGURES_MOST];
	size_t num;
};

/* The step of a point takes as many ms as its number, from 1; of it 1 ms
 * computes. Buckets of 4096 bytes go by "tree", others by "ring". */
static json_t *make_answer(size_t point)
{
	return json_pack(
		"{s:{s:s}, s:[{s:f, s:f, s:f, s:f, s:f, s:f, s:[{s:i, "
		"s:s}, {s:i, s:s}]}]}",
		"conditions", "model", "m", "rows", "step_ms",
		(double)point + 1, "compute_ms", 1.0, "exposed_ms",
		(double)point, "communication_ms", point % 2 ? 1.0 : 2.0,
		"efficiency", 0.5, "samples_per_s", 10.0, "buckets", "bytes",
		4096, "algorithm", "tree", "bytes", 8192, "algorithm", "ring");
}

static void set_up(struct setup *s, const char *grid)
{
	char path[] = "/tmp/lockstep-figures-XXXXXX";
	int file = mkstemp(path);
	struct dist_message message;

	cr_assert_geq(file, 0);
	dprintf(file, "title: t\ngrid: {%s}\n", grid);
	close(file);
	okay_or(study_load(&s->study, path, &message), message);
	unlink(path);
	okay(answers_init(&s->answers, &s->study));
	for (size_t i = 0; i < s->answers.num; i++)
		s->answers.of[i] = make_answer(i);
	s->num = figures_plan(&s->answers, s->figures);
}

static void tear_down(struct setup *s)
{
	answers_release(&s->answers);
	study_release(&s->study);
}

/* The names of the figures of a grid. */
static void list_figures(const char *grid, char *text, size_t size)
{
	size_t used = 0;
	struct setup s;

	set_up(&s, grid);
	text[0] = '\0';
	for (size_t i = 0; i < s.num; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? " " : "", s.figures[i].name);
	tear_down(&s);
}

Test(figures, follow_from_the_axes)
{
	static const char *const cases[][2] = {
		{"world-size: [2, 4]", "scaling breakdown chosen"},
		{"bucket-cap-mb: [1, 2]", "buckets breakdown"},
		{"world-size: [2, 4], bucket-cap-mb: [1, 2]",
		 "scaling buckets breakdown chosen"},
		{"world-size: [2, 4], bucket-cap-mb: [1, 2], "
		 "algorithm: [ring, tree]",
		 "scaling-1 scaling-2 buckets-1 buckets-2 breakdown fastest"},
		{"world-size: 1..8, batch: 1..8",
		 "scaling breakdown-1 breakdown-2 breakdown-3 breakdown-4 "
		 "breakdown-5 breakdown-6 breakdown-7 breakdown-8 chosen"},
		{"world-size: [2, 4], profile: [a, b]",
		 "scaling breakdown chosen"},
		{"steps: 1..50", ""},
		{"steps: 3", "breakdown"},
	};
	char text[512];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		list_figures(cases[i][0], text, sizeof text);
		cr_expect_str_eq(text, cases[i][1], "%s: %s", cases[i][0],
				 text);
	}
}

/* Reads the data of a figure into text. */
static void read_figure(const struct setup *s, const char *name, char *text,
			size_t size)
{
	char path[] = "/tmp/lockstep-figures-XXXXXX";
	struct dist_message message;
	size_t i = 0, length;
	FILE *file;

	close(mkstemp(path));
	while (i < s->num && strcmp(s->figures[i].name, name) != 0)
		i++;
	cr_assert_lt(i, s->num, "no %s", name);
	okay(figure_write(&s->figures[i], &s->answers, path, &message));
	file = fopen(path, "r");
	cr_assert(file);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	unlink(path);
}

/* Curve after curve, though the grid's order is another. */
Test(figures, curves_are_whole)
{
	char text[1024];
	struct setup s;

	set_up(&s, "world-size: [2, 4], batch: [8, 16]");
	read_figure(&s, "scaling", text, sizeof text);
	cr_expect_str_eq(
		text,
		"curve\tworld-size\tstep_ms\tefficiency\tsamples_per_s\n"
		"batch 8\t2\t1.000000\t0.500000\t10.000000\n"
		"batch 8\t4\t3.000000\t0.500000\t10.000000\n"
		"batch 16\t2\t2.000000\t0.500000\t10.000000\n"
		"batch 16\t4\t4.000000\t0.500000\t10.000000\n",
		"%s", text);
	read_figure(&s, "breakdown", text, sizeof text);
	cr_expect(strstr(text, "\nworld-size 4, batch 8\t1.000000\t2.000000\t"
			       "0.000000\n"),
		  "%s", text);
	tear_down(&s);
}

/* Words stand alone; what is measured is said with its axis. */
Test(figures, quantities_are_named)
{
	char text[1024];
	struct setup s;

	set_up(&s, "world-size: 2, algorithm: [ring, tree], "
		   "inter-bandwidth: [100G, x0.5]");
	read_figure(&s, "breakdown", text, sizeof text);
	cr_expect(strstr(text, "\nring, inter-bandwidth 100G\t"), "%s", text);
	cr_expect(strstr(text, "\ntree, inter-bandwidth x0.5\t"), "%s", text);
	tear_down(&s);
}

static void set_impossible(const struct setup *s, size_t point)
{
	json_object_set_new(
		json_array_get(json_object_get(s->answers.of[point], "rows"),
			       0),
		"impossible", json_string("needs more"));
}

Test(figures, of_algorithms_name_the_fastest_or_the_chosen)
{
	char text[1024];
	struct setup s;

	set_up(&s, "algorithm: [tree, ring], world-size: [2, 4], "
		   "bucket-cap-mb: [1, 2, 4]");
	read_figure(&s, "fastest", text, sizeof text);
	/* Communication takes 2 ms at points of even numbers, so 0 to 5 have
	 * the same at 6 to 11: the first is as fast as any. */
	cr_expect(strstr(text, "1048576\t2\ttree\n"), "%s", text);
	json_object_set_new(
		json_array_get(json_object_get(s.answers.of[6], "rows"), 0),
		"communication_ms", json_real(0.5));
	read_figure(&s, "fastest", text, sizeof text);
	cr_expect_str_eq(text,
			 "bytes\tworld_size\talgorithm\n"
			 "1048576\t2\tring\n2097152\t2\ttree\n"
			 "4194304\t2\ttree\n1048576\t4\ttree\n"
			 "2097152\t4\ttree\n4194304\t4\ttree\n",
			 "%s", text);
	/* What cannot be is not the fastest; where nothing can, there is none.
	 */
	set_impossible(&s, 6);
	set_impossible(&s, 1);
	set_impossible(&s, 7);
	set_impossible(&s, 2);
	read_figure(&s, "fastest", text, sizeof text);
	cr_expect_str_eq(text,
			 "bytes\tworld_size\talgorithm\n"
			 "1048576\t2\ttree\n4194304\t2\tring\n"
			 "1048576\t4\ttree\n2097152\t4\ttree\n"
			 "4194304\t4\ttree\n",
			 "%s", text);
	tear_down(&s);
	set_up(&s, "world-size: [2, 4]");
	read_figure(&s, "chosen", text, sizeof text);
	cr_expect_str_eq(text,
			 "bytes\tworld_size\talgorithm\n"
			 "4096\t2\ttree\n8192\t2\tring\n"
			 "4096\t4\ttree\n8192\t4\tring\n",
			 "%s", text);
	tear_down(&s);
}

/* Where the speed of links changes nothing about the choice, one figure shows
 * it and says so; where it does, each speed has its own. */
Test(figures, of_what_is_chosen_differ)
{
	char text[1024];
	struct setup s;
	json_t *bucket;

	set_up(&s, "world-size: [2, 4], inter-bandwidth: [10G, 100G], "
		   "profile: [a, b]");
	cr_assert_str_eq(s.figures[s.num - 1].name, "chosen");
	cr_expect_str_eq(s.figures[s.num - 1].text,
			 "inter-bandwidth any, profile any");
	read_figure(&s, "chosen", text, sizeof text);
	cr_expect_str_eq(text,
			 "bytes\tworld_size\talgorithm\n"
			 "4096\t2\ttree\n8192\t2\tring\n"
			 "4096\t4\ttree\n8192\t4\tring\n",
			 "%s", text);
	/* The last point: 4 ranks, 100G, profile b. */
	bucket = json_array_get(
		json_object_get(
			json_array_get(json_object_get(s.answers.of[7], "rows"),
				       0),
			"buckets"),
		0);
	json_object_set_new(bucket, "algorithm", json_string("pairwise"));
	s.num = figures_plan(&s.answers, s.figures);
	cr_assert_str_eq(s.figures[s.num - 1].name, "chosen-4");
	cr_expect_str_eq(s.figures[s.num - 1].text,
			 "inter-bandwidth 100G, profile b");
	read_figure(&s, "chosen-4", text, sizeof text);
	cr_expect(strstr(text, "\n4096\t4\tpairwise\n"), "%s", text);
	tear_down(&s);
}
