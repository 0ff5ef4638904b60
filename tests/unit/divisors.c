/* What divides a number, in words. */
#include <criterion/criterion.h>

#include "base/divisors.h"

Test(divisors, common_ones)
{
	cr_expect_eq(dist__divisors_common(12, 8), 4);
	cr_expect_eq(dist__divisors_common(7, 8), 1);
	cr_expect_eq(dist__divisors_common(0, 6), 6);
	cr_expect_eq(dist__divisors_common(6, 0), 6);
}

Test(divisors, text)
{
	char text[64], small[8];

	dist__divisors_text(text, sizeof text, 12);
	cr_expect_str_eq(text, "1, 2, 3, 4, 6, 12");
	dist__divisors_text(text, sizeof text, 1);
	cr_expect_str_eq(text, "1");
	dist__divisors_text(text, sizeof text, 0);
	cr_expect_str_eq(text, "");
	/* Sixteen of the thirty-two that there are. */
	dist__divisors_text(text, sizeof text, 840);
	cr_expect_str_eq(text, "1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 20, "
			       "21, 24, 28, ...");
	dist__divisors_text(small, sizeof small, 840);
	cr_expect_str_eq(small, "1, 2, 3");
}
