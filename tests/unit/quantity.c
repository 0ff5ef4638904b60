/* Numbers with and without units, as people write them. */
#include "base/quantity.h"

#include <criterion/criterion.h>

Test(quantity, sizes_have_units)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"8", 8},          {"0", 0},          {"64K", 65536},
		    {"64KiB", 65536},  {"64KB", 64000},   {"1m", 1048576},
		    {"4MiB", 4194304}, {"1.5M", 1572864}, {"2G", 2147483648}};
	static const char *const bad[] = {"",    "-1",  "K",   " 8",
					  "0x8", "8 K", "8Q",  "1.5",
					  "inf", "nan", "8K8", "99999999999G"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		cr_expect(dist__size_read(good[i].text, &bytes) &&
				  bytes == good[i].bytes,
			  "%s", good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(dist__size_read(bad[i], &bytes), "%s", bad[i]);
}

Test(quantity, rates_are_of_bits_or_of_bytes)
{
	static const char *const same[] = {"400G",   "400Gbps", "400Gbit/s",
					   "50GB/s", "50GBps",  "0.4Tbit/s"};
	double Bps;

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		cr_expect(dist__bandwidth_read(same[i], &Bps), "%s", same[i]);
		cr_expect_float_eq(Bps, 50e9, 1, "%s: %g", same[i], Bps);
	}
	cr_expect_not(dist__bandwidth_read("400", &Bps));
	cr_expect_not(dist__bandwidth_read("400Gb", &Bps));
}

Test(quantity, counts_are_whole_and_within_bounds)
{
	int64_t n = 7;

	cr_expect(dist__count_read("12", 1, 12, &n) && n == 12);
	cr_expect(dist__count_read("-3", -3, 0, &n) && n == -3);
	cr_expect_not(dist__count_read("13", 1, 12, &n));
	cr_expect_not(dist__count_read("1.0", 1, 12, &n));
	cr_expect_not(dist__count_read("0x2", 1, 12, &n));
	cr_expect_not(dist__count_read(" 2", 1, 12, &n));
	cr_expect_not(dist__count_read("", 0, 12, &n));
	cr_expect_not(
		dist__count_read("99999999999999999999", 0, INT64_MAX, &n));
	cr_expect_eq(n, -3);
}

Test(quantity, seconds_and_per_cent)
{
	double fraction;
	int64_t ns;

	cr_expect(dist__seconds_read("1.5", &ns) && ns == 1500000000);
	cr_expect(dist__seconds_read("1.5s", &ns) && ns == 1500000000);
	cr_expect(dist__seconds_read("20ms", &ns) && ns == 20000000);
	cr_expect_not(dist__seconds_read("-1", &ns));
	cr_expect_not(dist__seconds_read("2e9", &ns));
	cr_expect(dist__percent_read("10%", &fraction) && fraction == 0.1);
	cr_expect(dist__percent_read("10", &fraction) && fraction == 0.1);
	cr_expect_not(dist__percent_read("-10", &fraction));
	cr_expect_not(dist__percent_read("10%%", &fraction));
}

Test(quantity, digits_are_stepped_over)
{
	const char *text = "12.1x", *at = text;
	uint64_t n;

	cr_expect(dist__digits_step(&at, 12, &n) && n == 12 && at == text + 2);
	cr_expect_not(dist__digits_step(&at, 12, &n) || at != text + 2);
	at++;
	cr_expect(dist__digits_step(&at, UINT64_MAX, &n) && n == 1);
	cr_expect_str_eq(at, "x");
	at = text;
	cr_expect_not(dist__digits_step(&at, 11, &n));
	at = "-1";
	cr_expect_not(dist__digits_step(&at, 12, &n));
	at = "99999999999999999999";
	cr_expect_not(dist__digits_step(&at, UINT64_MAX, &n));
}
