/*
 * story.h - a job's end put together for the outputs. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_STORY_H
#define LOCKSTEP_CHECK_STORY_H

#include <jansson.h>

#include "check/finding.h"
#include "check/outputs.h"

struct check_story {
	const struct check_job *job;
	struct check_finding finding; /* empty without records */
	char *text;                   /* the whole report; "" */
	char summary[256];            /* its first line, without our name */
};

/* check_story_json and check_story_sarif return the document; NULL: no memory.
 * The caller frees it. */
json_t *check_story_json(const struct check_story *story);
json_t *check_story_sarif(const struct check_story *story);

/* check_print_junit and check_print_annotations write theirs. */
void check_print_junit(FILE *out, const struct check_story *story,
		       const char *name);
void check_print_annotations(FILE *out, const struct check_story *story);

/* check_print_xml writes text so that it may stand in an element or attribute
 * of XML 1.0. What XML cannot hold becomes a question mark. */
void check_print_xml(FILE *out, const char *text);

#endif
