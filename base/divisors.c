/* divisors.c - finds divisors by trial division. */
#include "base/divisors.h"

#include "base/text.h"

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
	int listed = 0;

	text[0] = '\0';
	for (int64_t i = 1; i <= number && i <= TRIED; i++) {
		if (number % i != 0)
			continue;
		if (listed++ == LISTED) {
			(void)dist__append(text, size, ", ...");
			return;
		}
		(void)dist__append(text, size, "%s%lld", i == 1 ? "" : ", ",
				   (long long)i);
	}
}
