/* sweep.c - lockstep sweep: every point of a study predicted, and reported. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/data.h"
#include "base/input.h"
#include "base/io.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "base/refuse.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/option_rows.h"
#include "cli/pool.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/study_point.h"
#include "cli/sweep/answers.h"
#include "cli/sweep/journal.h"
#include "cli/sweep_page.h"
#include "cli/table_option.h"
#include "realbackend/store/scheduler.h"

#define PATH_SIZE 4200

/* ---- the command line --------------------------------------------------- */

/* What it says, and where that is. */
struct command_line {
	const char *word;
	const char *output;
	const char *part;
	int jobs;    /* points at a time */
	int restart; /* discard points that are done */
	int merge;   /* predict nothing */
	int dry_run; /* only check */
	struct table_options form;

	char path[4096];   /* of the study */
	char folder[4096]; /* of the results */
	int number, parts; /* this process does part `number`, from 1 */
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"output", OPTION_TEXT, AT(output), "DIR",
	 .help = "folder of the results", .usual = "sweep-STUDY",
	 .letter = 'o'},
	{"jobs", OPTION_COUNT, AT(jobs), "N",
	 .help = "points to predict at the same time",
	 .usual = "as many as cores", .letter = 'j', .min = 1},
	{"part", OPTION_TEXT, AT(part), "I/N", .help = "do part I of N",
	 .usual = "from srun's or mpirun's rank"},
	{"restart", OPTION_SWITCH, AT(restart), NULL,
	 .help = "discard points that are done"},
	{"merge", OPTION_SWITCH, AT(merge), NULL,
	 .help = "predict nothing, but report the points of all parts"},
	{DRY_RUN_ROW(AT(dry_run))},
	{.name = NULL}};

const struct manual manual_sweep = {
	.usage = "[OPTION...] STUDY\n--merge DIR",
	.about = "Predicts every point of a study and reports them, as a table "
		 "and report.html. STUDY is a name (lockstep list studies) or "
		 "a YAML file.",
	.examples = {"lockstep sweep scaling -o results --jobs 2"},
	.choices = "studies",
	.groups = GROUPS({.options = options},
			 {"Tables", form_print_options, AT(form)}),
	.least_words = 1,
	.most_words = 1,
	.missing = "expected a study: a name of lockstep list studies, or "
		   "FILE.yaml"};

/* As many processes as a scheduler may be asked for. */
#define PARTS_MOST 1000000

static bool read_number(const char **text, int *number)
{
	uint64_t value = 0;
	bool good = dist__digits_step(text, PARTS_MOST, &value);

	*number = (int)value;
	return good;
}

/* Reads the part that this process does, "2/4"; of NULL, from srun's or
 * mpirun's variables, without which it is all. */
static bool read_part(struct command_line *line, const char *text)
{
	const struct dist__scheduler *scheduler = dist__scheduler_find();
	bool good;

	line->number = line->parts = 1;
	if (text) {
		good = read_number(&text, &line->number) && *text++ == '/' &&
		       read_number(&text, &line->parts) && *text == '\0';
	} else if (scheduler) {
		const char *rank = getenv(scheduler->rank);
		const char *size = getenv(scheduler->size);

		good = read_number(&rank, &line->number) && *rank == '\0' &&
		       read_number(&size, &line->parts) && *size == '\0';
		line->number++;
	} else {
		return true;
	}
	return good && line->number >= 1 && line->number <= line->parts;
}

static int find_study(struct command_line *line)
{
	struct dist_message message;
	char name[128];

	if (line->merge) {
		snprintf(line->folder, sizeof line->folder, "%s", line->word);
		snprintf(line->path, sizeof line->path, "%.4000s/study.yaml",
			 line->word);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("studies", line->word, ".yaml", line->path,
			    sizeof line->path, &message))
		return refuse("sweep", "%s", message.text);
	dist__stem(name, sizeof name, line->path, ".yaml");
	snprintf(line->folder, sizeof line->folder, "sweep-%s", name);
	if (line->output)
		snprintf(line->folder, sizeof line->folder, "%s", line->output);
	return DIST_EXIT_OK;
}

static int check(struct command_line *line)
{
	if (line->merge &&
	    (line->output || line->part || line->restart || line->dry_run))
		return refuse("sweep",
			      "--merge: expected a folder of results and no "
			      "-o, --part, --restart or --dry-run");
	if (!line->merge && !read_part(line, line->part))
		return refuse(
			"sweep", "%s",
			line->part ? "--part: expected a part and their "
				     "number, such as 2/4"
				   : "rank and size of this process, as srun "
				     "or mpirun set them: expected numbers; "
				     "--part says another part");
	if (line->restart && line->parts > 1)
		return refuse("sweep",
			      "--restart: expected without parts, which would "
			      "remove each other's points");
	return find_study(line);
}

/* What a child finds wrong with a point. */
struct verdict {
	size_t line; /* of the study; 0: nothing is */
	char text[sizeof(struct dist_message)];
};

/* A sweep under way. */
struct sweep {
	const struct command_line *line;
	struct study study;
	size_t refused;         /* the first point that was, */
	struct verdict verdict; /* and why */
	struct answers answers;
	char *stamp;
	struct journal *journal;
	struct dist__progress progress;
};

/* ---- keys ------------------------------------------------------------- */

/* Prints those of a manual's options that the study takes, and no name twice:
 * those that `but` has are left out (NULL: none are). */
static void print_taken(const struct study *study, const struct manual *manual,
			const struct manual *but)
{
	const struct option_group *group;

	for (const struct option_group *g = manual->groups; g->options; g++)
		for (const struct option *o = g->options; o->name; o++) {
			if (!study_takes(study, o->name))
				continue;
			if (!but ||
			    !option_find(but, o->name, strlen(o->name), &group))
				fprintf(stderr, " %s", o->name);
		}
}

static void offer_taken(const struct study *study, const struct manual *manual,
			struct dist__spelling *near)
{
	for (const struct option_group *g = manual->groups; g->options; g++)
		for (const struct option *o = g->options; o->name; o++)
			if (study_takes(study, o->name))
				dist__spelling_offer(near, o->name,
						     strlen(o->name));
}

/* A point has one answer. */
static int check_alone(const struct study *study, const char *path)
{
	size_t axis = study_axis(study, STUDY_TOGETHER);

	for (size_t i = 0;
	     axis < study->num_axes && i < study->axes[axis].num_values; i++) {
		const struct study_value *value = &study->axes[axis].values[i];

		if (!strchr(value->text, ','))
			continue;
		return refuse("sweep",
			      "%s:%zu: " STUDY_TOGETHER
			      ": expected one number, not \"%s\"",
			      path, value->line, value->text);
	}
	return DIST_EXIT_OK;
}

static int check_keys(const struct study *study, const char *path)
{
	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];
		struct dist__spelling near = dist__spelling_of(axis->name);

		if (study_takes(study, axis->name))
			continue;
		offer_taken(study, &manual_predict, &near);
		offer_taken(study, &manual_predict_llm, &near);
		fprintf(stderr,
			"lockstep sweep: %s:%zu: unknown key \"%s\" of %s%s",
			path, axis->line, axis->name,
			axis->in_grid ? "grid" : "predict",
			*near.name ? dist__spelling_hint(&near)
				   : ": expected one of");
		if (!*near.name) {
			print_taken(study, &manual_predict, NULL);
			print_taken(study, &manual_predict_llm,
				    &manual_predict);
		}
		fputc('\n', stderr);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

/* ---- points ----------------------------------------------------------- */

/* The line of what a refusal is about: of the value of a key, if it has several
 * of that one; of the first key where it is about none. */
static size_t line_of(const struct study *study, size_t point,
		      const struct dist__refusal *refusal)
{
	const char *name = refusal->option ? refusal->option : "";
	size_t i = study_axis(study, name), value;
	const struct study_axis *axis = &study->axes[i];

	if (i == study->num_axes)
		return i ? study->axes[0].line : 1;
	value = strcmp(name, STUDY_TOGETHER) == 0
			? refusal->number
			: study_choice(study, point, i);
	return value < axis->num_values ? axis->values[value].line : axis->line;
}

/* In a child: asks for the point and those that differ from it only in ranks.
 */
static int try_point(void *arg, size_t point, int pipe)
{
	const struct sweep *sweep = arg;
	const struct study *study = &sweep->study;
	struct dist__refusal refusal = {.number = 0};
	struct verdict verdict = {.line = 0};
	struct study_point asked;
	enum dist_error error =
		study_point_read(&asked, study, point, true, &refusal);

	if (!error)
		error = predict_check(&asked.options, &refusal);
	if (!error)
		return DIST_EXIT_OK;
	verdict.line = line_of(study, point, &refusal);
	snprintf(verdict.text, sizeof verdict.text, "%s", refusal.message.text);
	return !dist__write_all(pipe, &verdict, sizeof verdict, -1)
		       ? DIST_EXIT_INTERNAL
		       : DIST_EXIT_USAGE;
}

/* Keeps what was said of the first point that is refused: points are begun in
 * their order, and those under way are waited for. */
static int take_verdict(void *arg, size_t point, int status, const char *data,
			size_t size)
{
	struct sweep *sweep = arg;

	if (status != DIST_EXIT_USAGE || size != sizeof sweep->verdict ||
	    (sweep->verdict.line && sweep->refused < point))
		return status;
	sweep->refused = point;
	memcpy(&sweep->verdict, data, sizeof sweep->verdict);
	return status;
}

/* Checks that predict accepts every point. */
static int check_points(struct sweep *sweep)
{
	const struct pool_work work = {try_point, take_verdict, sweep};
	const struct study *study = &sweep->study;
	size_t num = study_num_points(study), num_tasks = 0;
	size_t together = study_axis(study, STUDY_TOGETHER);
	size_t *tasks = calloc(num, sizeof *tasks);
	int status;

	if (!tasks)
		return out_of_memory("sweep");
	for (size_t i = 0; i < num; i++)
		if (together == study->num_axes ||
		    study_choice(study, i, together) == 0)
			tasks[num_tasks++] = i;
	/* What the children of this and of the sweep would each load. */
	(void)dist_is_backend_available("sim");
	status = pool_run(&work, tasks, num_tasks, sweep->line->jobs);
	free(tasks);
	if (sweep->verdict.line)
		(void)refuse("sweep", "%s:%zu: %s", sweep->line->path,
			     sweep->verdict.line, sweep->verdict.text);
	return status;
}

/* ---- the stamp -------------------------------------------------------- */

static unsigned long checksum(const char *path)
{
	size_t len;
	char *text;
	unsigned long sum = crc32(0, NULL, 0);

	if (dist__input_read(path, &text, &len) == DIST_OK)
		sum = crc32_z(sum, (const unsigned char *)text, len);
	free(text);
	return sum;
}

static void stamp_files(const struct study_axis *axis, FILE *out)
{
	char path[4096];

	for (size_t v = 0; v < axis->num_values; v++) {
		const char *text = axis->values[v].text;
		bool is_path = strcmp(axis->name, "compute") == 0;

		if (is_path)
			snprintf(path, sizeof path, "%s", text);
		if (is_path ||
		    provenance_find(axis->name, text, path, sizeof path))
			fprintf(out, "%s %s: crc32 %08lx\n", axis->name, text,
				checksum(path));
	}
}

/* A text with the version of Lockstep, the study's keys and values, and a
 * checksum of each file that they name, so that points of other inputs are not
 * reused. The caller frees it; NULL without memory. */
static char *stamp_of(const struct study *study)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "lockstep %s\n", LOCKSTEP_VERSION);
	study_stamp(study, out);
	for (size_t i = 0; i < study->num_axes; i++)
		stamp_files(&study->axes[i], out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- the points ------------------------------------------------------- */

/* In a child. */
static int answer_point(void *arg, size_t point, int pipe)
{
	const struct sweep *sweep = arg;
	struct dist__refusal refusal;
	struct study_point asked;
	FILE *out = fdopen(pipe, "w");

	if (!out)
		return out_of_memory("sweep");
	if (study_point_read(&asked, &sweep->study, point, false, &refusal))
		return refuse("sweep", "%s", refusal.message.text);
	return predict_answer(&asked.options, out);
}

static int take_answer(void *arg, size_t point, int status, const char *data,
		       size_t size)
{
	struct sweep *sweep = arg;
	json_t *answer = status ? NULL : json_loadb(data, size, 0, NULL);
	struct dist_message message;
	char text[512];

	if (!status && !answer)
		status = DIST_EXIT_INTERNAL;
	if (status) {
		study_describe(&sweep->study, point, text, sizeof text);
		fprintf(stderr,
			"lockstep sweep: point %zu was not answered: %s\n",
			point + 1, text);
		return status;
	}
	sweep->answers.of[point] = answer;
	dist__progress_step(&sweep->progress, 1, NULL);
	if (journal_add(sweep->journal, point, answer, &message))
		return refuse("sweep", "%s", message.text);
	return DIST_EXIT_OK;
}

/* A point, and how long it will take among others. */
struct task {
	size_t point;
	double size;
};

static int longest_first(const void *a, const void *b)
{
	const struct task *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return left->point < right->point ? -1 : left->point > right->point;
}

static int predict_points(struct sweep *sweep)
{
	const struct pool_work work = {answer_point, take_answer, sweep};
	const struct command_line *line = sweep->line;
	const size_t part = (size_t)line->number - 1;
	const size_t parts = (size_t)line->parts;
	size_t num = sweep->answers.num, num_points = 0;
	struct task *tasks = calloc(num, sizeof *tasks);
	size_t *points = calloc(num, sizeof *points);
	int status = DIST_EXIT_OK;
	char text[64];

	if (!tasks || !points) {
		status = out_of_memory("sweep");
	} else {
		size_t axis = study_axis(&sweep->study, "world-size");

		/* Sorts all points, those of most ranks first: cores are then
		 * busy to the end, and parts of equal size take about as long.
		 */
		for (size_t i = 0; i < num; i++) {
			tasks[i] = (struct task){.point = i};
			if (axis < sweep->study.num_axes)
				tasks[i].size = atof(
					study_value(&sweep->study, i, axis));
		}
		qsort(tasks, num, sizeof *tasks, longest_first);
		for (size_t i = 0; i < num; i++)
			if (i % parts == part &&
			    !sweep->answers.of[tasks[i].point])
				points[num_points++] = tasks[i].point;
		snprintf(text, sizeof text, "predicting %zu points",
			 num_points);
		dist__progress_begin(&sweep->progress, text, (double)num_points,
				     0);
		status = pool_run(&work, points, num_points, line->jobs);
		dist__progress_end(&sweep->progress);
	}
	free(tasks);
	free(points);
	return status;
}

/* ---- the folder ------------------------------------------------------- */

/* Copies the study into the folder, where --merge finds it. */
static enum dist_error copy_study(const struct command_line *line,
				  struct dist_message *message)
{
	char path[PATH_SIZE], *text;
	size_t len;
	enum dist_error error = dist__input_read(line->path, &text, &len);

	snprintf(path, sizeof path, "%s/study.yaml", line->folder);
	if (error)
		return dist__refuse_as(message, error, "%.300s: %s", line->path,
				       strerror(errno));
	error = dist__output_save(path, text, message);
	free(text);
	return error;
}

static enum dist_error make_folder(const struct command_line *line,
				   struct dist_message *message)
{
	if (mkdir(line->folder, 0777) == 0 || errno == EEXIST)
		return line->restart ? journal_remove(line->folder, message)
				     : DIST_OK;
	return dist__refuse_as(message, DIST_ERR_IO,
			       "--output: %.300s: cannot be made: %s",
			       line->folder, strerror(errno));
}

static enum dist_error load_points(struct sweep *sweep,
				   struct dist_message *message)
{
	return journal_load(sweep->line->folder, sweep->stamp,
			    sweep->answers.of, sweep->answers.num, message);
}

/* Predicts the points that are missing, and reads those that other processes
 * have predicted meanwhile. */
static int work(struct sweep *sweep)
{
	const struct command_line *line = sweep->line;
	struct dist_message message = {""};
	int status;

	if (make_folder(line, &message) || load_points(sweep, &message) ||
	    journal_open(line->folder, sweep->stamp, line->number, line->parts,
			 &sweep->journal, &message) ||
	    copy_study(line, &message))
		return refuse("sweep", "%s", message.text);
	status = predict_points(sweep);
	journal_close(sweep->journal);
	sweep->journal = NULL;
	if (!status && load_points(sweep, &message))
		status = refuse("sweep", "%s", message.text);
	return status;
}

static int merge(struct sweep *sweep)
{
	struct dist_message message = {""};
	size_t missing;

	if (load_points(sweep, &message))
		return refuse("sweep", "%s", message.text);
	missing = answers_missing(&sweep->answers);
	if (missing == 0)
		return DIST_EXIT_OK;
	fprintf(stderr, "lockstep sweep: %s: %zu of %zu points are missing\n",
		sweep->line->folder, missing, sweep->answers.num);
	return DIST_EXIT_FAILED;
}

/* Reports, unless others still work on their parts. */
static int finish(const struct sweep *sweep)
{
	const struct command_line *line = sweep->line;
	size_t missing = answers_missing(&sweep->answers);

	if (missing == 0)
		return sweep_report(&sweep->answers, line->folder, line->jobs,
				    table_options_form(&line->form));
	printf("part %d of %d is done; %zu of %zu points are missing\n",
	       line->number, line->parts, missing, sweep->answers.num);
	return DIST_EXIT_OK;
}

/*
 * Predicts the points of its part that are not yet in the folder's journals
 * and, when no point is missing, writes the results (sweep_page.h).
 */
static int run(const struct command_line *line)
{
	struct sweep sweep = {.line = line};
	struct dist_message message = {""};
	int status;

	if (study_load(&sweep.study, line->path, &message))
		return refuse("sweep", "%s", message.text);
	sweep.stamp = stamp_of(&sweep.study);
	if (!sweep.stamp || answers_init(&sweep.answers, &sweep.study))
		status = out_of_memory("sweep");
	else if (line->merge)
		status = merge(&sweep);
	else if (!(status = check_keys(&sweep.study, line->path)) &&
		 !(status = check_alone(&sweep.study, line->path)))
		status = check_points(&sweep);
	if (!status && !line->merge && !line->dry_run)
		status = work(&sweep);
	if (!status && !line->dry_run)
		status = finish(&sweep);
	journal_close(sweep.journal);
	answers_release(&sweep.answers);
	study_release(&sweep.study);
	free(sweep.stamp);
	return status;
}

int command_sweep(int argc, const char **argv)
{
	struct command_line line = {
		.jobs = pool_cores(), .number = 1, .parts = 1};
	int status;

	if (option_peek(argc, argv, "model"))
		return refuse_model("sweep", "a study, FILE.yaml, that has it");
	if (!arguments_parse(&manual_sweep, &argc, argv, &line, &status))
		return status;
	line.word = argv[1];
	status = check(&line);
	return status ? status : run(&line);
}
