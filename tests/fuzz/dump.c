/*
 * dump.c - feeds what reads and judges dumps with mutated ones, for
 * FUZZ_SECONDS (60), from FUZZ_SEED on. Meant to be built with sanitizers;
 * prints the seed of a find, by which it runs again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/dump_fuzz.h"

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void)
{
	time_t end = time(NULL) + (time_t)number("FUZZ_SECONDS", 60);
	uint64_t first = (uint64_t)number("FUZZ_SEED", (long)getpid()), seed;
	int taken = 0;

	printf("fuzz: dumps from FUZZ_SEED=%llu\n", (unsigned long long)first);
	fflush(stdout);
	for (seed = first; taken >= 0 && time(NULL) < end; seed++)
		taken = dump_fuzz_job(seed);
	if (taken < 0)
		printf("fuzz: FUZZ_SEED=%llu: a good dump was refused\n",
		       (unsigned long long)seed - 1);
	printf("fuzz: dumps of %llu jobs\n",
	       (unsigned long long)(seed - first));
	return taken < 0;
}
