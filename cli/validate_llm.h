/* validate_llm.h - measured steps of language models, as lockstep validate
 * --llm shows them. */
#ifndef LOCKSTEP_CLI_VALIDATE_LLM_H
#define LOCKSTEP_CLI_VALIDATE_LLM_H

#include <stddef.h>

#include "cli/table_option.h"

struct validate_llm_request {
	const char *const *names; /* sources; num 0: all */
	size_t num;
	bool blind;       /* also with constants fitted without each source */
	bool refit;       /* with constants fitted now, and printed */
	bool plan;        /* also search where a best layout is published */
	double max_error; /* of the median of dense rows; INFINITY: none */
	const struct table_options *form;
	const char *plot; /* NULL: none */
};

/* validate_llm returns an exit status, after a line on stderr when it is not OK
 * or FAILED. */
int validate_llm(const struct validate_llm_request *request);

#endif
