#include "core/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The slowest link is 1 kbit/s and the fastest 1 Pbit/s, the longest latency
 * 10 s: the rest are slips of the pen. */
#define LEAST_BPS 125.0
#define MOST_BPS  125e12
#define MOST_S    10.0

struct unit {
	const char *name;
	double factor;
};

static const struct unit bandwidths[] = {
	{"K", 125},    {"M", 125e3},    {"G", 125e6},    {"T", 125e9},
	{"Kbps", 125}, {"Mbps", 125e3}, {"Gbps", 125e6}, {"Tbps", 125e9},
	{"MB/s", 1e6}, {"GB/s", 1e9},   {"TB/s", 1e12},  {"MBps", 1e6},
	{"GBps", 1e9}, {"TBps", 1e12},  {NULL, 0},
};

static const struct unit times[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}};

/* Reads a number with one of the units; nothing else may stand there. */
static bool read_quantity(const char *text, const struct unit *units,
			  double *value)
{
	char *end;

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

bool dist__bandwidth_read(const char *text, double *Bps)
{
	return read_quantity(text, bandwidths, Bps) && *Bps >= LEAST_BPS &&
	       *Bps <= MOST_BPS;
}

bool dist__latency_read(const char *text, double *seconds)
{
	return read_quantity(text, times, seconds) && *seconds > 0 &&
	       *seconds <= MOST_S;
}
