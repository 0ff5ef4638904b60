/*
 * verdict_document.h - a job's end in machine-readable forms. Private to
 * check/.
 */
#ifndef LOCKSTEP_CHECK_VERDICT_DOCUMENT_H
#define LOCKSTEP_CHECK_VERDICT_DOCUMENT_H

#include <jansson.h>

#include "check/finding.h"
#include "check/outputs.h"

struct check_document {
	const struct check_job *job;
	const struct check_finding *finding;
	const char *root; /* top of the checkout, "/src/x"; NULL: not known */
	const char *name; /* of the program, for JUnit */
};

/* check_document_json and check_document_sarif return the document; NULL: no
 * memory. The caller frees it. */
json_t *check_document_json(const struct check_document *document);
json_t *check_document_sarif(const struct check_document *document);

/* check_print_junit and check_print_annotations print the document. */
void check_print_junit(FILE *out, const struct check_document *document);
void check_print_annotations(FILE *out, const struct check_document *document);

#endif
