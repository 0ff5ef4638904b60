/* The cases of the TCP transport without a test framework, for the thread
 * sanitizer. Exit status: how many failed. */
#include <stdio.h>
#include <string.h>

#include "tests/support/tcp_cases.h"

int main(int argc, char **argv)
{
	int failed = 0;

	for (const struct tcp_case *one = tcp_cases; one->name; one++) {
		if (argc > 1 && strcmp(argv[1], one->name) != 0)
			continue;
		if (tcp_case_run(one) != 0) {
			printf("FAIL %s\n", one->name);
			failed++;
		} else {
			printf("ok   %s\n", one->name);
		}
		fflush(stdout);
	}
	return failed;
}
