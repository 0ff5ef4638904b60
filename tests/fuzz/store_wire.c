/*
 * store_wire.c - feeds what reads a store's requests and a file store's records
 * with mutated ones, for FUZZ_SECONDS (60), from FUZZ_SEED on. Meant to be
 * built with sanitizers; prints the seed of a find, by which it runs again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/wire_fuzz.h"

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void)
{
	time_t end = time(NULL) + (time_t)number("FUZZ_SECONDS", 60);
	uint64_t first = (uint64_t)number("FUZZ_SEED", (long)getpid()), seed;
	char path[] = "/tmp/lockstep-fuzz-XXXXXX";
	const char *failure = NULL;
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	for (seed = first; !failure && time(NULL) < end; seed++) {
		failure = wire_fuzz_session(seed);
		if (!failure && seed % 4 == 0)
			failure = wire_fuzz_file(seed, path);
		if (failure)
			printf("fuzz: FUZZ_SEED=%llu: %s\n",
			       (unsigned long long)seed, failure);
	}
	unlink(path);
	printf("fuzz: store: %llu conversations\n",
	       (unsigned long long)(seed - first));
	return failure != NULL;
}
