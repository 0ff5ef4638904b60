#include "check/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/file.h"
#include "check/story.h"

/* The same number as DIST_EXIT_USAGE: check/ does not include dist.h. */
enum { EXIT_USAGE = 2 };

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

struct check_outputs check_outputs_asked(void)
{
	const char *annotate = variable("LOCKSTEP_ANNOTATE");

	return (struct check_outputs){
		.json = variable("LOCKSTEP_JSON"),
		.junit = variable("LOCKSTEP_JUNIT"),
		.sarif = variable("LOCKSTEP_SARIF"),
		.annotations = annotate && strcmp(annotate, "github") == 0
				       ? stdout
				       : NULL,
	};
}

/* ---- the story -------------------------------------------------------- */

/* The first line of the report; without one, the verdict's name. */
static void summarise(struct check_story *story)
{
	const char *text = story->text, *prefix = "lockstep: ";
	size_t len;

	if (!*text)
		text = check_verdict_name(story->job->verdict->kind);
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		text += strlen(prefix);
	len = strcspn(text, "\n");
	if (len >= sizeof story->summary)
		len = sizeof story->summary - 1;
	memcpy(story->summary, text, len);
	story->summary[len] = '\0';
}

static char *report_text(const struct check_job *job)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	check_report(out, job->board, job->facts, job->verdict);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void story_release(struct check_story *story)
{
	if (story->job->board)
		check_finding_release(&story->finding);
	free(story->text);
}

static bool story_init(struct check_story *story, const struct check_job *job)
{
	*story = (struct check_story){.job = job};
	if (job->board && !check_finding_init(&story->finding, job->board,
					      job->facts, job->verdict))
		return false;
	story->text = report_text(job);
	if (!story->text) {
		story_release(story);
		return false;
	}
	summarise(story);
	return true;
}

/* ---- files ------------------------------------------------------------ */

static bool print_json(FILE *out, const struct check_story *story,
		       json_t *(*make)(const struct check_story *story))
{
	json_t *document = make(story);
	bool good = document &&
		    json_dumpf(document, out,
			       JSON_INDENT(2) | JSON_REAL_PRECISION(10)) == 0;

	json_decref(document);
	fputc('\n', out);
	return good;
}

static bool print_verdict(FILE *out, const struct check_story *story,
			  const char *name)
{
	(void)name;
	return print_json(out, story, check_story_json);
}

static bool print_sarif(FILE *out, const struct check_story *story,
			const char *name)
{
	(void)name;
	return print_json(out, story, check_story_sarif);
}

static bool print_junit(FILE *out, const struct check_story *story,
			const char *name)
{
	check_print_junit(out, story, name ? name : "job");
	return true;
}

struct output {
	const char *path;
	bool (*print)(FILE *out, const struct check_story *story,
		      const char *name);
};

/* What one file is made of. */
struct page {
	const struct output *output;
	const struct check_story *story;
	const char *name;
};

static bool print_page(FILE *out, const void *arg)
{
	const struct page *page = arg;

	return page->output->print(out, page->story, page->name);
}

bool check_write_outputs(const struct check_outputs *asked,
			 const struct check_job *job, char message[256])
{
	const struct output files[] = {{asked->json, print_verdict},
				       {asked->junit, print_junit},
				       {asked->sarif, print_sarif}};
	bool any = asked->json || asked->junit || asked->sarif;
	struct check_story story;
	bool good = true;

	if (!any && !asked->annotations)
		return true;
	if (!story_init(&story, job)) {
		snprintf(message, 256, "no memory for the verdict's outputs");
		return false;
	}
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const struct page page = {&files[i], &story, asked->name};

		if (!files[i].path ||
		    check_file_write(files[i].path, print_page, &page))
			continue;
		snprintf(message, 256, "%.180s: cannot be written: %s",
			 files[i].path, strerror(errno));
		good = false;
	}
	if (asked->annotations)
		check_print_annotations(asked->annotations, &story);
	story_release(&story);
	return good;
}

int check_conclude(FILE *out, const struct check_job *job)
{
	struct check_outputs asked = check_outputs_asked();
	int status = check_exit_status(job->verdict);
	char message[256];

	check_report(out, job->board, job->facts, job->verdict);
	if (job->facts->warning)
		fprintf(out, "lockstep: warning: %s\n", job->facts->warning);
	if (!check_write_outputs(&asked, job, message)) {
		fprintf(out, "lockstep: %s\n", message);
		if (status == 0)
			status = EXIT_USAGE;
	}
	fflush(out);
	return status;
}
