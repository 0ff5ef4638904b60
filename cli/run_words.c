/* run_words.c - what commands that run programs say of their words. */
#include "cli/run.h"

#include "base/quantity.h"
#include "cli/refuse.h"

const char *run_command = "run";

int run_refuse(const char *option, const char *value, const char *expected)
{
	return refuse(run_command, "%s: %s, not \"%s\"", option, expected,
		      value);
}

bool run_number(const char *text, long min, long max, int *number)
{
	int64_t n;

	if (!dist__count_read(text, min, max, &n))
		return false;
	*number = (int)n;
	return true;
}
