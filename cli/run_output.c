/* run_output.c - --log-dir, --redirects, --tee and --local-ranks-filter. */
#include "cli/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"

/* Reads torchrun's code for streams: "3" for all ranks, or "0:1,1:2" for some;
 * 0 none, 1 stdout, 2 stderr, 3 both. NULL: all none. */
static int parse_codes(const char *option, const char *text, int nproc,
		       const unsigned char **codes)
{
	static const char expected[] =
		"0 (none), 1 (stdout), 2 (stderr) or 3 (both), or such as "
		"0:1,1:2 by local rank";
	unsigned char *array;
	const char *next = text;
	uint64_t rank;
	int code;

	if (!text)
		return DIST_EXIT_OK;
	array = calloc((size_t)nproc, 1);
	*codes = array;
	if (!array)
		return DIST_EXIT_INTERNAL;
	if (strlen(text) == 1 && *text >= '0' && *text <= '3') {
		memset(array, *text - '0', (size_t)nproc);
		return DIST_EXIT_OK;
	}
	for (;;) {
		if (!dist__digits_step(&next, INT_MAX, &rank) || *next++ != ':')
			return run_refuse(option, text, expected);
		code = *next++ - '0';
		if (code < 0 || code > 3)
			return run_refuse(option, text, expected);
		if (rank < (uint64_t)nproc)
			array[rank] = (unsigned char)code;
		if (*next == '\0')
			return DIST_EXIT_OK;
		if (*next++ != ',')
			return run_refuse(option, text, expected);
	}
}

/* Reads "0,2": the local ranks whose output is shown. NULL or "": all. */
static int parse_filter(const char *text, int nproc, const bool **shown)
{
	const char *next = text;
	uint64_t rank;
	bool *array;

	if (!text || !*text)
		return DIST_EXIT_OK;
	array = calloc((size_t)nproc, sizeof *array);
	*shown = array;
	if (!array)
		return DIST_EXIT_INTERNAL;
	for (;;) {
		if (!dist__digits_step(&next, INT_MAX, &rank) ||
		    (*next && *next != ','))
			return run_refuse("--local-ranks-filter", text,
					  "local ranks such as 0,2");
		if (rank < (uint64_t)nproc)
			array[rank] = true;
		if (!*next++)
			return DIST_EXIT_OK;
	}
}

/* What is there must be a folder; what is not will be made. */
static int check_folder(const char *folder)
{
	struct stat info;

	if (!folder || stat(folder, &info) ||
	    (S_ISDIR(info.st_mode) && access(folder, W_OK) == 0))
		return DIST_EXIT_OK;
	return run_refuse("--log-dir", folder,
			  "a folder that can be written to");
}

int run_choose_output(const struct run_request *request, struct run_plan *plan)
{
	struct dist__output_spec *output = &plan->output;
	int status;

	if (plan->world->in_process)
		return DIST_EXIT_OK;
	output->prefix = request->prefix_output != 0;
	output->log_dir = request->log_dir;
	status = check_folder(output->log_dir);
	if (!status)
		status = parse_codes("--redirects", request->redirects,
				     plan->nproc, &output->redirects);
	if (!status)
		status = parse_codes("--tee", request->tee, plan->nproc,
				     &output->tee);
	if (!status)
		status = parse_filter(request->local_ranks_filter, plan->nproc,
				      &output->shown);
	return status;
}
