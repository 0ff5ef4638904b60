#define _GNU_SOURCE /* sched_getaffinity */
#include "realbackend/tcp/cores.h"

#include <sched.h>
#include <unistd.h>

int dist__cores(void)
{
	long online;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	/* More processors than the set has room for. */
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (int)online : 1;
}

void dist__cores_bind(int place)
{
	cpu_set_t all, one;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	place %= CPU_COUNT(&all);
	do
		cpu++;
	while (!CPU_ISSET(cpu, &all) || place-- > 0);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof one, &one);
}
