/* quantity.c - numbers with and without units. */
#include "base/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The slowest link is 1 kbit/s and the fastest 1 Pbit/s, the longest latency
 * 10 s: the rest are slips of the pen. */
#define LEAST_BPS 125.0
#define MOST_BPS  125e12
#define MOST_S    10.0

/* Less than that our own calls may need; more is no stack. */
#define LEAST_STACK 65536
#define MOST_STACK  1073741824
#define PAGE        4096

static const struct dist__unit bandwidths[] = {
	{"K", 125},        {"M", 125e3},      {"G", 125e6},
	{"T", 125e9},      {"Kbps", 125},     {"Mbps", 125e3},
	{"Gbps", 125e6},   {"Tbps", 125e9},   {"Kbit/s", 125},
	{"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9},
	{"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
	{"MBps", 1e6},     {"GBps", 1e9},     {"TBps", 1e12},
	{NULL, 0},
};

static const struct dist__unit times[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}};

static const struct dist__unit sizes[] = {
	{"", 1},     {"B", 1},       {"KiB", 1024},     {"MiB", 1048576},
	{"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {"GiB", 1073741824},
	{"k", 1024}, {"m", 1048576}, {"g", 1073741824}, {"KB", 1e3},
	{"MB", 1e6}, {"GB", 1e9},    {NULL, 0}};

static const struct dist__unit seconds_of[] = {
	{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {NULL, 0}};

bool dist__quantity_read(const char *text, const struct dist__unit *units,
			 double *value)
{
	char *end;

	/* No space, no infinity, nothing hexadecimal. */
	if (!strchr("+-.0123456789", text[0]) || strpbrk(text, "xX"))
		return false;
	errno = 0;
	*value = strtod(text, &end);
	if (errno || end == text || !isfinite(*value))
		return false;
	for (; units->name; units++)
		if (strcmp(end, units->name) == 0) {
			*value *= units->factor;
			return true;
		}
	return false;
}

bool dist__count_read(const char *text, int64_t least, int64_t most,
		      int64_t *count)
{
	char *end;
	long long value;

	if (!strchr("+-0123456789", text[0]))
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		return false;
	*count = value;
	return true;
}

bool dist__digits_step(const char **text, uint64_t most, uint64_t *number)
{
	const char *at = *text;
	char *end;

	if (*at < '0' || *at > '9')
		return false;
	errno = 0;
	*number = strtoull(at, &end, 10);
	*text = end;
	return !errno && *number <= most;
}

bool dist__number_read(const char *text, double *number)
{
	static const struct dist__unit none[] = {{"", 1}, {NULL, 0}};

	return dist__quantity_read(text, none, number);
}

bool dist__percent_read(const char *text, double *fraction)
{
	static const struct dist__unit percent[] = {
		{"", 1}, {"%", 1}, {NULL, 0}};

	if (!dist__quantity_read(text, percent, fraction) || !(*fraction >= 0))
		return false;
	*fraction /= 100;
	return true;
}

bool dist__seconds_read(const char *text, int64_t *ns)
{
	double seconds;

	/* 64 bits of nanoseconds hold that well. */
	if (!dist__quantity_read(text, seconds_of, &seconds) ||
	    !(seconds >= 0) || seconds > 1e9)
		return false;
	*ns = (int64_t)(seconds * 1e9);
	return true;
}

bool dist__size_read(const char *text, uint64_t *bytes)
{
	double size;

	if (!dist__quantity_read(text, sizes, &size) || !(size >= 0) ||
	    size > (double)(INT64_MAX >> 2) || size != floor(size))
		return false;
	*bytes = (uint64_t)size;
	return true;
}

bool dist__bandwidth_read(const char *text, double *Bps)
{
	return dist__quantity_read(text, bandwidths, Bps) &&
	       *Bps >= LEAST_BPS && *Bps <= MOST_BPS;
}

bool dist__latency_read(const char *text, double *seconds)
{
	return dist__quantity_read(text, times, seconds) && *seconds > 0 &&
	       *seconds <= MOST_S;
}

bool dist__stack_read(const char *text, uint64_t *bytes)
{
	double size;

	if (!dist__quantity_read(text, sizes, &size) ||
	    !(size >= LEAST_STACK) || !(size <= MOST_STACK))
		return false;
	*bytes = ((uint64_t)size + PAGE - 1) / PAGE * PAGE;
	return true;
}

void dist__time_text(char *text, size_t text_size, double ns)
{
	double size = fabs(ns);

	if (size < 999.95)
		snprintf(text, text_size, "%.4g ns", ns);
	else if (size < 999.95e3)
		snprintf(text, text_size, "%.4g us", ns / 1e3);
	else if (size < 999.95e6)
		snprintf(text, text_size, "%.4g ms", ns / 1e6);
	else
		snprintf(text, text_size, "%.4g s", ns / 1e9);
}

void dist__size_text(char *text, size_t text_size, int64_t bytes)
{
	double size = (double)bytes;

	if (bytes < 1000)
		snprintf(text, text_size, "%lld B", (long long)bytes);
	else if (size < 999.5e3)
		snprintf(text, text_size, "%.3g kB", size / 1e3);
	else if (size < 999.5e6)
		snprintf(text, text_size, "%.3g MB", size / 1e6);
	else
		snprintf(text, text_size, "%.3g GB", size / 1e9);
}
