/* html.h - text and pictures within an HTML page. Private to cli/sweep/. */
#ifndef LOCKSTEP_CLI_SWEEP_HTML_H
#define LOCKSTEP_CLI_SWEEP_HTML_H

#include "base/output.h"

/* html_text writes text with HTML's special characters escaped. */
void html_text(struct dist__output *out, const char *text);

/* html_element writes text in an element: <name>text</name>. */
void html_element(struct dist__output *out, const char *name, const char *text);

/* html_picture writes an <img> that contains the SVG file at path; text is its
 * alt text. Errors: IO (message). */
DIST_MUST_CHECK enum dist_error html_picture(struct dist__output *out,
					     const char *path, const char *text,
					     struct dist_message *message);

#endif
