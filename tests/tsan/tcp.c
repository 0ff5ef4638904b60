/* The cases of the TCP transport without a test framework, for the thread
 * sanitizer. Exit status: how many failed. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/tcp_cases.h"

static int run_case(const struct tcp_case *one)
{
	int failed = 0;

	for (const char *const *intra = tcp_intras; *intra; intra++) {
		bool good = tcp_case_run(one, *intra) == 0;

		printf("%s %s over %s\n", good ? "ok  " : "FAIL", one->name,
		       *intra);
		fflush(stdout);
		failed += !good;
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (const struct tcp_case *one = tcp_cases; one->name; one++) {
		if (argc > 1 && strcmp(argv[1], one->name) != 0)
			continue;
		failed += run_case(one);
	}
	return failed;
}
