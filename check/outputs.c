#define _XOPEN_SOURCE 700 /* realpath */
#include "check/outputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "base/output.h"
#include "base/variable.h"
#include "base/terminal.h"
#include "check/verdict_document.h"
#include "lockstep/types.h"

struct check_outputs check_outputs_asked(void)
{
	const char *annotate = dist__variable("LOCKSTEP_ANNOTATE");

	return (struct check_outputs){
		.json = dist__variable("LOCKSTEP_JSON"),
		.junit = dist__variable("LOCKSTEP_JUNIT"),
		.sarif = dist__variable("LOCKSTEP_SARIF"),
		.annotations = annotate && strcmp(annotate, "github") == 0
				       ? stdout
				       : NULL,
		.name = dist__variable("LOCKSTEP_JOB"),
		.root = dist__variable("GITHUB_WORKSPACE")
				? dist__variable("GITHUB_WORKSPACE")
				: dist__variable("CI_PROJECT_DIR"),
	};
}

/* Stores the top of the checkout that the job runs in: that of asked, else the
 * first folder above ours that holds .git. False: there is none. */
static bool find_root(const struct check_outputs *asked, char root[PATH_MAX])
{
	char git[PATH_MAX + 8], *slash;

	if (asked->root)
		return realpath(asked->root, root) != NULL;
	if (!getcwd(root, PATH_MAX))
		return false;
	for (;;) {
		snprintf(git, sizeof git, "%s/.git", root);
		if (access(git, F_OK) == 0)
			return true;
		slash = strrchr(root, '/');
		if (!slash || slash == root)
			return false;
		*slash = '\0';
	}
}

/* ---- files ------------------------------------------------------------ */

static bool print_json(FILE *out, json_t *json)
{
	bool good = json &&
		    json_dumpf(json, out,
			       JSON_INDENT(2) | JSON_REAL_PRECISION(10)) == 0;

	json_decref(json);
	fputc('\n', out);
	return good;
}

static bool print_verdict(FILE *out, const void *document)
{
	return print_json(out, check_document_json(document));
}

static bool print_sarif(FILE *out, const void *document)
{
	return print_json(out, check_document_sarif(document));
}

static bool print_junit(FILE *out, const void *document)
{
	check_print_junit(out, document);
	return true;
}

static bool write_outputs(const struct check_outputs *asked,
			  const struct check_job *job,
			  const struct check_finding *finding,
			  char message[256])
{
	const struct {
		const char *path;
		bool (*print)(FILE *out, const void *document);
	} files[] = {{asked->json, print_verdict},
		     {asked->junit, print_junit},
		     {asked->sarif, print_sarif}};
	char root[PATH_MAX];
	const struct check_document document = {
		.job = job,
		.finding = finding,
		.name = asked->name ? asked->name : "job",
		.root = find_root(asked, root) ? root : NULL};
	bool good = true;

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct dist_message why;

		if (!files[i].path ||
		    !dist__output_write(files[i].path, files[i].print,
					&document, &why))
			continue;
		snprintf(message, 256, "%.255s", why.text);
		good = false;
	}
	if (asked->annotations)
		check_print_annotations(asked->annotations, &document);
	return good;
}

/* ---- the end of a job ---------------------------------------------------- */

/* The first rank that a bad verdict turns on; -1: none. */
static int first_culprit(const struct check_finding *finding)
{
	uint32_t rank = 0;

	if (!check_is_bad(&finding->verdict))
		return -1;
	while (rank < finding->picture.world_size &&
	       !check_is_culprit(finding, rank))
		rank++;
	return rank < finding->picture.world_size ? (int)rank : -1;
}

/* The first line says it all: in colour, where there is. */
static void print_report(FILE *out, const struct check_finding *finding)
{
	const char *text = finding->report.text;
	size_t first = strcspn(text, "\n");
	bool bad = check_is_bad(&finding->verdict);

	fprintf(out, "%s%.*s%s%s",
		dist__terminal_style(out, bad ? TERMINAL_RED : TERMINAL_BOLD),
		(int)first, text, dist__terminal_style(out, TERMINAL_PLAIN),
		text + first);
}

static bool conclude(FILE *out, const struct check_job *job, int *culprit,
		     char message[256])
{
	const struct check_outputs asked =
		job->outputs ? *job->outputs : check_outputs_asked();
	const struct check_lines *warnings;
	struct check_facts facts = *job->facts;
	struct check_finding finding;
	bool good;

	facts.wants_calls = dist__variable("LOCKSTEP_CHECK") != NULL;
	if (!check_finding_init(&finding, job->board, &facts, job->verdict)) {
		snprintf(message, 256,
			 "no memory for the report of a verdict: %s",
			 check_verdict_name(job->verdict->kind));
		return false;
	}
	if (culprit)
		*culprit = first_culprit(&finding);
	print_report(out, &finding);
	warnings = &finding.warnings;
	for (size_t i = 0; i < warnings->num; i++)
		fprintf(out, "lockstep: warning: %.*s\n",
			(int)(warnings->all[i].end - warnings->all[i].start),
			warnings->text + warnings->all[i].start);
	good = write_outputs(&asked, job, &finding, message);
	check_finding_release(&finding);
	return good;
}

int check_conclude(FILE *out, const struct check_job *job, int *culprit)
{
	int status = check_exit_status(job->verdict);
	char message[256];
	sigset_t before;

	/* Where out is a file, too, a limit on files fails a write. */
	dist__file_hold(&before);
	if (culprit)
		*culprit = -1;
	if (!conclude(out, job, culprit, message)) {
		fprintf(out, "lockstep: %s\n", message);
		if (status == 0)
			status = DIST_EXIT_USAGE;
	}
	fflush(out);
	dist__file_release(&before);
	return status;
}
