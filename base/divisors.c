/* divisors.c - finds divisors by trying. */
#include "base/divisors.h"

#include <stdio.h>

#define LISTED 16 /* that a message shows */
#define TRIED  (1 << 20)

int64_t dist__divisors_common(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void dist__divisors_text(char *text, size_t size, int64_t number)
{
	size_t used = 0;
	int listed = 0;

	text[0] = '\0';
	for (int64_t i = 1; i <= number && i <= TRIED && used < size; i++) {
		if (number % i != 0)
			continue;
		if (listed++ == LISTED) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%lld",
					 i == 1 ? "" : ", ", (long long)i);
	}
}
