/* The cases of remote calls that end well, over TCP under the thread sanitizer:
 * 0 when each does. Their names as arguments: those alone. */
#include <stdio.h>
#include <string.h>

#include "tests/rpc/bed.h"

static bool is_wanted(const struct rpc_case *c, char **names)
{
	if (c->status || c->text)
		return false;
	if (!*names)
		return true;
	while (*names && strcmp(*names, c->name) != 0)
		names++;
	return *names != NULL;
}

/* Runs what is wanted of cases, and returns how many went wrong. */
static int run(const struct rpc_case *cases, char **names)
{
	int wrong = 0;

	for (const struct rpc_case *c = cases; c->name; c++) {
		int status;

		if (!is_wanted(c, names))
			continue;
		status = bed_launch(c, "tcp");
		printf("%s %s\n", status ? "FAIL" : "ok  ", c->name);
		fflush(stdout);
		wrong += status != 0;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	const struct rpc_case *const all[] = {rpc_call_cases, rpc_future_cases,
					      rpc_rref_cases, rpc_life_cases,
					      rpc_error_cases};
	int wrong = 0;

	(void)argc;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		wrong += run(all[i], argv + 1);
	return wrong != 0;
}
